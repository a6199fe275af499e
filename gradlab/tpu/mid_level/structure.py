"""Nested dicts, lists and tuples: features in any arrangement, and results in the same one.

Entries of a dict come in the order of their sorted keys, whatever order they were written in, as in TensorFlow: tables
and learning rates are numbered by that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Path = tuple[Any, ...]


def leaves(structure: Any) -> list[tuple[str, Any]]:
    """What stands at the ends, each with its keys joined by '/'.

    >>> leaves({"b": [1, 2], "a": 3})
    [('a', 3), ('b/0', 1), ('b/1', 2)]
    """
    return [("/".join(map(str, path)), leaf) for path, leaf in _walk(structure, ())]


def leaves_like(structure: Any, given: Any, what: str) -> list[Any]:
    """What `given` has where `structure` ends; that may be nested itself.

    Raises:
        TypeError: another kind of container. Names the place.
        ValueError: other keys, or another length.

    >>> leaves_like({"b": 0, "a": 0}, {"a": [[1], [2, 3]], "b": [4]}, "features")
    [[[1], [2, 3]], [4]]
    """
    return list(_walk_like(structure, given, what, ()))


def packed_like(structure: Any, flat: Sequence[Any]) -> Any:
    """The entries of `flat` arranged like `structure`; the inverse of `leaves_like`.

    >>> packed_like({"b": 0, "a": (0,)}, [1, 2])
    {'b': 2, 'a': (1,)}
    """
    entries = iter(flat)
    return _packed(structure, entries)


def _children(node: Any) -> list[tuple[Any, Any]] | None:
    """The entries of a container by key, None for anything else."""
    if isinstance(node, Mapping):
        return [(key, node[key]) for key in sorted(node)]
    if isinstance(node, list | tuple):
        return list(zip(getattr(node, "_fields", range(len(node))), node, strict=True))
    return None


def _walk(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    children = _children(node)
    if children is None:
        yield path, node
    for key, child in children or ():
        yield from _walk(child, (*path, key))


def _walk_like(node: Any, given: Any, what: str, path: Path) -> Iterator[Any]:
    children = _children(node)
    if children is None:
        yield given
        return
    place = f"{what} at {'/'.join(map(str, path))!r}" if path else what
    if _kind(node) is not _kind(given):
        raise TypeError(f"{place} must be a {type(node).__name__} like the features, got {type(given).__name__}")
    found = dict(_children(given) or ())
    if found.keys() != dict(children).keys():
        wanted = list(dict(children))
        raise ValueError(f"{place} must have the entries {wanted} like the features, got {list(found)}")
    for key, child in children:
        yield from _walk_like(child, found[key], what, (*path, key))


def _kind(node: Any) -> type | None:
    return next((kind for kind in (Mapping, list, tuple) if isinstance(node, kind)), None)


def _packed(node: Any, entries: Iterator[Any]) -> Any:
    children = _children(node)
    if children is None:
        return next(entries)
    made = {key: _packed(child, entries) for key, child in children}
    if isinstance(node, Mapping):
        return type(node)((key, made[key]) for key in node)  # type: ignore[call-arg]
    return type(node)(*made.values()) if hasattr(node, "_fields") else type(node)(made.values())
