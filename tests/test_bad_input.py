"""Everything the three steps refuse: the class, the useful part of the message, and that nothing
has changed.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, InvalidArgumentError, NotAVariableError, SlicesWarning
from gradlab.train import GradientDescentOptimizer, MomentumOptimizer
from tests.differences import differs

ONES = np.ones(2, np.float32)


class World:
    """An optimizer that has made one step, variables of all kinds, and what they held."""

    def __init__(self) -> None:
        self.opt = MomentumOptimizer(0.1, 0.9)
        self.v = gl.Variable([1.0, 2.0], name="v")
        self.w = gl.Variable([3.0, 4.0], name="w")
        self.table = gl.Variable(np.ones((3, 2), np.float32), name="table")
        self.bound = gl.Variable(np.ones((3, 2), np.float32), name="bound", constraint=lambda x: x)
        self.strange = gl.Variable([1.0, 2.0], name="strange", constraint=lambda x: x[:1])
        self.whole = gl.Variable([1, 2], name="whole")
        self.scalar = gl.Variable(1.0, name="scalar")
        self.step = gl.get_or_create_global_step()
        self.opt.apply_gradients([(ONES, self.v), (ONES, self.w)], self.step)

    def apply(self, *pairs: Any, step: Any = None) -> None:
        self.opt.apply_gradients(list(pairs), self.step if step is None else step)

    def state(self) -> list[Any]:
        everything = [x for x in vars(self).values() if isinstance(x, gl.Variable)] + [
            self.opt.get_slot(x, "momentum") for x in (self.v, self.w)
        ]
        return [x.numpy().tolist() for x in everything]


def rows(values: Any, indices: Any) -> gl.IndexedSlices:
    return gl.IndexedSlices(np.float32(values), np.array(indices, np.int32))


APPLY: dict[str, tuple[Any, type[Exception], str]] = {
    "an empty list": (
        lambda s: s.apply(),
        ValueError,
        "No variables provided: grads_and_vars is empty",
    ),
    "None for a list": (lambda s: s.opt.apply_gradients(None), TypeError, "not iterable"),
    "all None": (
        lambda s: s.apply((None, s.v), (None, s.w)),
        ValueError,
        r"No gradients .*\['v:0', 'w:0'\]",
    ),
    "not pairs": (
        lambda s: s.apply(ONES, ONES),
        TypeError,
        r"\(gradient, variable\) pairs, got ndarray",
    ),
    "a triple": (lambda s: s.apply((ONES, s.v, 1)), TypeError, "pairs, got tuple"),
    "an array for a variable": (
        lambda s: s.apply((ONES, ONES)),
        NotAVariableError,
        "a gradlab Variable, got ndarray",
    ),
    "wrong shape, second": (
        lambda s: s.apply((ONES, s.v), (np.ones(3, np.float32), s.w)),
        InvalidArgumentError,
        r"w:0 has shape \(2,\) but its gradient has shape \(3,\)",
    ),
    "a scalar to broadcast": (
        lambda s: s.apply((np.float32(1), s.v)),
        InvalidArgumentError,
        r"gradient has shape \(\)",
    ),
    "wrong dtype, second": (
        lambda s: s.apply((ONES, s.v), (np.ones(2), s.w)),
        DTypeError,
        "w:0 is float32 but its gradient is float64; cast",
    ),
    "integer variable": (
        lambda s: s.apply((ONES, s.v), ([1, 1], s.whole)),
        DTypeError,
        "whole:0 is int32; only float",
    ),
    "a string": (
        lambda s: s.apply((ONES, s.v), ("g", s.w)),
        TypeError,
        "the gradient of w:0 must be numbers, got 'g'",
    ),
    "an index too large": (
        lambda s: s.apply((ONES, s.v), (rows([[1, 1]], [3]), s.table)),
        InvalidArgumentError,
        r"indices of table:0 must be in \[0, 3\), got 3",
    ),
    "a negative index": (
        lambda s: s.apply((rows([[1, 1]], [-1]), s.table)),
        InvalidArgumentError,
        "got -1",
    ),
    "rows of another width": (
        lambda s: s.apply((rows([[1, 1, 1]], [0]), s.table)),
        InvalidArgumentError,
        r"table:0 has shape \(3, 2\) but its slices have rows of shape \(3,\)",
    ),
    "slices for a scalar": (
        lambda s: s.apply((rows([1], [0]), s.scalar)),
        InvalidArgumentError,
        r"scalar:0 has shape",
    ),
    "slices and a constraint": (
        lambda s: s.apply((ONES, s.v), (rows([[1, 1]], [0]), s.bound)),
        RuntimeError,
        "bound:0 has a constraint, which a sparse gradient cannot keep",
    ),
    "a constraint that shrinks": (
        lambda s: s.apply((ONES, s.v), (ONES, s.strange)),
        InvalidArgumentError,
        r"strange:0 has shape \(2,\), got a value of shape \(1,\)",
    ),
    "a step that is a number": (
        lambda s: s.apply((ONES, s.v), step=3),
        TypeError,
        "global_step must be .* got int",
    ),
    "a step that is no integer": (
        lambda s: s.apply((ONES, s.v), step=s.scalar),
        TypeError,
        r"an integer scalar, scalar:0 is float32 of shape \(\)",
    ),
    "a step that is a vector": (
        lambda s: s.apply((ONES, s.v), step=s.whole),
        TypeError,
        r"int32 of shape \(2,\)",
    ),
}
COMPUTE: dict[str, tuple[Any, type[Exception], str]] = {
    "a value for a loss": (
        lambda s: s.opt.minimize(s.v * s.v),
        RuntimeError,
        "loss must be a function .* write lambda",
    ),
    "a loss that reads nothing": (
        lambda s: s.opt.minimize(lambda: 1.0),
        ValueError,
        "the loss reads no trainable var",
    ),
    "no variables": (
        lambda s: s.opt.minimize(lambda: s.v, var_list=[]),
        ValueError,
        "var_list is empty",
    ),
    "variables not read": (
        lambda s: s.opt.minimize(lambda: s.v, var_list=[s.w]),
        ValueError,
        r"\['w:0'\]",
    ),
    "an array in var_list": (
        lambda s: s.opt.minimize(lambda: s.v, var_list=[ONES]),
        TypeError,
        "Variables, got ndarray",
    ),
    "integers in var_list": (
        lambda s: s.opt.minimize(lambda: s.v, var_list=[s.whole]),
        DTypeError,
        "whole:0 is int32",
    ),
    "an integer loss": (
        lambda s: s.opt.minimize(lambda: s.whole.value, var_list=[s.v]),
        DTypeError,
        "got int32",
    ),
    "grad_loss of another shape": (
        lambda s: s.opt.minimize(lambda: s.v, grad_loss=1.0),
        ValueError,
        r"has shape \(\), its loss has shape \(2,\)",
    ),
}
RATES: dict[str, tuple[Any, type[Exception], str]] = {
    "a string": ("fast", TypeError, "learning_rate must be numbers, got 'fast'"),
    "None": (None, ValueError, "learning_rate is None"),
    "a vector": (
        [0.1, 0.2],
        InvalidArgumentError,
        r"learning_rate must be a scalar, got shape \(2,\)",
    ),
    "a function that fails": (lambda: 1 / 0, ZeroDivisionError, "division"),
}


@pytest.mark.every_case
@differs(
    "a call of a `gl.train` `Optimizer`, such as a `RuleOptimizer`, that raises",
    tensorflow="variables ahead of the bad gradient may be updated already",
    gradlab="nothing has changed",
)
@pytest.mark.parametrize("case", APPLY | COMPUTE)
def test_it_is_refused_and_nothing_changes(case: str) -> None:
    call, error, message = (APPLY | COMPUTE)[case]
    world = World()
    before = world.state()
    with pytest.raises(error, match=message):
        call(world)
    assert world.state() == before


@pytest.mark.parametrize("case", RATES)
def test_a_bad_rate_is_refused_and_nothing_changes(case: str) -> None:
    rate, error, message = RATES[case]
    v, step = gl.Variable([1.0]), gl.get_or_create_global_step()
    with pytest.raises(error, match=message):
        GradientDescentOptimizer(rate).apply_gradients([([1.0], v)], step)
    assert (v.numpy().tolist(), int(step)) == ([1], 0)


@pytest.mark.parametrize("name", ["", None])
@pytest.mark.parametrize(
    "make", [GradientDescentOptimizer, lambda r, name: MomentumOptimizer(r, 0.9, name=name)]
)
def test_an_empty_name_is_refused(make: Any, name: Any) -> None:
    with pytest.raises(ValueError, match=f"name must be a non-empty string, got {name!r}"):
        make(0.1, name=name)


def test_some_none_are_skipped_without_a_word() -> None:
    world = World()
    world.apply((None, world.v), (ONES, world.w))
    assert world.state()[0] == world.v.numpy().tolist()
    assert int(world.step) == 2


def test_lists_and_iterators_are_converted() -> None:
    v = gl.Variable([1.0, 2.0])
    GradientDescentOptimizer(1.0).apply_gradients(iter([[[1.0, 1.0], v]]))
    assert v.numpy().tolist() == [0, 1]


@pytest.mark.parametrize(
    "make", [GradientDescentOptimizer, gl.keras.SGD, lambda rate: gl.keras.Adagrad(1.0)]
)
def test_slices_of_a_table_of_another_shape_are_taken_with_a_warning(make: Any) -> None:
    table = gl.Variable(np.zeros((3, 2), np.float32), name="table")
    with pytest.warns(
        SlicesWarning, match=r"table:0 has shape \(3, 2\) but its slices say dense_shape \(9, 2\)"
    ) as seen:
        make(1.0).apply_gradients(
            [(gl.IndexedSlices(np.ones((1, 2), np.float32), [1], (9, 2)), table)]
        )
    assert (table.numpy()[1] < 0).all() and (table.numpy()[[0, 2]] == 0).all()
    assert {w.filename for w in seen} == {__file__}


@pytest.mark.parametrize("dense_shape", [(3, 2), [3, 2], None])
def test_slices_of_the_same_table_are_taken_in_silence(dense_shape: Any) -> None:
    table = gl.Variable(np.zeros((3, 2), np.float32))
    gl.keras.SGD(1.0).apply_gradients(
        [(gl.IndexedSlices(np.ones((1, 2), np.float32), [1], dense_shape), table)]
    )
    assert table.numpy()[1].tolist() == [-1, -1]
