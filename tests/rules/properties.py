"""What every rule promises, each as a function that raises where a rule breaks it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab.rules import Rule, dense_and_sparse
from tests import ways
from tests.rules.cases import SETS_WEIGHTS, Case

ULPS = 4  # how far XLA may be from NumPy


def check_close(expected: Any, got: Any, before: Any, ulps: float = ULPS) -> None:
    """Within `ulps`, counted at the larger of what was and what is: a difference cannot be better
    than its terms.
    """
    for e, a, b in zip(*(jax.tree.leaves(t) for t in (expected, got, before)), strict=True):
        assert (e.dtype, e.shape) == (a.dtype, a.shape)
        size = np.maximum(np.maximum(abs(e), abs(a)), abs(b))
        far = abs(e.astype(np.float64) - a) > ulps * np.finfo(e.dtype).eps * size
        assert not far.any(), f"{a[far]} is more than {ulps} ulps from {e[far]}"


def check_equal(expected: Any, got: Any) -> None:
    for e, a in zip(jax.tree.leaves(expected), jax.tree.leaves(got), strict=True):
        np.testing.assert_array_equal(e, a)


def run(way: ways.Way, cases: Mapping[str, Case]) -> dict[str, Any]:
    """Return what a step of each rule gives in this way, all of them in one program."""
    started = {name: case.started() for name, case in cases.items()}
    args = {name: (*started[name][1:], case.g, case.lr) for name, case in cases.items()}
    return ways.together(way, {name: rule for name, (rule, *_) in started.items()}, args)


def check_way(case: Case, got: Any) -> None:
    """Compare NumPy, read-only, with what `run` returned for this case."""
    rule, w, slots = case.started()
    check_close(ways.numpy(rule, w, slots, case.g, case.lr), got, (w, slots))


def run_optax(cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """Return the weights and states after each of two steps through optax, jitted, all rules in one
    program.
    """
    made = {
        name: gl.optax.from_rule(case.rule, case.lr, replace=True) for name, case in cases.items()
    }

    def one(name: str, w: Any, state: Any, g: Any) -> Any:
        updates, state = made[name].update(g, state, w)
        return optax.apply_updates(w, updates), state

    step = jax.jit(lambda now, g: {name: one(name, *now[name], g[name]) for name in made})
    g = {name: jnp.asarray(case.g) for name, case in cases.items()}
    w = {name: jnp.asarray(case.w) for name, case in cases.items()}
    first = step({name: (w[name], made[name].init(w[name])) for name in made}, g)
    return [first, step(first, g)]


def check_optax(case: Case, got: Sequence[Any]) -> None:
    """Check that the two steps that `run_optax` returned for this case are two steps of the rule."""
    w, slots, shared = case.w, case.rule.init(case.w), case.rule.start()
    for new_w, _ in got:
        before = (w, slots)
        w, slots = case.rule.at(shared)(w, slots, case.g, case.lr)
        shared = case.rule.advance(shared)
        check_close(w, np.asarray(new_w), before[0], 2 * ULPS)
    check_close(
        slots, [np.asarray(got[-1][1].slots[name]) for name in case.rule.slots], before[1], 2 * ULPS
    )


def check_dtype(case: Case, dtype: Any, other: Any, traced: bool) -> None:
    """What goes in as `dtype` comes out so, whatever the gradient and the rate are; float is
    Python's.
    """
    w = case.w.astype(dtype)
    g = case.g.astype(dtype if other is float else other)
    lr = float(case.lr) if other is float else case.lr.astype(other)
    args = w, case.rule.init(w), g
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        rule = case.rule.at(case.rule.start())
        result = jax.eval_shape(lambda *a: rule(*a, lr), *args) if traced else rule(*args, lr)
    assert {x.dtype for x in jax.tree.leaves(result)} == {np.dtype(dtype)}
    assert jax.tree.structure(result) == jax.tree.structure(args[:2])
    shapes = [tuple(w.shape), *(case.rule.slot_shape(name, w.shape) for name in case.rule.slots)]
    assert [tuple(x.shape) for x in jax.tree.leaves(result)] == shapes


def check_rows(case: Case, some: Iterable[list[int]]) -> None:
    """Rows do not know of one another, to the last bit."""
    rule, w, slots = case.started()
    whole = jax.tree.leaves(rule(w, slots, case.g, case.lr))
    for rows in some:
        part = rule(w[rows], tuple(s[rows] for s in slots), case.g[rows], case.lr)
        check_equal([x[rows] for x in whole], part)


def check_columns(case: Case, some: Iterable[list[int]]) -> None:
    """Nor do the columns of a row, unless a slot is kept by row: then they do."""
    rule, w, slots = case.started()
    if rule.row_slots:
        alone = rule(w[:, :1], slots_of_columns(rule, slots, [0]), case.g[:, :1], case.lr)[0]
        assert (alone != rule(w, slots, case.g, case.lr)[0][:, :1]).any(), (
            "it might as well have an entry a weight"
        )
        return
    whole = jax.tree.leaves(rule(w, slots, case.g, case.lr))
    for columns in some:
        part = rule(w[:, columns], tuple(s[:, columns] for s in slots), case.g[:, columns], case.lr)
        check_equal([x[:, columns] for x in whole], part)


def slots_of_columns(rule: Rule, slots: Any, columns: list[int]) -> Any:
    return tuple(
        s if name in rule.row_slots else s[:, columns]
        for name, s in zip(rule.slots, slots, strict=True)
    )


def check_inputs(case: Case) -> None:
    """Inputs are only read, and results are no views of them."""
    rule, w, slots = case.started()
    # With float64 gradients a copy is made; with float32 none is needed.
    for dtype in (np.float32, np.float64):
        w, slots, g = ways.read_only((w, slots, case.g.astype(dtype)))
        for new in jax.tree.leaves(rule(w, slots, g, case.lr)):
            assert not any(np.may_share_memory(new, old) for old in (w, *slots, g))


def check_denormals(case: Case) -> None:
    """Denormal gradients count as 0, but the caller keeps his."""
    g = np.full_like(case.g, 1e-40)
    rule, w, slots = case.started()
    check_equal(rule(w, slots, np.zeros_like(g), case.lr), rule(w, slots, g, case.lr))
    assert (g > 0).all()


def check_zero_gradients(case: Case, w: np.ndarray) -> None:
    """Zero gradients keep rows finite, from the first step on: padding rows get nothing else."""
    shared, state = case.rule.start(), (w, case.rule.init(w))
    for _ in range(3):
        state = case.rule.at(shared)(*state, np.zeros_like(w), case.lr)
        shared = case.rule.advance(shared)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(state))


def check_direction(case: Case) -> None:
    """From weights of 0 the first step goes against the gradient, or sets the weights as the rule
    says.
    """
    name = type(case.rule).__name__
    if name in SETS_WEIGHTS:
        w = case.rule(case.w, case.rule.init(case.w), case.g, case.lr)[0]
        np.testing.assert_allclose(w, SETS_WEIGHTS[name](case), rtol=1e-6)
        return
    zero = np.zeros_like(case.w)
    w, _ = case.rule.at(case.rule.start())(zero, case.rule.init(zero), case.g, np.float32(1))
    assert (w * case.g <= 0).all()
    assert (w != 0).any()


def check_compiles_once(*cases: Case) -> None:
    """A second step, with what changes from step to step passed as arrays, is compiled already."""
    traced = []

    def one(case: Case, state: Any, g: Any, lr: Any) -> Any:
        w, slots, shared = state
        return *case.rule.at(shared)(w, slots, g, lr), case.rule.advance(shared)

    @jax.jit
    def step(states: Any, gradients: Any, lr: Any) -> Any:
        traced.append([str(jax.tree.map(jax.typeof, state)) for state in states])
        return [one(*args, lr) for args in zip(cases, states, gradients, strict=True)]

    first = [jnp.asarray(case.w) for case in cases]
    states: Any = [
        (w, case.rule.init(w), jax.tree.map(jnp.asarray, case.rule.start()))
        for w, case in zip(first, cases, strict=True)
    ]
    for lr in (0.1, 0.2, 0.3):
        states = step(states, [case.g for case in cases], lr)
    changed = [case.rule for k, case in enumerate(cases) if len({types[k] for types in traced}) > 1]
    assert len(traced) == 1, changed


def check_traced_fields(case: Case) -> None:
    """Every number of a rule may be traced, so that a sweep over it is one compiled call; integers
    are numbers too.
    """
    w = jnp.asarray(case.w)
    numbers = {f.name: getattr(case.rule, f.name) for f in dataclasses.fields(case.rule)}
    numbers = {name: x for name, x in numbers.items() if type(x) is float}

    def step(numbers: Any) -> Any:
        rule = case.rule.at(numbers)
        shared = rule.start()
        return *rule.at(shared)(w, rule.init(w), case.g, case.lr), rule.advance(shared)

    for kind in (jnp.float32, jnp.int32):
        traced = jax.eval_shape(step, {name: kind(x) for name, x in numbers.items()})
        assert {x.dtype for x in jax.tree.leaves(traced)} == {w.dtype}


def check_value(rule: Rule) -> None:
    """A rule is a value: equal, hashable, and not to be changed."""
    again = type(rule)(**{f.name: getattr(rule, f.name) for f in dataclasses.fields(rule)})
    assert isinstance(rule, Hashable)
    assert (rule == again) and hash(rule) == hash(again)
    for f in dataclasses.fields(rule):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(rule, f.name, 1)


def check_config(rule: Rule) -> None:
    """A config is text, and gives the rule back."""
    config = json.loads(json.dumps(rule.get_config()))
    assert gl.rules.from_config(config) == rule


def check_shared(rule: Rule) -> None:
    """What changes from step to step is float32 scalars named after fields; `advance` is a pure
    function of them.
    """
    start = rule.start()
    assert set(start) <= {f.name for f in dataclasses.fields(rule)}
    assert all(
        isinstance(x, np.generic | np.ndarray) and (x.dtype, x.shape) == (np.float32, ())
        for x in start.values()
    )
    kept = dict(start)
    first, second = rule.advance(start), rule.advance(start)
    assert start == kept == rule.start(), "advance must leave its argument and the rule alone"
    assert first == second
    assert all(first[name] != x for name, x in start.items()), (
        "what does not change is no shared field"
    )
    assert rule.at(start) == rule.at(rule.start()) and rule.start() == start

    final, _ = jax.lax.scan(
        lambda s, _: (rule.advance(s), None), jax.tree.map(jnp.asarray, start), length=3
    )
    expected = rule.advance(rule.advance(rule.advance(start)))
    check_close(expected, jax.tree.map(np.asarray, final), start)


def check_duplicates(case: Case, update: Any = dense_and_sparse.rows) -> None:
    """Slices of one row count as their sum, at once; rows without any slice stand still."""
    rule, w, slots = case.started()
    g = gl.IndexedSlices(case.g[:4], np.array([5, 2, 5, 2]), w.shape)
    got = update(rule, w, slots, g, case.lr)
    once = rule(
        w[[2, 5]], tuple(s[[2, 5]] for s in slots), case.g[[1, 0]] + case.g[[3, 2]], case.lr
    )
    check_equal(once, [x[[2, 5]] for x in jax.tree.leaves(got)])
    others = [0, 1, 3, 4, 6, 7]
    check_equal([x[others] for x in (w, *slots)], [x[others] for x in jax.tree.leaves(got)])
