"""Adafactor, Muon, LossScaleOptimizer, MultiOptimizer and `get` beside tf_keras and Keras 3, on generated
settings and gradients.

Numbers may differ by rounding: a few units in the last place of the largest entry, and by more in
Muon's iteration, which multiplies matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gradlab as gl

pytestmark = pytest.mark.tensorflow
CASES, STEPS = 6, 4
SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (4, 1), (5, 5), (2, 3, 4), (3, 1, 2)]
NAMES = ["dense/kernel", "my_Embedding/w", "out", "layer_1/bias"]
DTYPES = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
UNITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
INNER = [
    ("SGD", {"momentum": 0.9}),
    ("SGD", {}),
    ("Adam", {}),
    ("Adagrad", {}),
    ("Adam", {"clipnorm": 0.5}),
]


class Library:
    """One of the originals: its optimizers, schedules and variables."""

    def __init__(self, tf: Any, version: str) -> None:
        import keras
        import tf_keras

        self.tf = tf
        self.version = version
        self.keras = keras
        modules = {"legacy": tf_keras.optimizers.legacy, "rewrite": tf_keras.optimizers}
        self.optimizers = modules.get(version, keras.optimizers)
        tf_schedules = tf_keras.optimizers.schedules
        self.schedules = keras.optimizers.schedules if version == "keras3" else tf_schedules
        self.loss_scale = tf_keras.mixed_precision.LossScaleOptimizer
        if version == "keras3":
            self.loss_scale = keras.optimizers.LossScaleOptimizer
            keras.backend.clear_session()

    def variable(self, value: np.ndarray, name: str) -> Any:
        if self.version != "keras3":
            return self.tf.Variable(value, name=name)
        *scopes, last = name.split("/")
        if not scopes:
            return self.keras.Variable(value, name=last, dtype=value.dtype.name)
        with self.keras.name_scope(scopes[0]):
            return self.keras.Variable(value, name=last, dtype=value.dtype.name)

    def gradient(self, g: Any) -> Any:
        if g is None:
            return None
        if isinstance(g, gl.IndexedSlices):
            constants = (self.tf.constant(x) for x in (g.values, g.indices, g.dense_shape))
            return self.tf.IndexedSlices(*constants)
        return self.tf.constant(g)

    def weights(self, optimizer: Any) -> list[Any]:
        found = optimizer.variables
        return list(found() if callable(found) else found)

    def name(self, variable: Any) -> str:
        return str(getattr(variable, "path", variable.name))


def make_gl(name: str, version: Any, *arguments: Any, **settings: Any) -> Any:
    """Return gradlab's optimizer; the name of one of Keras 3 is made up by the library."""
    if version == "keras3":
        settings["name"] = None
    return getattr(gl.keras, name)(*arguments, semantics=version, **settings)


def step_both(
    library: Library, theirs: Any, mine: Any, variables: Any, own: Any, gradients: Any
) -> bool:
    """Make one step in both, and return whether neither raised; if one does, both do."""
    errors: list[Exception | None] = [None, None]
    pairs = [(library.gradient(g), v) for g, v in zip(gradients, variables, strict=True)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.apply_gradients(pairs)
    except Exception as error:
        errors[0] = error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gl.errors.GradlabWarning)
            mine.apply_gradients(zip(gradients, own, strict=True))
    except (ValueError, TypeError, gl.errors.InvalidArgumentError) as error:
        errors[1] = error
    assert (errors[0] is None) == (errors[1] is None), errors
    return errors[0] is None


def compare(
    library: Library, theirs: Any, mine: Any, variables: Any, own: Any, allowed: float, case: Any
) -> None:
    """Compare variables, the optimizer's weights, and their names."""
    weights = library.weights(theirs)
    names = [w.name.removesuffix(":0") for w in mine.variables]
    if library.version != "keras3":
        names = [f"{name}:0" for name in names]
    assert names == [library.name(w) for w in weights], case
    pairs = [*zip(variables, own, strict=True), *zip(weights, mine.variables, strict=True)]
    for original, copy in pairs:
        expected = np.asarray(original.numpy())
        actual = copy.numpy()
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), case
        if expected.dtype.name not in UNITS:
            np.testing.assert_array_equal(actual, expected)
            continue
        wide = expected.astype(np.float64)
        largest = np.abs(wide[np.isfinite(wide)]).max(initial=2.0**-14)
        unit = UNITS[expected.dtype.name] * largest
        np.testing.assert_allclose(
            actual.astype(np.float64), wide, rtol=0, atol=allowed * unit, err_msg=str(case)
        )


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def rate(rng: np.random.Generator) -> Callable[[Any], Any]:
    """Return a learning rate, given a module of schedules."""
    return pick(
        rng, lambda _: 0.1, lambda _: 1.0, lambda schedules: schedules.ExponentialDecay(0.1, 2, 0.5)
    )


