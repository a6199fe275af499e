"""The class that a version gives an optimizer: attributes, copies, pickles, and subclasses of your own."""

import copy
import pickle
from typing import Any

import pytest

import gradlab as gl
from gradlab.keras.built import Keras3, Listed
from gradlab.keras.classes import class_for, plain
from tests.differences import differs


class Mine(gl.keras.SGD):
    """Somebody's subclass, which asks for its version inside."""

    def __init__(self, version: Any) -> None:
        super().__init__(0.5, semantics=version)


@differs(
    "`variables` of Keras 3's optimizers",
    tensorflow="a list",
    gradlab="a list that can be called, too, as in tf_keras",
)
@pytest.mark.parametrize("cls", [gl.keras.SGD, gl.keras.Adagrad])
def test_the_versions_have_classes(cls: Any) -> None:
    kinds = {version: type(cls(semantics=version)) for version in gl.keras.SEMANTICS}
    assert kinds["tf2.3"] is kinds["legacy"] is cls
    assert [issubclass(k, cls) for k in kinds.values()] == [True] * 4 and issubclass(kinds["keras3"], Keras3)
    assert {k.__name__ for k in kinds.values()} == {cls.__name__} and {plain(k) for k in kinds.values()} == {cls}
    for version, kind in kinds.items():
        assert type(kind.from_config({}, semantics=version)) is kind
        assert type(kinds["keras3"](semantics=version)) is kind  # another version takes its own class
        opt = cls(semantics=version)
        if version in ("tf2.3", "legacy"):
            assert opt.variables() == opt.weights and not hasattr(opt, "build") and not hasattr(opt, "weight_decay")
        else:
            assert isinstance(opt.variables, Listed) and opt.variables == opt.variables() == opt.weights


def test_a_subclass_of_ones_own_gets_the_rest_too() -> None:
    old, new = Mine("legacy"), Mine("keras3")
    assert type(old) is Mine and isinstance(new, Mine) and isinstance(new, Keras3) and type(new) is type(Mine("keras3"))
    new.build([gl.Variable([1.0])])
    for other in (pickle.loads(pickle.dumps(new)), copy.deepcopy(new)):
        assert type(other) is type(new) and other.built and repr(other) == repr(new)

    class Third(type(gl.keras.SGD(semantics="keras3"))):  # type: ignore[misc]
        """A subclass of one version."""

    assert class_for(Third, "keras3") is Third
    with pytest.raises(TypeError, match="Third is an optimizer of keras3: give semantics='keras3', got 'legacy'"):
        Third(0.1)
