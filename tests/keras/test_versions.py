"""What the versions have in common, and what only some of them have; copies, pickles, and
subclasses of your own.
"""

import copy
import inspect
import pickle
from typing import Any

import pytest

import gradlab as gl
from gradlab.keras.versions import VERSIONS
from tests.differences import differs

CLASSES = [gl.keras.SGD, gl.keras.Adagrad]
NEWER_NAMES = ["build", "exclude_from_weight_decay", "finalize_variable_values"]
NEWER_SETTINGS = [
    "name",
    "built",
    "weight_decay",
    "use_ema",
    "ema_momentum",
    "gradient_accumulation_steps",
]


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
