"""`gl.save` and `gl.load`: all that a run needs to go on as if it had not stopped, in one file, without pickle.

A file is an .npz that `np.load` reads too. Its head is a tree: dictionaries, lists, plain values,
and the names of the arrays that stand in their places.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from .._base.archive import MAX_BYTES, Archive, ArchiveWriter
from .._base.arrays import is_jax
from .._base.checked_files import report_damage
from .._base.suggest import did_you_mean
from ..errors import InvalidArgumentError
from .state_dict import Commit, lock_variables, prepare_assign, read_array
from .variable import Variable

_KIND, _VERSION = "training state", 1
_PLAIN = (bool, int, float, str, type(None))
Arrays = dict[str, np.ndarray]
Where = tuple[str, ...]  # keys and positions, from the name under which a thing is saved


def save(path: str | os.PathLike[str], /, **things: Any) -> None:
    """Save what a run needs to go on as if it had not stopped.

    Args:
        path: of the file, an .npz; it is there whole or not at all, and an older one stays until
            the new one is done.
        things: by names of your own: Variables, optimizers (slots, step counts, hyperparameters
            that are Variables), recorders, and lists, tuples and dictionaries of these; arrays and
            plain values; schedules and rules, which are only compared when they are loaded; and
            whatever else has `state_dict` and `load_state_dict`.

    An optimizer knows its slots by the places of their variables, so save both in one file. The
    global step is a Variable like others. All is read at one instant between steps, though other
    threads go on.

    Raises: TypeError for what cannot be saved. ValueError: an optimizer has stepped a variable that
    is not saved.
    OSError: the file cannot be written. Not in TensorFlow, where `tf.train.Checkpoint` does this.
    For tables of TPU embeddings alone, on a mesh, there is `gl.tpu.save`.

    >>> import gradlab as gl, os, tempfile
    >>> def fresh():
    ...     return [gl.Variable([1.0, 2.0]), gl.Variable(0.5)], gl.train.AdamOptimizer(0.1)
    >>> def train(weights, opt, steps):
    ...     for _ in range(steps):
    ...         opt.minimize(lambda: sum((v * v).sum() for v in weights))
    >>> weights, opt = fresh()
    >>> train(weights, opt, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.npz")
    ...     gl.save(path, weights=weights, opt=opt, epoch=3)
    ...     train(weights, opt, 2)
    ...     later, its_opt = fresh()  # in another process, say
    ...     gl.load(path, weights=later, opt=its_opt)
    {'epoch': 3}
    >>> train(later, its_opt, 2)
    >>> [bool((v.value == w.value).all()) for v, w in zip(weights, later)]
    [True, True]
    """
    if not things:
        raise TypeError(
            "nothing to save: give variables, optimizers and values by names, gl.save(path, "
            "weights=[w])"
        )
    found = _variables(things)
    arrays: Arrays = {}
    with lock_variables(found.values()):
        tree = {name: _make_node(x, (name,), found, arrays) for name, x in things.items()}
    with ArchiveWriter(path, _KIND, _VERSION, {"things": _list_items(tree)}) as file:
        for name, x in arrays.items():
            file.array(name, x)


def load(
    path: str | os.PathLike[str], /, *, max_bytes: int | None = MAX_BYTES, **things: Any
) -> dict[str, Any]:
    """Restore what `gl.save` wrote into the objects given; or, given none, return all of it as arrays and values.

    Args:
        path: of the file.
        max_bytes: what its arrays may take in memory; None for any size.
        things: by the names they were saved under, objects made as those were: the same structure,
            shapes and dtypes. Optimizers may be new. Arrays go to the library and the devices of
            the Variable they are for.

    Returns:
        by name what was saved of plain values and arrays, for which no object is given. Arrays are
        NumPy's.

    Nothing changes unless everything fits. Raises DataLossError: the file is damaged, or another
    one. ValueError: something saved is missing here or the reverse, or differs in structure, shape
    or dtype. TypeError: nothing can be restored into it. Numbers given to a constructor may differ:
    that is a `gl.errors.StateWarning`, and the new count. Not in TensorFlow, whose
    `tf.train.Checkpoint.restore` also takes a part, or waits for variables to come.

    >>> import gradlab as gl, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.npz")
    ...     gl.save(path, weights={"w": gl.Variable([1.0, 2.0])}, rate=0.5)
    ...     gl.load(path)
    {'weights': {'w': array([1., 2.], dtype=float32)}, 'rate': 0.5}
    """
    with Archive(path, _KIND, (_VERSION,), max_bytes=max_bytes) as file, report_damage(path, _KIND):
        arrays = file.arrays()
        tree = {name: _check_node(node, arrays) for name, node in file.head["things"]}
    if not things:
        return {name: _read_node(node, arrays) for name, node in tree.items()}
    _check_names(things, tree)
    found = _variables(things)
    _check_order(found, tree)
    with lock_variables(found.values()):
        loader = _Loader(found, arrays)
        for name, x in things.items():
            loader.match(x, tree[name], (name,))
        loader.finish()
    return {name: _read_node(node, arrays) for name, node in tree.items() if name not in things}


def _variables(things: Mapping[str, Any]) -> dict[str, Variable]:
    """Return all Variables by the names of their places."""
    return {_name_array(where): x for where, x in _walk(things, ()) if isinstance(x, Variable)}


def _walk(x: Any, where: Where) -> Iterator[tuple[Where, Any]]:
    """Yield everything that isn't a container, and its place."""
    if isinstance(x, Mapping):
        for key, value in x.items():
            yield from _walk(value, (*where, str(key)))
    elif isinstance(x, list | tuple):
        for k, value in enumerate(x):
            yield from _walk(value, (*where, str(k)))
    else:
        yield where, x


def _name_array(where: Where) -> str:
    """Return the name of the array at a place; no other place has it."""
    return "/".join(quote(part, safe=" :[]()") for part in where)


def _list_items(nodes: Mapping[str, Any]) -> list[list[Any]]:
    """Return the items of a dictionary as a list, because JSON forgets their order."""
    return [[name, node] for name, node in nodes.items()]


def _make_node(
    x: Any, where: Where, found: Mapping[str, Variable], arrays: Arrays
) -> dict[str, Any]:
    """Return what the head of a file says of a thing: its kind as a key, beside its class or name."""

    def inner(x: Any, *more: str) -> dict[str, Any]:
        return _make_node(x, (*where, *more), found, arrays)

    if isinstance(x, Variable):
        return {"variable": _add_array(read_array(x), where, arrays), "name": x.name}
    if isinstance(x, Mapping):
        for key in x:
            if not isinstance(key, str):
                raise TypeError(
                    "keys of a dictionary that is saved must be words; "
                    f"{_format_place(where)} has {key!r}"
                )
        return {"dict": _list_items({key: inner(value, key) for key, value in x.items()})}
    if isinstance(x, list | tuple):
        kind = "list" if type(x) is list else "tuple"  # a named tuple comes back as a plain one
        return {kind: [inner(value, str(k)) for k, value in enumerate(x)]}
    if isinstance(x, np.ndarray | np.generic) or is_jax(x):
        return {"array": _add_array(_copy_plain_array(x, where), where, arrays)}
    if isinstance(x, _PLAIN):
        return {"value": x}
    return _make_object_node(x, where, found, inner)


def _make_object_node(
    x: Any, where: Where, found: Mapping[str, Variable], inner: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """Return the node of an object with a state or a config."""
    kind = type(x).__name__
    if isinstance(x, type):
        raise TypeError(f"{_format_place(where)} is the class {x.__name__}; save an object of it")
    if hasattr(x, "_loading"):
        try:
            return {"state": inner(x._to_save(found)), "class": kind}
        except ValueError as error:
            raise InvalidArgumentError(
                f"{_format_place(where)}: {error}; nothing was saved"
            ) from error
    if hasattr(x, "state_dict") and hasattr(x, "load_state_dict"):
        return {"state": inner(x.state_dict()), "class": kind}
    if hasattr(x, "get_config"):
        return {"config": inner(x.get_config()), "class": kind}
    raise TypeError(
        f"{_format_place(where)} is of the class {kind}, which gl.save does not know. It saves "
        "Variables, optimizers, recorders, schedules, arrays, numbers, words, None, lists, tuples and "
        "dictionaries, and what has state_dict and load_state_dict. Of anything else, save the "
        "Variables, such as gl.global_variables()"
    )


def _add_array(x: np.ndarray, where: Where, arrays: Arrays) -> str:
    """Put an array among those of the file, and return its name there."""
    name = _name_array(where)
    arrays[name] = x
    return name


def _copy_plain_array(x: Any, where: Where) -> np.ndarray:
    try:
        return np.array(x)  # it may be written to while the file is
    except TypeError as error:  # JAX's typed keys
        raise TypeError(f"{_format_place(where)} isn't an array of numbers: {error}") from error


def _format_place(where: Where) -> str:
    """Return a place as Python writes it.

    >>> _format_place(("weights", "0", "a"))
    "weights[0]['a']"
    """
    return where[0] + "".join(f"[{k}]" if k.isdigit() else f"[{k!r}]" for k in where[1:])


_CHILDREN = {"dict": lambda node: [value for _, value in node], "list": list, "tuple": list}


def _check_node(node: Any, arrays: Arrays) -> Any:
    """Return the node itself, if all of it is as `_make_node` writes it; else something is raised."""
    kind = _kind(node)
    if kind in ("variable", "array"):
        arrays[node[kind]]  # a KeyError where the array is missing
    elif kind in _CHILDREN:
        for child in _CHILDREN[kind](node[kind]):
            _check_node(child, arrays)
    elif kind != "value":
        _check_node(node[kind], arrays)
    return node


def _kind(node: Mapping[str, Any]) -> str:
    """Return the kind of a node: the one of its keys that isn't a class or a name."""
    (kind,) = node.keys() & {"variable", "array", "value", "state", "config", *_CHILDREN}
    return kind


def _read_node(node: Any, arrays: Arrays) -> Any:
    """Return the value of a node, as arrays and plain values."""
    kind = _kind(node)
    inside = node[kind]
    if kind in ("variable", "array"):
        return arrays[inside]
    if kind == "dict":
        return {key: _read_node(child, arrays) for key, child in inside}
    if kind in ("list", "tuple"):
        children = [_read_node(child, arrays) for child in inside]
        return children if kind == "list" else tuple(children)
    if kind == "value":
        return inside
    return _read_node(inside, arrays)  # of a state or a config


def _needs_object(node: Any) -> bool:
    """Tell whether a node can only be restored into an object."""
    kind = _kind(node)
    if kind in _CHILDREN:
        return any(map(_needs_object, _CHILDREN[kind](node[kind])))
    return kind in ("variable", "state", "config")


def _check_names(things: Mapping[str, Any], tree: Mapping[str, Any]) -> None:
    """Refuse names that aren't in the file, and names of the file that aren't given and need objects."""
    for name in things:
        if name not in tree:
            raise InvalidArgumentError(
                f"the file holds nothing called {name!r}; {did_you_mean(name, list(tree))}"
            )
    others = {name: node for name, node in tree.items() if name not in things}
    forgotten = [name for name, node in others.items() if _needs_object(node)]
    if forgotten:
        raise InvalidArgumentError(
            f"the file holds {', '.join(forgotten)} too: give an object for each, "
            f"{forgotten[0]}=..., or none at all to get arrays; nothing was loaded"
        )


def _check_order(found: Mapping[str, Variable], tree: Mapping[str, Any]) -> None:
    """Refuse variables that have changed places.

    Two weights of one shape would pass all other checks. Names can tell only where they're unique,
    and the same as before.
    """
    saved = dict(_list_saved_names(list(tree.items()), ()))
    before = {place: saved[place] for place in found if place in saved}
    now = {place: found[place].name for place in before}
    are_unique = len(set(now.values())) == len(now)
    are_the_same = Counter(before.values()) == Counter(now.values())
    if are_unique and are_the_same and before != now:
        place = next(p for p in before if before[p] != now[p])
        raise InvalidArgumentError(
            f"the variables are in another order: {place} was {before[place]}, is {now[place]}; "
            "nothing was loaded"
        )


def _list_saved_names(pairs: list[Any], where: Where) -> Iterator[tuple[str, str]]:
    for key, node in pairs:
        kind = _kind(node)
        place = (*where, str(key))
        if kind == "variable":
            yield _name_array(place), node["name"]
        elif kind == "dict":
            yield from _list_saved_names(node[kind], place)
        elif kind in _CHILDREN:
            yield from _list_saved_names(list(enumerate(node[kind])), place)


class _Loader:
    """Matches objects with what was saved; `finish` restores them when all fit."""

    def __init__(self, found: Mapping[str, Variable], arrays: Arrays) -> None:
        self._found = found
        self._arrays = arrays
        self._values: dict[Variable, np.ndarray] = {}
        self._commits: list[Commit] = []
        # After `_commits`, because the objects read variables that those restore.
        self._later: list[Commit] = []
        # Objects with `load_state_dict`, which check their state as they load it.
        self._others: list[tuple[Any, Any]] = []

    def match(self, x: Any, node: Any, where: Where) -> None:
        """Check that a thing is what was saved here, and remember what is to be done."""
        kind = _kind(node)
        inside = node[kind]
        if isinstance(x, Variable):
            self._expect(kind == "variable", x, node, where)
            self._set(x, self._arrays[inside], where)
        elif isinstance(x, Mapping):
            self._expect(kind == "dict" and set(x) == {key for key, _ in inside}, x, node, where)
            for key, child in inside:
                self.match(x[key], child, (*where, key))
        elif isinstance(x, list | tuple):
            self._expect(kind in ("list", "tuple") and len(x) == len(inside), x, node, where)
            for k, child in enumerate(inside):
                self.match(x[k], child, (*where, str(k)))
        else:
            self._match_object(x, node, where)

    def finish(self) -> None:
        """Restore all objects.

        Those that may still refuse their state come first, and are taken back if one does. What
        `match` has checked can't fail.
        """
        done: list[tuple[Any, Any]] = []
        try:
            for x, state in self._others:
                done.append((x, x.state_dict()))
                x.load_state_dict(state)
        except BaseException:
            for x, before in reversed(done):
                x.load_state_dict(before)
            raise
        for commit in (*self._commits, *self._later):
            commit()

    def _set(self, v: Variable, value: np.ndarray, where: Where) -> None:
        if v in self._values and self._values[v].tobytes() != value.tobytes():
            raise InvalidArgumentError(
                f"{_format_place(where)} is {v.name} for the second time; it was another variable"
            )
        self._values[v] = value
        self._commits.append(prepare_assign(v, value, _format_place(where)))

    def _match_object(self, x: Any, node: Any, where: Where) -> None:
        kind = _kind(node)
        if isinstance(x, (*_PLAIN, np.ndarray, np.generic)) or is_jax(x):
            raise TypeError(
                f"{_format_place(where)} is a {type(x).__name__}, into which nothing can be restored. "
                f"Leave {where[0]} out and take it from what gl.load returns"
            )
        self._expect(
            kind in ("state", "config") and node["class"] == type(x).__name__, x, node, where
        )
        value = _read_node(node, self._arrays)
        if hasattr(x, "_loading"):
            try:
                self._later.append(x._loading(value, self._found))
            except ValueError as error:
                raise InvalidArgumentError(f"{_format_place(where)}: {error}") from error
        elif kind == "state":
            self._others.append((x, value))
        elif not _equal(value, _read_config(x)):
            raise InvalidArgumentError(
                f"{_format_place(where)} was saved with the config {value}, it has {x.get_config()}"
            )

    @staticmethod
    def _expect(fits: bool, x: Any, node: Any, where: Where) -> None:
        """Refuse a thing that isn't what was saved in its place."""
        if fits:
            return
        given = f"a {type(x).__name__}"
        if isinstance(x, Mapping | list | tuple):
            given += f" of {_format_size(x)}"
        raise InvalidArgumentError(
            f"{_format_place(where)} was saved as {_format_node(node)}, it is {given}; nothing was "
            "loaded"
        )


def _format_node(node: Any) -> str:
    """Return what was saved, in words."""
    kind = _kind(node)
    if kind in ("state", "config"):
        saved_class: str = node["class"]
        return saved_class
    if kind == "dict":
        return f"a dict of {', '.join(key for key, _ in node[kind])}"
    if kind in _CHILDREN:
        return f"a {kind} of {len(node[kind])}"
    return f"a {kind}"


def _format_size(x: Any) -> str:
    return ", ".join(map(str, x)) if isinstance(x, Mapping) else str(len(x))


def _read_config(x: Any) -> Any:
    """Return the config of an object as a file would give it back."""
    arrays: Arrays = {}
    return _read_node(_make_node(x.get_config(), ("config",), {}, arrays), arrays)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(np.array_equal(a, b))
