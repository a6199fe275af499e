"""Which class an optimizer is of: its own, or one that adds what only some versions of Keras have."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import Any, TypeVar

C = TypeVar("C", bound=type)
_PARTS: dict[str, type] = {}  # a version, and the class of what it adds


def adds_to(version: str) -> Callable[[C], C]:
    """Decorate the class of what a version adds."""

    def registered(part: C) -> C:
        _PARTS[version] = part
        return part

    return registered


def plain(cls: type) -> type:
    """The class that the user named, without what a version adds.

    >>> from gradlab.keras import SGD
    >>> plain(type(SGD(semantics="keras3"))) is SGD
    True
    """
    return plain(cls.__bases__[1]) if cls.__bases__[0] in _PARTS.values() and len(cls.__bases__) == 2 else cls


def class_for(cls: type, version: str) -> Any:
    """The class of optimizers of a version; a subclass of your own gets one, too.

    Raises TypeError for a subclass of what another version adds.

    >>> from gradlab.keras import SGD
    >>> [class_for(SGD, version).__qualname__ for version in ("legacy", "keras3")]
    ['SGD', 'SGDKeras3']
    """
    part, own = _PARTS.get(version), plain(cls)
    if part is not None and issubclass(own, part):
        return own
    if other := next((name for name, p in _PARTS.items() if issubclass(own, p)), None):
        raise TypeError(f"{cls.__name__} is an optimizer of {other}: give semantics={other!r}, got {version!r}")
    if part is None:
        return own
    subclasses: list[type] = type.__subclasses__(own)
    for made in subclasses:
        if made.__bases__ == (part, own):
            return made
    return new_class(own.__name__, (part, own), exec_body=lambda d: d.update(__doc__=own.__doc__))


def unpickled(cls: type, version: str) -> Any:
    """An optimizer without its state: a class that was made here has no name that a pickle could find it by."""
    return object.__new__(class_for(cls, version))
