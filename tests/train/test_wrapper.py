"""What every optimizer around another one hands on."""

import threading
from typing import Any

import gradlab as gl
from gradlab.train.variable import current_collection
from gradlab.train.wrapper import Wrapper


class Plain(Wrapper):
    """A wrapper that adds nothing."""

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.apply_gradients(*args, **kwargs)

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.minimize(*args, **kwargs)


def test_threads_work_where_the_optimizer_was_made() -> None:
    wrapper, seen = Plain(gl.train.GradientDescentOptimizer(0.1), "name"), []

    def work() -> None:
        with wrapper._enter_collection() as collection:
            seen.append(collection)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert seen == [current_collection()]
    with gl.variable_collection() as inner, wrapper._enter_collection() as collection:
        assert collection is inner


def test_the_worker_goes_only_to_those_who_ask() -> None:
    plain = gl.train.GradientDescentOptimizer(0.1)
    assert Plain(plain, "name")._worker_argument("a") == {}
    assert Plain(gl.train.DropStaleGradientOptimizer(plain, 0), "name")._worker_argument("a") == {
        "worker": "a"
    }


def test_variables_and_slots_are_those_inside() -> None:
    inner, v = gl.train.MomentumOptimizer(0.1, 0.9), gl.Variable([1.0], name="v")
    inner.apply_gradients([([1.0], v)])
    wrapper = Plain(inner, "name")
    assert wrapper.variables() == inner.variables()
    assert wrapper.get_slot(v, "momentum") is inner.get_slot(v, "momentum")
    assert (wrapper.get_slot_names(), wrapper.get_name()) == (["momentum"], "name")
