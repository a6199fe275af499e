"""What is said of a name that does not exist."""

import importlib

import pytest

import gradlab as gl
from gradlab._base.suggest import did_you_mean


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("gradlab", "clip_by_nrom", "did you mean clip_by_norm?"),
        ("gradlab", "learning", "there are ClipReport, "),
        ("gradlab.train", "Adam", "did you mean AdamOptimizer?"),
        ("gradlab.train", "MomentumOptimiser", "did you mean MomentumOptimizer?"),
        ("gradlab.keras", "SDG", "did you mean SGD?"),
        ("gradlab.keras", "Quux", "there are Adadelta, "),
        ("gradlab.labs", "optimzers", "did you mean optimizers?"),
    ],
)
def test_an_unknown_name_of_a_module_says_what_there_is(module: str, name: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(module), name)
    assert str(caught.value).startswith(f"module {module!r} has no attribute {name!r}; {said}")


def test_what_is_listed_is_public_and_no_file() -> None:
    with pytest.raises(AttributeError) as caught:
        gl.keras.Quux  # noqa: B018
    listed = str(caught.value).partition("there are ")[2].split(", ")
    assert {"Adagrad", "SGD", "VERSIONS", "replicas"} <= set(listed)
    assert all(getattr(gl.keras, name) is not None for name in listed)
    assert not {"adagrad", "settings", "_only_public"} & set(listed)


def test_a_file_of_a_package_is_still_imported_from_it() -> None:
    from gradlab.train import kernel_order

    assert not hasattr(kernel_order, "nothing") and not hasattr(gl.train, "nothing")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clip_norm", "did you mean clipnorm?"),
        ("", "there are clipnorm, lr"),
        ("zzz", "there are clipnorm, lr"),
    ],
)
def test_the_nearest_name_or_all(name: str, said: str) -> None:
    assert did_you_mean(name, ["clipnorm", "lr"]) == said
