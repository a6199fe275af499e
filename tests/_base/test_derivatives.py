"""Gradients without JAX: the same forms and, within a bound, the same numbers; what is said where
there is nothing.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base import derivatives
from gradlab.train.gate import product_race

X = np.float32([[1.0, -2.0], [3.0, 0.5]])


@pytest.fixture
def without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)


def _reader() -> tuple[Callable[[], Any], list[gl.Variable]]:
    reader, rng = gl.workers.Reader(), np.random.default_rng(0)
    weights = {name: rng.standard_normal(w.shape, np.float32) for name, w in reader.start().items()}
    table, bias = (gl.Variable(w) for w in weights.values())
    lines = reader.draw(rng)
    return lambda: reader.loss_of({"words": table, "bias": bias}, lines), [table, bias]


def _mixed() -> tuple[Callable[[], Any], list[gl.Variable]]:
    a, b, c, d = (
        gl.Variable(X),
        gl.Variable(X.T),
        gl.Variable(np.float64(0.5)),
        gl.Variable(np.complex64([1 + 2j])),
    )
    unread, looked_at = gl.Variable([1.0]), gl.Variable([1.0])

    def loss() -> Any:
        whole = ((np.float32(2) * a) @ b + a * a - 1 / (b + 4)).sum() + (
            gl.gather(a, [[1, 0], [1, 1]]) * 3
        ).sum()
        return whole * c + 0 * c + abs(d).sum() + float(looked_at.shape[0])

    return loss, [a, b, c, d, unread, looked_at]


def _race() -> tuple[Callable[[], Any], list[gl.Variable]]:
    a, b = gl.Variable(X), gl.Variable(X.T)
    return lambda: (a.value @ b.value).sum(), [a, b]


def _bowl() -> tuple[Callable[[], Any], list[gl.Variable]]:
    v = gl.Variable(np.random.default_rng(0).standard_normal(100, np.float32))
    return lambda: (v * v).sum(), [v]


# How far a gradient may be from JAX's, as a share of its largest entry: the losses of the course,
# and all operators.
BOUNDS: dict[str, tuple[Callable[[], Any], float]] = {
    "Reader.loss_of": (_reader, 1e-6), "product_race": (_race, 0.0), "(v * v).sum()": (_bowl, 0.0),
    "operators": (_mixed, 1e-6),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_gradients_without_jax_are_jax_s_within_the_bound(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (loss, variables), bound = BOUNDS[name][0](), BOUNDS[name][1]
    expected = gl.gradients(loss, variables)
    monkeypatch.setitem(sys.modules, "jax", None)
    for g, e in zip(gl.gradients(loss, variables), expected, strict=True):
        assert type(g) is type(e)
        if e is not None:
            g, e = (x.values if isinstance(x, gl.IndexedSlices) else x for x in (g, e))
            assert (g.dtype, g.shape) == (e.dtype, e.shape)
            assert np.abs(g - e).max() <= bound * np.abs(e).max()


def test_forms_of_gradients(without_jax: None) -> None:
    e, v = gl.Variable(np.ones((3, 1), np.float32)), gl.Variable([1.0, 2.0])
    (g,) = gl.gradients(
        lambda: (gl.gather(e, [[2, 1]]) * 2).sum() + (gl.gather(e, [1]) * 5).sum(), [e]
    )
    assert (g.indices.tolist(), g.values.ravel().tolist(), g.dense_shape) == (
        [2, 1, 1],
        [2, 2, 5],
        (3, 1),
    )
    (g,) = gl.gradients(lambda: (gl.gather(e, [1, 1]) * 3).sum() + e.value.sum(), [e])
    assert g.tolist() == [[1], [7], [1]]
    assert gl.gradients(lambda: (0 * v).sum(), v)[0].tolist() == [0, 0]
    assert gl.gradients([lambda: v * v, lambda: 3 * v], [v], [None, [1.0, 0.0]])[0].tolist() == [
        5,
        4,
    ]
    line = gl.workers.FromLoss(
        lambda w, x: ((w["a"] * x - x) ** 2).mean(), {"a": 0.0}, lambda rng: X, X, jit=True
    )
    assert line.gradient(line.start(), np.random.default_rng(0))["a"] == -2 * line.loss(
        line.start()
    )


def test_a_gate_knows_what_each_gradient_reads(without_jax: None) -> None:
    assert product_race(gl.train.GATE_OP).reads == {"a": {"b"}, "b": {"a"}}
    a, b, c = (gl.Variable([2.0], name=name) for name in "abc")
    # Where the maximum lies depends on `a` alone, though no number of the gradient does.
    race = gl.train.GateRace(
        lambda: np.maximum(a, 0).sum() + (b * b).sum() + gl.gather(c, [0]).sum(), [a, b, c], 0.1
    )
    assert race.reads == {"a": {"a"}, "b": {"b"}, "c": set()}


def test_threads_differentiate_at_once(without_jax: None) -> None:
    v, results = gl.Variable([1.0, 2.0]), {}

    def work(k: int) -> None:
        results[k] = [gl.gradients(lambda: (k * v * v).sum(), v)[0].tolist() for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [[2.0 * k, 4.0 * k]] * 20 for k in range(1, 4)}


def test_what_cannot_be_differentiated_says_how_losses_are_written(without_jax: None) -> None:
    v = gl.Variable([1.0], name="v")
    for bad in (lambda: float(v.value.sum()) * v.value.sum(), lambda: np.asarray(v).sum()):
        with pytest.raises(TypeError) as raised:
            gl.gradients(bad, [v])
        assert any("autograd.numpy" in note for note in raised.value.__notes__)
    with pytest.raises(TypeError, match="cannot be kept in a Variable"):
        gl.gradients(lambda: v.assign(v * 2).value.sum(), [v])
    assert v.numpy() == [1.0]


def test_without_either_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("jax", "autograd"):
        monkeypatch.setitem(sys.modules, library, None)
    derivatives._import_differentiator.cache_clear()
    v = gl.Variable([1.0])
    with pytest.raises(ModuleNotFoundError, match="run pip install jax, or pip install autograd"):
        gl.gradients(lambda: v * v, [v])
    derivatives._import_differentiator.cache_clear()
