"""Every optimizer of tf.train beside TensorFlow's own: four steps, dense and sparse, eager and in a
graph.

Equal bits but for two things: powers of float64, which the two round differently now and then, and
rows of one element under penalties or dual averaging, for which TensorFlow computes partly in
double precision.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from tests import ways
from tests.golden.tensorflow_values import tensorflow

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning"),
]

PENALTIES = {"l1_regularization_strength": 0.05, "l2_regularization_strength": 0.3}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "gradient descent": ("GradientDescent", {}),
    "momentum": ("Momentum", {"momentum": 0.9}),
    "nesterov": ("Momentum", {"momentum": 0.9, "use_nesterov": True}),
    "adagrad": ("Adagrad", {}),
    "dual averaging": ("AdagradDA", {}),
    "dual averaging, penalties": ("AdagradDA", PENALTIES),
    "adadelta": ("Adadelta", {"epsilon": 1e-3}),
    "adam": ("Adam", {"epsilon": 1e-3}),
    "ftrl": ("Ftrl", {}),
    "ftrl, penalties": ("Ftrl", {**PENALTIES, "beta": 0.7}),
    "ftrl, shrinkage": ("Ftrl", {**PENALTIES, "l2_shrinkage_regularization_strength": 0.2}),
    "ftrl, power": ("Ftrl", {**PENALTIES, "learning_rate_power": -0.7}),
    "proximal descent": ("ProximalGradientDescent", {}),
    "proximal descent, penalties": ("ProximalGradientDescent", PENALTIES),
    "proximal adagrad": ("ProximalAdagrad", {}),
    "proximal adagrad, penalties": ("ProximalAdagrad", PENALTIES),
    "rms": ("RMSProp", {"momentum": 0.3, "epsilon": 1e-3}),
    "centered rms": ("RMSProp", {"momentum": 0.3, "epsilon": 0.1, "centered": True}),
}
DTYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": float,
}
HALVES = ("float16", "bfloat16")
SHAPES = [
    ((), False),
    ((3,), False),
    ((7,), False),
    ((3,), True),
    ((4, 1), True),
    ((4, 2), True),
    ((2, 3, 1), True),
]
STEPS = 4


def refused(family: str, dtype: str, sparse: bool) -> bool:
    """Whether TensorFlow has no CPU kernel for this, or does not cast its rate of float32 for it."""
    if family.startswith("Proximal"):
        return dtype in HALVES or (dtype == "float64" and not sparse)
    return (family == "AdagradDA" and dtype in HALVES) or (
        family == "RMSProp" and dtype == "bfloat16" and sparse
    )


def tolerance(case: str, dtype: str, shape: tuple[int, ...], sparse: bool) -> float:
    """In units in the last place of the largest number that went in; 0 is equal bits."""
    family, options = CASES[case]
    if family == "AdagradDA" and dtype == "float64" and sparse and np.prod(shape[1:]) == 1:
        return 4.0
    return 4.0 if "learning_rate_power" in options and dtype == "float64" else 0.0


@pytest.fixture(scope="module")
def tf() -> Any:
    return tensorflow()


def steps_of(shape: tuple[int, ...], dtype: Any, sparse: bool) -> tuple[np.ndarray, list[Any]]:
    """Weights, and a gradient for each step: an array, or (values, indices) with an index that may
    repeat.
    """
    rng = np.random.default_rng(len(shape) + 10 * sparse)
    w = np.asarray(rng.normal(size=shape)).astype(dtype)
    if not sparse:
        return w, [np.asarray(rng.normal(size=shape)).astype(dtype) for _ in range(STEPS)]
    indices = [rng.integers(0, shape[0], 3).astype(np.int32) for _ in range(STEPS)]
    return w, [(rng.normal(size=(3, *shape[1:])).astype(dtype), i) for i in indices]


def arguments(case: str, step: Any) -> dict[str, Any]:
    family, options = CASES[case]
    return {
        "learning_rate": 0.1,
        **options,
        **({"global_step": step} if family == "AdagradDA" else {}),
    }


def mine(case: str, w: np.ndarray, grads: list[Any]) -> dict[str, np.ndarray]:
    with gl.variable_collection():
        v, step = gl.Variable(w, name="v"), gl.get_or_create_global_step()
        opt = getattr(gl.train, f"{CASES[case][0]}Optimizer")(**arguments(case, step))
        for g in grads:
            opt.apply_gradients(
                [(gl.IndexedSlices(*g, w.shape) if isinstance(g, tuple) else g, v)],
                global_step=step,
            )
        return by_slot(opt, v)


def mine_in_a_graph(
    case: str, weights: list[np.ndarray], steps: list[list[Any]]
) -> dict[str, np.ndarray]:
    with gl.Graph().as_default():
        vs, step = (
            [gl.Variable(w, name=f"v{k}") for k, w in enumerate(weights)],
            gl.get_or_create_global_step(),
        )
        opt = getattr(gl.train, f"{CASES[case][0]}Optimizer")(**arguments(case, step))
        for grads in steps:
            given = [
                gl.IndexedSlices(*g, v.shape) if isinstance(g, tuple) else g
                for g, v in zip(grads, vs, strict=True)
            ]
            opt.apply_gradients(list(zip(given, vs, strict=True)), global_step=step).run()
        return {v.name: v.numpy() for v in (*vs, *opt.variables())}


def theirs_eager(tf: Any, case: str, w: np.ndarray, grads: list[Any]) -> dict[str, np.ndarray]:
    v, step = tf.Variable(w, name="v"), tf.Variable(np.int64(0))
    opt = getattr(tf.compat.v1.train, f"{CASES[case][0]}Optimizer")(**arguments(case, step))
    for g in grads:
        opt.apply_gradients([(slices_of(tf, g, w), v)], global_step=step)
    return by_slot(opt, v)


def by_slot(opt: Any, v: Any) -> dict[str, np.ndarray]:
    """Without the names of variables: TensorFlow goes on counting them from one test to the next."""
    slots = {name: opt.get_slot(v, name).numpy() for name in opt.get_slot_names()}
    powers = {x.name: x.numpy() for x in opt.variables() if "power" in x.name}
    return {"v": v.numpy(), **slots, **powers}


def theirs_in_a_graph(
    tf: Any, case: str, weights: list[np.ndarray], steps: list[list[Any]], resource: bool
) -> dict[str, np.ndarray]:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        vs = [
            v1.get_variable(f"v{k}", initializer=w, use_resource=resource)
            for k, w in enumerate(weights)
        ]
        step = v1.train.get_or_create_global_step()
        opt = getattr(v1.train, f"{CASES[case][0]}Optimizer")(**arguments(case, step))
        operations = []
        for grads in steps:
            given = [slices_of(tf, g, w) for g, w in zip(grads, weights, strict=True)]
            operations.append(
                opt.apply_gradients(list(zip(given, vs, strict=True)), global_step=step)
            )
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for operation in operations:
                session.run(operation)
            return session.run({v.name: v for v in (*vs, *opt.variables())})


def slices_of(tf: Any, g: Any, w: np.ndarray) -> Any:
    if not isinstance(g, tuple):
        return tf.constant(g)
    return tf.IndexedSlices(tf.constant(g[0]), tf.constant(g[1]), tf.constant(np.int32(w.shape)))


def agree(
    got: dict[str, np.ndarray], want: dict[str, np.ndarray], allowed: float, label: str
) -> None:
    assert got.keys() == want.keys(), label
    for name, a in want.items():
        b = got[name]
        if allowed == 0:
            assert ways.ulps(a, b) == 0, f"{label} {name}: TensorFlow {a}, gradlab {b}"
        else:
            largest = max(1.0, float(np.abs(a).max()))
            np.testing.assert_allclose(
                b, a, rtol=0, atol=allowed * largest * np.finfo(a.dtype).eps, err_msg=label
            )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eager(tf: Any, case: str, dtype: str) -> None:
    for shape, sparse in SHAPES:
        w, grads = steps_of(shape, DTYPES[dtype], sparse)
        if refused(CASES[case][0], dtype, sparse):
            with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError)):
                theirs_eager(tf, case, w, grads)
            continue
        want, got = theirs_eager(tf, case, w, grads), mine(case, w, grads)
        agree(got, want, tolerance(case, dtype, shape, sparse), f"{case} {dtype} {shape}")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("resource", [True, False])
def test_in_a_graph(tf: Any, case: str, resource: bool) -> None:
    """All shapes in one graph, which takes TensorFlow no longer than one of them."""
    given = [steps_of(shape, np.float32, sparse) for shape, sparse in SHAPES[1:-1]]
    weights, steps = (
        [w for w, _ in given],
        [list(grads) for grads in zip(*(grads for _, grads in given), strict=True)],
    )
    want = theirs_in_a_graph(tf, case, weights, steps, resource)
    agree(mine_in_a_graph(case, weights, steps), want, 0.0, case)
