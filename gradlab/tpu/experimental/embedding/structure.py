"""Nested dicts, lists and tuples: features in any arrangement, and results in the same one.

Entries of a dict come in the order of their sorted keys, whatever order they were written in, as
in TensorFlow: tables and learning rates are numbered by that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Path = tuple[Any, ...]


def leaves(structure: Any) -> list[tuple[str, Any]]:
    """Return the leaves, each with its keys joined by '/'.

    >>> leaves({"b": [1, 2], "a": 3})
    [('a', 3), ('b/0', 1), ('b/1', 2)]
    """
    return [("/".join(map(str, path)), leaf) for path, leaf in _walk(structure, ())]


def leaves_like(structure: Any, given: Any, what: str) -> list[Any]:
    """Return the parts of `given` at the leaves of `structure`; they may be nested themselves.

    Raises:
        TypeError: another kind of container. Names the place.
        ValueError: other keys, or another length.

    >>> leaves_like({"b": 0, "a": 0}, {"a": [[1], [2, 3]], "b": [4]}, "features")
    [[[1], [2, 3]], [4]]
    """
    return [leaf for _, leaf in _walk_like(structure, given, what, ())]


def packed_like(structure: Any, flat: Sequence[Any]) -> Any:
    """Return the entries of `flat` arranged like `structure`; the inverse of `leaves_like`.

    >>> packed_like({"b": 0, "a": (0,)}, [1, 2])
    {'b': 2, 'a': (1,)}
    """
    entries = iter(flat)
    return _packed(structure, entries)


def leaves_by_path(structure: Any, given: Any, what: str) -> dict[str, Any]:
    """Return the parts of `given` at the leaves of `structure`, by path; dicts may lack keys, sequences their end.

    Raises:
        ValueError: another kind of container, or a key that the structure does not have. It names
            the place.

    >>> leaves_by_path({"a": 0, "b": [0, 0]}, {"b": [[1], 2]}, "inputs")
    {'b/0': [1], 'b/1': 2}
    """
    return {
        "/".join(map(str, path)): leaf
        for path, leaf in _walk_like(structure, given, what, (), some=True)
    }


def packed_by_path(structure: Any, given: Any, found: Mapping[str, Any]) -> Any:
    """Arrange the results like `given`, whose leaves `leaves_by_path` returned."""
    return _replaced(structure, given, (), found)


def _children(node: Any) -> list[tuple[Any, Any]] | None:
    """Return the entries of a container by key, None for anything else."""
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


def _walk_like(
    node: Any, given: Any, what: str, path: Path, some: bool = False
) -> Iterator[tuple[Path, Any]]:
    children = _children(node)
    if children is None:
        yield path, given
        return
    place = f"{what} at {'/'.join(map(str, path))!r}" if path else what
    if _kind(node) is not _kind(given):
        raise (ValueError if some else TypeError)(
            "The two structures don't have the same nested structure. "
            f"{place} must be a {type(node).__name__} like the features, got {type(given).__name__}"
        )
    found, wanted = dict(_children(given) or ()), dict(children)
    missing = set() if some else wanted.keys() - found.keys()
    if missing or found.keys() - wanted.keys():
        told = f"{place} must have the entries {list(wanted)} like the features, got {list(found)}"
        raise ValueError(f"Inputs are not a subset of feature_config: {told}" if some else told)
    for key in found:
        yield from _walk_like(wanted[key], found[key], what, (*path, key), some)


def _replaced(node: Any, given: Any, path: Path, found: Mapping[str, Any]) -> Any:
    if _children(node) is None:
        return found["/".join(map(str, path))]
    wanted = dict(_children(node) or ())
    made = {
        key: _replaced(wanted[key], x, (*path, key), found) for key, x in _children(given) or ()
    }
    return _made(given, made)


def _kind(node: Any) -> type | None:
    return next((kind for kind in (Mapping, list, tuple) if isinstance(node, kind)), None)


def _packed(node: Any, entries: Iterator[Any]) -> Any:
    children = _children(node)
    if children is None:
        return next(entries)
    return _made(node, {key: _packed(child, entries) for key, child in children})


def _made(like: Any, entries: dict[Any, Any]) -> Any:
    """Return a container of the same kind, and in the same order, with other entries."""
    if isinstance(like, Mapping):
        return type(like)((key, entries[key]) for key in like)  # type: ignore[call-arg]
    return (
        type(like)(*entries.values()) if hasattr(like, "_fields") else type(like)(entries.values())
    )
