"""Clip arguments: which act, in which order, where; and what is said about them."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ClipWarning, KerasWarning
from gradlab.keras import SGD, Adagrad

F = np.float32
G = F([3.0, 4.0, 0.0])


def _applied(opt: SGD, *grads: Any) -> list[np.ndarray]:
    """What SGD at rate 1 shows: the clipped gradients."""
    variables = [gl.Variable(np.zeros(np.shape(g), F)) for g in grads]
    opt.apply_gradients(zip(grads, variables, strict=True))
    return [-v.numpy() for v in variables]


@pytest.mark.parametrize(
    ("version", "limits", "expected"),
    [
        ("legacy", {"clipvalue": 2.0, "clipnorm": 1.0}, gl.clip_by_norm(F([2, 2, 0]), 1.0)),
        ("legacy", {"clipvalue": 2.0, "global_clipnorm": 1.0}, gl.clip_by_norm(F([2, 2, 0]), 1.0)),
        ("rewrite", {"clipvalue": 0.5, "clipnorm": 1.0}, F([0.6, 0.8, 0])),
        ("rewrite", {"clipvalue": 0.5, "global_clipnorm": 1.0}, F([0.6, 0.8, 0])),
        ("keras3", {"clipvalue": 0.5}, F([0.5, 0.5, 0])),
    ],
)
def test_order(version: Any, limits: dict[str, float], expected: np.ndarray) -> None:
    np.testing.assert_allclose(
        _applied(SGD(1.0, semantics=version, **limits), G)[0], expected, rtol=1e-6
    )


def test_tf_2_3_never_clips_in_apply_gradients_and_says_so() -> None:
    with pytest.warns(KerasWarning, match=r"clipnorm, clipvalue does nothing here"):
        assert (
            _applied(SGD(1.0, semantics="tf2.3", clipnorm=1.0, clipvalue=0.7), G)[0].tolist()
            == G.tolist()
        )


def test_tf_2_3_clips_in_minimize_norm_first() -> None:
    v, opt = gl.Variable([0.0, 0.0, 0.0]), SGD(1.0, semantics="tf2.3", clipnorm=1.0, clipvalue=0.7)
    opt.minimize(lambda: (v.value * G).sum(), [v])
    assert (-v.numpy()).tolist() == F([0.6, 0.7, 0.0]).tolist()


def test_global_norm_keeps_the_direction_norm_does_not() -> None:
    a, b = _applied(SGD(1.0, global_clipnorm=1.0), F([3.0]), F([4.0]))
    assert (a.tolist(), b.tolist()) == ([F(0.6)], [F(0.8)])
    a, b = _applied(SGD(1.0, clipnorm=1.0), F([3.0]), F([4.0]))
    assert (a.tolist(), b.tolist()) == ([1.0], [1.0])


@pytest.mark.parametrize("version", ["rewrite", "keras3"])
def test_a_limit_of_0_or_less_is_none(version: Any) -> None:
    for limit in (0.0, -1.0):
        with pytest.warns(KerasWarning, match="switches clipping off"):
            opt = SGD(1.0, clipnorm=limit, semantics=version)
        assert _applied(opt, G)[0].tolist() == G.tolist()


@pytest.mark.filterwarnings("ignore::gradlab.errors.ClipWarning")
def test_a_limit_of_0_stops_training_and_breaks_it_at_0() -> None:
    with pytest.warns(KerasWarning, match="clipnorm=0 makes every gradient 0"):
        opt = SGD(1.0, clipnorm=0.0)
    assert _applied(opt, G)[0].tolist() == [0, 0, 0]
    assert np.isnan(_applied(opt, 0 * G)[0]).all()


def test_limits_may_be_set_later() -> None:
    opt = SGD(1.0)
    opt.clipnorm = 1.0
    np.testing.assert_allclose(_applied(opt, G)[0], [0.6, 0.8, 0])
    opt.global_clipnorm = 0.5  # beside clipnorm: not checked later
    assert (opt.clipnorm, opt.clipvalue, opt.global_clipnorm) == (1.0, None, 0.5)
    opt.clipnorm = opt.global_clipnorm = None
    assert _applied(opt, G)[0].tolist() == G.tolist()
    old = SGD(1.0, semantics="tf2.3")
    with pytest.warns(KerasWarning, match="tf2.3 has no such argument"):
        old.global_clipnorm = 1.0
    transforming = SGD(1.0, gradient_transformers=[lambda pairs: pairs])
    with pytest.raises(ValueError, match="cannot be set beside gradient_transformers"):
        transforming.clipvalue = 1.0


def test_norms_see_slices_before_rows_are_summed_and_it_is_said() -> None:
    g = gl.IndexedSlices(F([[3.0], [4.0]]), [1, 1], (2, 1))
    v = gl.Variable(np.zeros((2, 1), F), name="v")
    with pytest.warns(
        KerasWarning, match="clipnorm takes the norm of the slices of v:0 as they stand"
    ):
        SGD(1.0, clipnorm=1.0).apply_gradients([(g, v)])
    np.testing.assert_allclose(v.numpy().ravel(), [0, -1.4], rtol=1e-6)
    v.assign([[0.0], [0.0]])
    SGD(1.0, clipvalue=1.0).apply_gradients([(g, v)])
    assert v.numpy().ravel().tolist() == [0, -2]


@pytest.mark.filterwarnings("ignore::gradlab.errors.KerasWarning")
def test_in_keras_3_slices_leave_the_global_clip_summed() -> None:
    g = gl.IndexedSlices(F([[3.0], [4.0]]), [1, 1], (2, 1))
    clipped, raw = gl.Variable(np.zeros((2, 1), F)), gl.Variable(np.zeros((2, 1), F))
    opts = (
        Adagrad(1.0, 0.0, semantics="keras3", global_clipnorm=5.0),
        Adagrad(1.0, 0.0, semantics="keras3"),
    )
    for opt, v in zip(opts, (clipped, raw), strict=True):
        opt.apply_gradients([(g, v)])
    accumulators = [
        opt.get_slot(v, "accumulator").numpy()[1, 0]
        for opt, v in zip(opts, (clipped, raw), strict=True)
    ]
    assert accumulators == [49.0, 25.0]


def test_a_nan_limit_poisons() -> None:
    with pytest.warns(ClipWarning, match="NaN"):
        assert np.isnan(_applied(SGD(1.0, clipnorm=float("nan")), G)[0]).all()


def test_mixed_dtypes_have_no_global_norm() -> None:
    variables = gl.Variable(F([1.0])), gl.Variable(np.array([1.0]))
    with pytest.raises(gl.errors.InvalidArgumentError, match="must share a dtype"):
        SGD(1.0, global_clipnorm=1.0).apply_gradients([(v.numpy(), v) for v in variables])
    assert [v.numpy().tolist() for v in variables] == [[1.0], [1.0]]


def test_a_report_of_what_the_limits_would_do() -> None:
    v, e = gl.Variable(np.zeros(3, F), name="v"), gl.Variable(np.zeros((2, 1), F), name="e")
    slices = gl.IndexedSlices(F([[6.0], [6.0]]), [1, 1], (2, 1))
    for version in ("tf2.3", "legacy"):
        report = SGD(clipvalue=3.5, semantics=version).clip_report([(G, v), (None, e)])
        assert (report.norm_before, report.fraction_clipped, list(report.tensors)) == (
            5.0,
            1 / 3,
            ["v:0"],
        )
    with pytest.warns(KerasWarning, match="as they stand"):
        report = SGD(global_clipnorm=1.0, semantics="keras3").clip_report([(G, v), (slices, e)])
    assert report.tensors["e:0"].norm_before == 12.0
    assert SGD().clip_report([(G, v)]).factor == 1.0
    assert v.numpy().tolist() == [0, 0, 0]
