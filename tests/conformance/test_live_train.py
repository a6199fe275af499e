"""gradlab's TensorFlow 1 world beside TensorFlow: whole scripts, loss scales, derivatives, sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.train import ported

pytestmark = pytest.mark.tensorflow

F32 = np.float32


def both(tf: Any) -> list[Any]:
    """TensorFlow's names of version 1 and gradlab's, which are the same."""
    return [tf.compat.v1, gl]


# Scripts


@pytest.mark.parametrize("name", ported.SCRIPTS)
def test_a_script_gives_the_same_in_both(tf: Any, name: str) -> None:
    source = ported.read(name)
    theirs = ported.run(source)

    ours = ported.run(ported.port(source))

    assert ours.text == theirs.text
    # Sums over the samples are taken in another order, and a deep product amplifies the last bits.
    np.testing.assert_allclose(ours.fractions, theirs.fractions, rtol=1e-4)
    for w, v in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_allclose(w, v, rtol=1e-4, atol=1e-6)


# Loss scales

GRADIENTS = [1.0, np.inf, 1.0, 1.0, np.nan, 1.0, 1.0, 1.0, 1.0, -np.inf, 1.0]
SCALES = [(2**15, 2000, 2.0), (8, 2, 2.0), (4, 1, 3.0), (2.0**126, 1, 2.0), (1.5, 3, 10.0)]


@pytest.mark.parametrize("arguments", SCALES)
def test_a_dynamic_scale_moves_the_same(tf: Any, arguments: tuple[Any, ...]) -> None:
    told = []
    for library in (tf.compat.v1.train.experimental, gl.train.experimental):
        scale = library.DynamicLossScale(*arguments)
        told.append([])
        for gradient in GRADIENTS:
            _, is_applied = scale.update(
                [
                    tf.constant([gradient])
                    if library is not gl.train.experimental
                    else F32([gradient]),
                    None,
                ]
            )
            told[-1].append((bool(is_applied), float(scale()), repr(scale)))
        told[-1].append(scale.get_config())
    assert told[1] == told[0]


@pytest.mark.parametrize("loss_scale", [1, 8, 3.0, "dynamic"])
@pytest.mark.parametrize("name", ["GradientDescentOptimizer", "AdamOptimizer"])
def test_a_scaled_optimizer_steps_the_same_in_a_graph(tf: Any, name: str, loss_scale: Any) -> None:
    told = []
    for library in both(tf):
        with library.Graph().as_default():
            v = library.Variable(F32([1.0, -2.0, 0.1]), name="v")
            factor = library.Variable(F32(1.0), trainable=False, name="factor")
            step = library.train.create_global_step()
            inner = getattr(library.train, name)(0.1)
            experimental = library.train.experimental
            opt = experimental.MixedPrecisionLossScaleOptimizer(inner, loss_scale)
            train_op = opt.minimize(v * v * factor, step)
            variables = sorted(opt.variables(), key=lambda x: x.name)
            told.append([[x.name for x in variables]])
            with library.Session() as sess:
                sess.run(library.global_variables_initializer())
                for value in (1.0, 1.0, np.inf, 1.0):
                    if not np.isfinite(value) and loss_scale != "dynamic":
                        continue
                    sess.run(factor.assign(F32(value)))
                    sess.run(train_op)
                    told[-1].append([x.tolist() for x in sess.run([v, step, *variables])])
    theirs, ours = told
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=3e-7)


REFUSED: list[Callable[[Any], Any]] = [
    lambda lib: lib.train.experimental.FixedLossScale(0.5),
    lambda lib: lib.train.experimental.FixedLossScale("8"),
    lambda lib: lib.train.experimental.MixedPrecisionLossScaleOptimizer("opt", 8),
    lambda lib: lib.train.experimental.MixedPrecisionLossScaleOptimizer(
        lib.train.AdamOptimizer(), None
    ),
    lambda lib: lib.train.experimental.MixedPrecisionLossScaleOptimizer(
        lib.train.AdamOptimizer(), "big"
    ),
]


@pytest.mark.parametrize("make", REFUSED)
def test_the_same_loss_scales_are_refused(tf: Any, make: Callable[[Any], Any]) -> None:
    for library in both(tf):
        with pytest.raises(ValueError, match=r"."):
            make(library)


# Derivatives


def test_aggregation_methods_have_the_same_numbers_and_gradients(tf: Any) -> None:
    told = []
    for library in (tf, gl):
        methods = library.AggregationMethod
        names = ["ADD_N", "DEFAULT", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"]
        numbers = [getattr(methods, name) for name in names]
        with library.Graph().as_default():
            v = library.Variable(F32([0.1, 3.0]))
            loss = v * v + v + v * 0.3 + v
            found = [library.gradients(loss, [v], aggregation_method=n)[0] for n in numbers]
            session = tf.compat.v1.Session() if library is tf else gl.Session()
            if library is tf:
                session.run(tf.compat.v1.global_variables_initializer())
            told.append((numbers, np.array(session.run(found))))
    assert told[1][0] == told[0][0]
    np.testing.assert_allclose(told[1][1], told[0][1], rtol=3e-7)
    for library in (tf, gl):
        with library.Graph().as_default():
            v = library.Variable(1.0)
            loss = v * v + v
            with pytest.raises(ValueError, match=r"(?i)aggregation"):
                library.gradients(loss, [v], aggregation_method=7)


def test_hessians_are_the_same(tf: Any) -> None:
    told = []
    for library in both(tf):
        with library.Graph().as_default():
            v = library.Variable(F32([0.5, 2.0]))
            w = library.Variable(F32([[1.0, 2.0], [3.0, 4.0]]))
            found = library.hessians((v * v * v) * v[0] + (w @ w) * v, [v, w])
            with library.Session() as sess:
                sess.run(library.global_variables_initializer())
                told.append(sess.run(found))
    for ours, theirs in zip(told[1], told[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_stopped_and_a_custom_gradient_are_the_same(tf: Any) -> None:
    told = []
    for library in both(tf):

        @library.custom_gradient
        def doubled(x: Any, y: Any) -> Any:
            return x * y, lambda upstream: (2 * upstream, 5 * upstream)

        with library.Graph().as_default():
            v = library.Variable(F32([3.0]))
            w = library.Variable(F32([4.0]))
            loss = doubled(v * 1.0, w * 1.0) + v * library.stop_gradient(v * w)
            found = library.gradients(loss, [v, w])
            with library.Session() as sess:
                sess.run(library.global_variables_initializer())
                told.append([x.tolist() for x in sess.run([loss, *found])])
    assert told[1] == told[0]


def test_a_tape_gives_the_same(tf: Any) -> None:
    told = []
    for library in (tf, gl):
        table = library.Variable(F32([[1.0], [2.0], [3.0]]))
        v = library.Variable(F32([2.0, 0.5]))
        fixed = library.Variable(F32(3.0), trainable=False)
        with library.GradientTape(persistent=True) as tape:
            loss = library.gather(table, [2, 2, 0]) * v * fixed
        slices, dense, none = tape.gradient(loss, [table, v, fixed])
        tape_of = tape.gradient([loss, loss], {"v": v}, output_gradients=[loss, loss * 2])
        told.append(
            [
                np.asarray(slices.indices).tolist(),
                np.asarray(slices.values).tolist(),
                np.asarray(dense).tolist(),
                none,
                np.asarray(tape_of["v"]).tolist(),
                loss.numpy().tolist(),
            ]
        )
    assert told[1] == told[0]


# Sessions


def test_a_session_gives_the_same_structure(tf: Any) -> None:
    told = []
    for library in both(tf):
        with library.Graph().as_default():
            v = library.Variable(F32([2.0, 3.0]), name="v")
            step = library.train.get_or_create_global_step()
            library.train.assert_global_step(step)
            opt = library.train.MomentumOptimizer(0.1, 0.9)
            (pair,) = opt.compute_gradients(v * v, [v])
            clipped = library.clip_by_norm(pair[0], 1.0)
            train_op = opt.apply_gradients([(clipped, v)], step)
            with library.Session() as sess:
                sess.run(
                    [library.global_variables_initializer(), library.local_variables_initializer()]
                )
                runs = [
                    sess.run({"op": train_op, "values": (pair[0], [clipped])}) for _ in range(3)
                ]
                last = sess.run(library.global_variables())
                count = library.train.global_step(sess, step)
                names = [x.name for x in library.global_variables()]
        told.append((runs, last, count, names))
    (their_runs, their_last, *their_rest), (our_runs, our_last, *our_rest) = told
    assert our_rest == their_rest
    for ours, theirs in zip(our_runs, their_runs, strict=True):
        assert (ours["op"], type(ours["values"])) == (theirs["op"], type(theirs["values"]))
        np.testing.assert_allclose(ours["values"][0], theirs["values"][0], rtol=3e-7)
        np.testing.assert_allclose(ours["values"][1], theirs["values"][1], rtol=3e-7)
    for ours, theirs in zip(our_last, their_last, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=3e-7)


WRONG: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a number": lambda lib, sess, v: sess.run(3),
    "an array": lambda lib, sess, v: sess.run(np.ones(2)),
    "a closed session": lambda lib, sess, v: (sess.close(), sess.run(v)),
    "a second global step": lambda lib, sess, v: [lib.train.create_global_step() for _ in range(2)],
    "a float as global step": lambda lib, sess, v: lib.train.assert_global_step(v),
    "a number as global step": lambda lib, sess, v: lib.train.assert_global_step(3),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_same_is_refused_with_the_same_class(tf: Any, what: str) -> None:
    raised = []
    for library in both(tf):
        with library.Graph().as_default():
            v = library.Variable(1.0)
            with library.Session() as sess:
                sess.run(library.global_variables_initializer())
                with pytest.raises((TypeError, ValueError, RuntimeError)) as found:
                    WRONG[what](library, sess, v)
            raised.append(found.value)
    theirs, ours = raised
    assert isinstance(ours, type(theirs))


def test_tensorflow_takes_no_schedule(tf: Any) -> None:
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    opt = tf.compat.v1.train.GradientDescentOptimizer(schedule)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'step'"):
        opt.apply_gradients([(tf.constant([1.0]), tf.Variable([1.0]))])


@pytest.mark.parametrize("name", ["GradientDescentOptimizer", "AdamOptimizer", "RMSPropOptimizer"])
def test_a_schedule_is_tensorflows_decay(tf: Any, name: str) -> None:
    v1 = tf.compat.v1
    v = tf.Variable(F32([1.0, -2.0]))
    step = tf.Variable(0, dtype=tf.int64)
    theirs = getattr(v1.train, name)(v1.train.exponential_decay(0.5, step, 2, 0.5))
    w = gl.Variable(F32([1.0, -2.0]))
    count = gl.Variable(np.int64(0), trainable=False)
    ours = getattr(gl.train, name)(gl.schedules.ExponentialDecay(0.5, 2, 0.5))
    for k in range(5):
        gradient = F32([0.3 * k - 1, 0.5])
        theirs.apply_gradients([(tf.constant(gradient), v)], step)
        ours.apply_gradients([(gradient, w)], count)
        np.testing.assert_allclose(w.numpy(), v.numpy(), rtol=1e-6)
