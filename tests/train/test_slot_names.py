"""Names that FTRL's slots are given; golden files hold the names and starts of all others."""

from typing import Any

import pytest

import gradlab as gl

T = gl.train
KEPT: dict[str, tuple[Any, dict[str, str]]] = {
    "ftrl, one named": (
        lambda: T.FtrlOptimizer(0.1, accum_name="acc"),
        {"accum": "v/acc", "linear": "v/Ftrl"},
    ),
    "ftrl, named": (
        lambda: T.FtrlOptimizer(0.1, accum_name="A", linear_name="L"),
        {"accum": "v/A", "linear": "v/L"},
    ),
}


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("graph", [False, True])
def test_names_of_slots(kind: str, graph: bool) -> None:
    make, names = KEPT[kind]
    with gl.Graph().as_default() if graph else gl.variable_collection():
        v, opt = gl.Variable([1.0, 2.0], name="v"), make()
        # In a Graph described only: that is when slots are made.
        opt.apply_gradients([([1.0, 1.0], v)])
        assert opt.get_slot_names() == sorted(names)
        assert {slot: opt.get_slot(v, slot).name for slot in names} == {
            s: f"{n}:0" for s, n in names.items()
        }


def test_describing_another_update_touches_no_slot() -> None:
    with gl.Graph().as_default():
        v, opt = gl.Variable([1.0, 2.0], name="v"), T.MomentumOptimizer(0.1, 0.9)
        opt.apply_gradients([([1.0, 1.0], v)]).run()
        before = opt.get_slot(v, "momentum").value
        opt.apply_gradients([([2.0, 2.0], v)])
        assert opt.get_slot(v, "momentum").value is before
