"""What the versions have in common, and what only some of them have; copies, pickles, and
subclasses of your own.
"""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.keras.versions import VERSIONS
from tests.differences import differs

CLASSES = [
    gl.keras.Adagrad,
    gl.keras.Adadelta,
    gl.keras.Adam,
    gl.keras.Adamax,
    gl.keras.Ftrl,
    gl.keras.Nadam,
    gl.keras.RMSprop,
    gl.keras.SGD,
]
NEWER_NAMES = ["build", "exclude_from_weight_decay", "finalize_variable_values"]
NEWER_SETTINGS = [
    "name",
    "built",
    "weight_decay",
    "use_ema",
    "ema_momentum",
    "gradient_accumulation_steps",
]


# Optimizers with arguments that make every slot.
WITH_SLOTS: dict[str, Callable[..., gl.keras.Optimizer]] = {
    "adagrad": gl.keras.Adagrad,
    "adam": lambda **kw: gl.keras.Adam(0.25, beta_1=0.5, beta_2=0.75, amsgrad=True, **kw),
    "adadelta": lambda **kw: gl.keras.Adadelta(1.0, rho=0.5, epsilon=0.1, **kw),
    "adam_w": lambda **kw: gl.keras.AdamW(0.25, weight_decay=0.5, **kw),
    "adamax": lambda **kw: gl.keras.Adamax(0.25, beta_1=0.5, beta_2=0.75, **kw),
    "ftrl": lambda **kw: gl.keras.Ftrl(0.25, l1_regularization_strength=0.1, **kw),
    "lamb": lambda **kw: gl.keras.Lamb(0.25, **kw),
    "lion": lambda **kw: gl.keras.Lion(0.25, beta_1=0.5, **kw),
    "nadam": lambda **kw: gl.keras.Nadam(0.25, beta_1=0.5, beta_2=0.75, **kw),
    "rms_prop": lambda **kw: gl.keras.RMSprop(0.25, momentum=0.5, centered=True, **kw),
    "rms_prop, centered": lambda **kw: gl.keras.RMSprop(0.25, rho=0.5, centered=True, **kw),
    "schedule_free": lambda **kw: gl.keras.ScheduleFreeAdamW(
        0.25, beta_1=0.5, warmup_steps=2, **kw
    ),
    "sgd": lambda **kw: gl.keras.SGD(0.25, momentum=0.5, **kw),
}


NEWER_CLASSES = [gl.keras.AdamW, gl.keras.Lion]
SOME_VERSIONS = {
    "adam_w": ["rewrite", "keras3"],
    "lamb": ["keras3"],
    "lion": ["rewrite", "keras3"],
    "schedule_free": ["keras3"],
}
RUNS = [(name, version) for name in WITH_SLOTS for version in SOME_VERSIONS.get(name, VERSIONS)]


class Mine(gl.keras.SGD):
    """Somebody's subclass, which asks for its version inside."""

    def __init__(self, version: Any) -> None:
        super().__init__(0.5, semantics=version)


@differs(
    "`variables` of Keras 3's optimizers",
    tensorflow="a list",
    gradlab="a list that can be called, too, as in tf_keras",
)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cls", CLASSES)
def test_every_version_is_of_the_one_class(cls: Any, version: Any) -> None:
    opt = cls(semantics=version)

    assert type(opt) is cls
    assert type(cls.from_config({}, semantics=version)) is cls
    assert opt.variables == opt.variables() == opt.weights


@pytest.mark.parametrize("cls", CLASSES)
def test_help_shows_the_arguments(cls: Any) -> None:
    parameters = list(inspect.signature(cls).parameters)

    assert parameters[0] == "learning_rate"
    assert parameters[-4:] == ["name", "semantics", "strict", "kwargs"]


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
@pytest.mark.parametrize("cls", NEWER_CLASSES)
def test_older_versions_lack_newer_optimizers(cls: Any, version: Any) -> None:
    with pytest.raises(
        ValueError, match=f"{cls.__name__} is of semantics 'rewrite', 'keras3'; got '{version}'"
    ):
        cls(semantics=version)


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_older_versions_lack_what_came_later(version: Any) -> None:
    opt = gl.keras.SGD(semantics=version)

    for name in NEWER_SETTINGS:
        assert not hasattr(opt, name)
        with pytest.raises(AttributeError):
            setattr(opt, name, None)
    for name in NEWER_NAMES:
        with pytest.raises(AttributeError, match=f"optimizers of {version} have no {name}"):
            getattr(opt, name)([])


def test_only_keras_3_has_apply_and_scale_loss() -> None:
    opt = gl.keras.SGD(semantics="rewrite")

    for name in ("apply", "scale_loss"):
        with pytest.raises(AttributeError, match=f"optimizers of rewrite have no {name}"):
            getattr(opt, name)([])


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        gl.keras.Adagrad().momentum  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(("name", "version"), RUNS)
def test_pure_steps_are_those_of_variables(name: str, version: Any) -> None:
    opt = WITH_SLOTS[name](semantics=version)
    v = gl.Variable(np.float32([1.0, -2.0]), name="v")
    w = jnp.float32([1.0, -2.0])
    state = opt.init(w)

    for g in np.float32([[4.0, -0.5], [-1.0, 0.25], [0.0, 2.0]]):
        w, state = opt.step(w, state, jnp.asarray(g))
        opt.apply_gradients([(g, v)])

    np.testing.assert_allclose(np.asarray(w), v.numpy(), rtol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_subclass_of_your_own_is_copied_and_pickled(version: Any) -> None:
    opt = Mine(version)
    v = gl.Variable([1.0], name="v")
    opt.apply_gradients([([1.0], v)])

    for v_copy, other in (pickle.loads(pickle.dumps((v, opt))), copy.deepcopy((v, opt))):
        other.apply_gradients([([1.0], v_copy)])
        assert type(other) is Mine
        assert repr(other) == repr(opt)
        assert (v_copy.numpy().tolist(), v.numpy().tolist()) == ([0.0], [0.5])
        assert (other.iterations.numpy(), opt.iterations.numpy()) == (2, 1)


def test_a_shallow_copy_shares_weights_and_has_settings_of_its_own() -> None:
    v = gl.Variable([1.0], name="v")
    opt = gl.keras.Adagrad(clipnorm=1.0)
    other = copy.copy(opt)
    other.clipnorm = 2.0
    other.epsilon = 0.5

    other.apply_gradients([([1.0], v)])

    assert opt.weights == other.weights
    assert (opt.clipnorm, opt.epsilon) == (1.0, 1e-7)