def settings_around(rng: np.random.Generator, version: str) -> dict[str, Any]:
    """Return what acts around the rule."""
    parts: list[dict[str, Any]] = [
        {"weight_decay": 0.1},
        {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": pick(rng, None, 2)},
        {pick(rng, "clipnorm", "clipvalue", "global_clipnorm"): 0.7},
    ]
    if version == "keras3":
        parts += [{"loss_scale_factor": 8.0}, {"gradient_accumulation_steps": 2}]
    return {k: x for part in parts if rng.random() < 0.3 for k, x in part.items()}


def gradients_of(
    rng: np.random.Generator, shapes: Any, dtype: Any, is_dense: bool, zeros: bool = True
) -> list[Any]:
    """Return gradients: arrays, some of zeros, slices, None."""
    gradients: list[Any] = []
    for shape in shapes:
        chance = rng.random()
        g: Any = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-2, 2)).astype(dtype)
        if zeros and chance < 0.1:
            g = np.zeros_like(g)
        elif chance < 0.3 and shape and not is_dense:
            n = int(rng.integers(1, 4))
            values = np.asarray(rng.normal(size=(n, *shape[1:]))).astype(dtype)
            g = gl.IndexedSlices(values, rng.integers(0, shape[0], size=n).astype(np.int32), shape)
        elif chance < 0.4 and any(x is not None for x in gradients):
            g = None
        gradients.append(g)
    return gradients


def play(
    library: Library, name: str, settings: Any, rng: np.random.Generator, shapes: Any, dtype: Any
) -> None:
    """Make some steps with an optimizer of both libraries, and compare after each."""
    allowed = 400 if (name, dtype) == ("Muon", "float32") else 32
    starts = [np.asarray(rng.normal(size=s)).astype(DTYPES[dtype]) for s in shapes]
    names = [f"{pick(rng, *NAMES)}_{k}" for k in range(len(shapes))]
    make_rate = rate(rng)
    is_dense = any("clip" in k or k in ("loss_scale_factor",) for k in settings)
    has_zeros = name == "Muon" or dtype in ("float32", "float64")
    with gl.variable_collection():
        theirs = getattr(library.optimizers, name)(make_rate(library.schedules), **settings)
        mine = make_gl(name, library.version, make_rate(gl.schedules), **settings)
        variables = [library.variable(x, n) for x, n in zip(starts, names, strict=True)]
        own = [gl.Variable(x, name=n) for x, n in zip(starts, names, strict=True)]
        for k in range(STEPS):
            gradients = gradients_of(rng, shapes, DTYPES[dtype], is_dense, has_zeros)
            if not step_both(library, theirs, mine, variables, own, gradients):
                return
            case = (name, library.version, dtype, shapes, settings, k)
            compare(library, theirs, mine, variables, own, allowed, case)


def sample_shapes(rng: np.random.Generator) -> list[tuple[int, ...]]:
    return [SHAPES[k] for k in rng.choice(len(SHAPES), size=3, replace=False)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("version", ["rewrite", "keras3"])
def test_adafactor(tf: Any, version: str, dtype: str) -> None:
    rng = np.random.default_rng([1, len(version), DTYPES[dtype].itemsize, len(dtype)])
    choices: dict[str, Any] = {
        "beta_2_decay": -0.5,
        "epsilon_1": 1e-3,
        "epsilon_2": 0.5,
        "clip_threshold": 0.3,
        "relative_step": False,
    }
    for _ in range(CASES):
        own = {k: x for k, x in choices.items() if rng.random() < 0.3}
        settings = {**settings_around(rng, version), **own}
        play(Library(tf, version), "Adafactor", settings, rng, sample_shapes(rng), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_muon(tf: Any, dtype: str) -> None:
    rng = np.random.default_rng([2, DTYPES[dtype].itemsize, len(dtype)])
    choices: dict[str, tuple[Any, ...]] = {
        "weight_decay": (None, 0.2),
        "adam_beta_1": (0.5,),
        "adam_weight_decay": (None, 0.1),
        "exclude_layers": (["out"], ["dense/.*", "x"]),
        "exclude_embeddings": (False,),
        "adam_lr_ratio": (0.1, 2),
        "momentum": (0.5, 0.0),
        "ns_steps": (1, 3),
        "nesterov": (False,),
        "rms_rate": (None, 0.5),
        "muon_a": (3.0,),
        "epsilon": (1e-3,),
    }
    for _ in range(CASES):
        own = {k: pick(rng, *x) for k, x in choices.items() if rng.random() < 0.25}
        settings = {**settings_around(rng, "keras3"), **own}
        shapes = sample_shapes(rng)
        play(Library(tf, "keras3"), "Muon", settings, rng, shapes, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("momentum", [0.95, 0.7])
def test_muons_momentum_has_the_same_bits(tf: Any, dtype: str, momentum: float) -> None:
    rng = np.random.default_rng(4)
    library = Library(tf, "keras3")
    settings = {"momentum": momentum, "rms_rate": None, "weight_decay": None}
    start = rng.normal(size=(3, 4)).astype(DTYPES[dtype])
    with gl.variable_collection():
        theirs = library.optimizers.Muon(0.1, **settings)
        mine = make_gl("Muon", "keras3", 0.1, **settings)
        variable, own = library.variable(start, "w"), gl.Variable(start, name="w")
        for _ in range(5):
            g = rng.normal(size=(3, 4)).astype(DTYPES[dtype])
            assert step_both(library, theirs, mine, [variable], [own], [g])
        (expected,) = (w.numpy() for w in theirs.variables if w.path.endswith("momentum"))

        np.testing.assert_array_equal(mine.get_slot(own, "momentum").numpy(), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("version", ["legacy", "rewrite", "keras3"])
def test_loss_scale_optimizer(tf: Any, version: str, dtype: str) -> None:
    rng = np.random.default_rng([3, len(version), DTYPES[dtype].itemsize])
    shapes = [(3,), (4, 2)]
    for _ in range(CASES):
        library = Library(tf, version)
        name, settings = pick(rng, *INNER)
        scale: dict[str, Any] = {"initial_scale": pick(rng, 2.0, 1.5, 1024.0, 2.0**126)}
        if rng.random() < 0.6:
            scale["dynamic_growth_steps"] = pick(rng, 1, 2, 3)
        if version != "keras3" and rng.random() < 0.2:
            scale = {"dynamic": False, "initial_scale": 8.0}
        starts = [rng.normal(size=s).astype(dtype) for s in shapes]
        with gl.variable_collection():
            inner = getattr(library.optimizers, name)(0.1, **settings)
            theirs = library.loss_scale(inner, **scale)
            own_inner = make_gl(name, version, 0.1, **settings)
            mine = gl.keras.LossScaleOptimizer(own_inner, **scale)
            variables = [library.variable(x, f"v{k}") for k, x in enumerate(starts)]
            own = [gl.Variable(x, name=f"v{k}") for k, x in enumerate(starts)]
            if version != "legacy" and rng.random() < 0.3:
                theirs.build(variables)
                mine.build(own)
            for k in range(STEPS):
                gradients = gradients_of(rng, shapes, DTYPES[dtype], "clipnorm" in settings)
                if rng.random() < 0.3:
                    gradients[0] = np.asarray([np.nan, np.inf, 1.0], dtype)
                assert step_both(library, theirs, mine, variables, own, gradients)
                case = (version, dtype, name, settings, scale, k)
                compare(library, theirs, mine, variables, own, 8, case)
                assert scale_of(theirs, version) == float(mine.loss_scale), case
                assert int(np.asarray(theirs.iterations)) == int(np.asarray(mine.iterations)), case


def scale_of(optimizer: Any, version: str) -> float:
    return float(optimizer.dynamic_scale.numpy() if version == "keras3" else optimizer.loss_scale)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_scaled", [False, True])
def test_multi_optimizer(tf: Any, dtype: str, is_scaled: bool) -> None:
    rng = np.random.default_rng([4, DTYPES[dtype].itemsize, is_scaled])
    shapes = [(3,), (4, 2), (2,)]
    names = ["enc/w", "enc/b", "out"]
    for _ in range(CASES):
        library = Library(tf, "keras3")
        keys = pick(rng, ["enc/.*"], ["enc/w", "out"], [], ["enc/w", "enc/.*"])
        chosen = [pick(rng, *INNER) for _ in range(len(keys) + 1)]
        factor = pick(rng, None, 4.0)
        starts = [rng.normal(size=s).astype(dtype) for s in shapes]
        with gl.variable_collection():
            inner = [getattr(library.optimizers, n)(0.1, **settings) for n, settings in chosen]
            own_inner = [make_gl(n, "keras3", 0.1, **settings) for n, settings in chosen]
            maps = [
                optimizers.OptimizerMap(some[-1], dict(zip(keys, some, strict=False)))
                for optimizers, some in ((library.optimizers, inner), (gl.keras, own_inner))
            ]
            theirs = library.optimizers.MultiOptimizer(maps[0], loss_scale_factor=factor)
            mine = gl.keras.MultiOptimizer(maps[1], loss_scale_factor=factor)
            if is_scaled:
                theirs = library.optimizers.LossScaleOptimizer(theirs, initial_scale=4.0)
                mine = gl.keras.LossScaleOptimizer(mine, initial_scale=4.0)
            variables = [library.variable(x, n) for x, n in zip(starts, names, strict=True)]
            own = [gl.Variable(x, name=n) for x, n in zip(starts, names, strict=True)]
            for k in range(STEPS):
                gradients = [rng.normal(size=s).astype(dtype) for s in shapes]
                if rng.random() < 0.2:
                    gradients[int(rng.integers(3))] = None
                if not step_both(library, theirs, mine, variables, own, gradients):
                    break
                case = (dtype, keys, chosen, factor, is_scaled, k)
                compare(library, theirs, mine, variables, own, 8, case)


ALL_NAMES = sorted(name for name in gl.keras.optimizers.__all__ if name[0].isupper())


@pytest.mark.parametrize("version", ["legacy", "rewrite", "keras3"])
@pytest.mark.parametrize("name", [*ALL_NAMES, "experimentalSGD", "nonsense", ""])
def test_get_by_name(tf: Any, version: Any, name: str) -> None:
    import tf_keras

    library = Library(tf, version)
    get: Callable[[str], Any] = library.keras.optimizers.get
    if version != "keras3":
        get = partial(tf_keras.optimizers.get, use_legacy_optimizer=version == "legacy")
    for written in (name, name.lower(), name.upper()):
        try:
            expected = type(get(written)).__name__
        except (ValueError, KeyError, TypeError) as error:
            # The base class itself is a TypeError in Keras 3, which finds it by name.
            expected_error = ValueError if isinstance(error, TypeError) else type(error)
            with pytest.raises(expected_error):
                gl.keras.get(written, semantics=version)
        else:
            assert type(gl.keras.get(written, semantics=version)).__name__ == expected


@pytest.mark.parametrize("version", ["legacy", "rewrite", "keras3"])
def test_configs_go_there_and_back(tf: Any, version: Any) -> None:
    library = Library(tf, version)
    keras = library.keras
    module = keras.optimizers
    if version != "keras3":
        import tf_keras

        module = tf_keras.optimizers
    for name in ALL_NAMES:
        if name in ("Optimizer", "OptimizerMap", "MultiOptimizer", "LossScaleOptimizer"):
            continue
        if not hasattr(library.optimizers, name):
            continue
        for k, make_rate in enumerate((lambda _: 0.25, lambda s: s.ExponentialDecay(0.5, 2, 0.5))):
            if k > 0 and version == "legacy" and name in ("Adagrad", "Nadam"):
                continue  # they take no schedule, or don't bring it back
            original = getattr(library.optimizers, name)(make_rate(library.schedules), name="one")
            config = module.serialize(original)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", gl.errors.KerasWarning)
                mine = gl.keras.deserialize(config)
            assert mine._engine.version.name == version, name
            written = gl.keras.serialize(mine)
            written["config"].pop("semantics", None)
            assert plain(written) == plain(config), name


def plain(x: Any) -> Any:
    """Return what a config says, numbers of learning rates rounded to float32."""
    if isinstance(x, dict):
        return {k: plain(y) for k, y in x.items()}
    return float(np.float32(x)) if isinstance(x, float) else x
