"""tf.raw_ops of the accumulators: TensorFlow's signatures, its checks, and the calls that kill it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.raw_ops.accumulators import Handle
from tests.differences import differs
from tests.golden.tensorflow_values import tensorflow

ops: Any = gl.raw_ops
F32 = np.dtype(np.float32)
OPS = [name for name in vars(ops) if "Accumulator" in name]
MAKERS = [name for name in OPS if name.endswith("ConditionalAccumulator")]


def dense(**given: Any) -> Any:
    return ops.ResourceConditionalAccumulator(**{"dtype": F32, "shape": [1], **given})


def ref(**given: Any) -> Any:
    return ops.ConditionalAccumulator(**{"dtype": F32, "shape": [1], **given})


def sparse(**given: Any) -> Any:
    return ops.SparseConditionalAccumulator(**{"dtype": F32, "shape": [4, 1], **given})


def apply(handle: Any, gradient: Any = (1.0,), local_step: Any = 0) -> Any:
    return ops.ResourceAccumulatorApplyGradient(
        handle=handle, local_step=local_step, gradient=gradient
    )


def take(handle: Any, num_required: Any = 1, dtype: Any = F32) -> Any:
    return ops.ResourceAccumulatorTakeGradient(
        handle=handle, num_required=num_required, dtype=dtype
    )


def set_step(handle: Any, step: Any) -> None:
    ops.ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=step)


def apply_rows(handle: Any, local_step: Any = 0, **given: Any) -> Any:
    rows = {
        "gradient_indices": [1],
        "gradient_values": [[2.0]],
        "gradient_shape": [4, 1],
        "has_known_shape": True,
    }
    return ops.SparseAccumulatorApplyGradient(
        handle=handle, local_step=local_step, **{**rows, **given}
    )


def state(handle: Any) -> tuple[int, int]:
    return handle.kernel.step, handle.kernel.num_accumulated()


@pytest.mark.parametrize("name", OPS)
def test_arguments_have_names_only(name: str) -> None:
    op = getattr(ops, name)
    parameters = inspect.signature(op).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)
    assert (op.__module__, op.__name__) == ("gradlab.raw_ops", name)
    with pytest.raises(TypeError, match="positional"):
        op(*[None for _ in parameters])


@pytest.mark.tensorflow
def test_signatures_are_tensorflows() -> None:
    raw = tensorflow().raw_ops
    assert [name for name in dir(raw) if "Accumulator" in name] == sorted(OPS)
    for name in OPS:
        mine, theirs = (inspect.signature(getattr(m, name)).parameters.values() for m in (ops, raw))
        assert [(p.name, p.default) for p in mine] == [(p.name, p.default) for p in theirs], name


@differs(
    "ref ops of accumulators in `gl.raw_ops`",
    tensorflow="in a graph only",
    gradlab="at once; an apply returns a `Receipt`",
)
def test_a_round_by_resource_and_by_ref_handle() -> None:
    for prefix, make, handle_type in (("Resource", dense, "resource"), ("", ref, "string_ref")):
        handle = make()
        assert (handle.dtype, repr(handle)[-len(handle_type) - 1 : -1]) == (
            handle_type,
            handle_type,
        )
        run = {
            n: getattr(ops, f"{prefix}Accumulator{n}")
            for n in ("ApplyGradient", "TakeGradient", "NumAccumulated")
        }
        assert run["ApplyGradient"](handle=handle, local_step=0, gradient=[3.0]).accepted
        assert (
            run["ApplyGradient"](
                handle=handle, local_step=np.int32(0), gradient=np.float32([5.0])
            ).count
            == 2
        )
        count = run["NumAccumulated"](handle=handle)
        assert (int(count), count.dtype) == (2, np.int32)
        taken = run["TakeGradient"](handle=handle, num_required=2, dtype="float32")
        assert (taken.tolist(), taken.dtype) == ([4.0], np.float32)
        assert not run["ApplyGradient"](handle=handle, local_step=0, gradient=[1.0]).accepted
        getattr(ops, f"{prefix}AccumulatorSetGlobalStep")(handle=handle, new_global_step=0)
        assert run["ApplyGradient"](handle=handle, local_step=0, gradient=[1.0]).accepted


def test_a_round_of_rows() -> None:
    handle = sparse()
    apply_rows(handle)
    apply_rows(handle, gradient_shape=[9, 9, 9], has_known_shape=False)
    assert int(ops.AccumulatorNumAccumulated(handle=handle)) == 2
    ops.AccumulatorSetGlobalStep(handle=handle, new_global_step=5)
    assert apply_rows(handle, local_step=4).accepted is False
    taken = ops.SparseAccumulatorTakeGradient(handle=handle, num_required=2, dtype=F32)
    assert [x.tolist() for x in taken] == [[1], [[2.0]], [4, 1]] and taken._fields == (
        "indices",
        "values",
        "shape",
    )
    assert state(handle) == (6, 0)


def test_the_accumulators_of_objects_are_handles_too() -> None:
    acc = gl.ConditionalAccumulator(F32, [1])
    assert apply(acc.accumulator_ref).accepted and acc.num_accumulated() == 1
    rows = gl.SparseConditionalAccumulator(F32)
    assert apply_rows(rows.accumulator_ref).accepted and rows.num_accumulated() == 1


def test_jax_stays_jax() -> None:
    handle = dense()
    apply(handle, jnp.ones(1))
    assert isinstance(take(handle), jax.Array)


def test_shapes_are_looked_at_only_where_a_gradient_is_fresh() -> None:
    handle = dense()
    ops.ResourceAccumulatorSetGlobalStep(handle=handle, new_global_step=1)
    assert apply(handle, [1.0, 2.0], local_step=0).accepted is False
    with pytest.raises(gl.errors.InvalidArgumentError):
        apply(handle, [1.0, 2.0], local_step=1)
    assert state(handle) == (1, 0)


@differs(
    "accumulators of `raw_ops` without a shared_name",
    tensorflow="may be one",
    gradlab="are distinct",
)
def test_a_shared_name_is_one_accumulator_in_one_container() -> None:
    first, second = dense(shared_name="a"), dense(shared_name="a")
    elsewhere, unnamed = dense(shared_name="a", container="c"), dense()
    apply(first)
    assert [state(h)[1] for h in (first, second, elsewhere, unnamed)] == [1, 1, 0, 0]


@pytest.mark.parametrize("size", [[-1], [None], 1, (1,), None])
def test_sizes_may_be_unknown(size: Any) -> None:
    assert apply(dense(shape=size)).accepted


class TestRefused:
    """An error, and the accumulator as it was."""

    @pytest.mark.parametrize("name", [name for name in OPS if name not in MAKERS])
    def test_handles_of_the_other_type(self, name: str) -> None:
        of_resource = name.startswith("Resource")
        wrong: Any = ref() if of_resource else dense()
        usual: dict[str, Any] = {"dtype": F32, "has_known_shape": True, "gradient_shape": [1]}
        given = {p: usual.get(p, 1) for p in inspect.signature(getattr(ops, name)).parameters}
        del given["handle"], given["name"]
        message = (
            f"takes a handle of type {'resource' if of_resource else 'string_ref'}, got a "
            f"{wrong.dtype}"
        )
        with pytest.raises(TypeError, match=message):
            getattr(ops, name)(handle=wrong, **given)
        assert state(wrong) == (0, 0)
        for nothing, error in ((None, ValueError), (3, TypeError), ("x", TypeError)):
            with pytest.raises(error, match="handle"):
                getattr(ops, name)(handle=nothing, **given)

    def test_handles_of_the_other_kind(self) -> None:
        with pytest.raises(gl.errors.NotFoundError, match="for dense accumulators"):
            ops.AccumulatorApplyGradient(handle=sparse(), local_step=0, gradient=[1.0])
        with pytest.raises(gl.errors.InvalidArgumentError, match="for sparse accumulators"):
            apply_rows(ref())

    @pytest.mark.parametrize(
        ("act", "error"),
        [
            pytest.param(
                lambda h: apply(h, local_step=[0, 0]),
                gl.errors.InvalidArgumentError,
                id="two steps",
            ),
            pytest.param(
                lambda h: apply(h, local_step=[]), gl.errors.InvalidArgumentError, id="no step"
            ),
            pytest.param(
                lambda h: take(h, [1]), gl.errors.InvalidArgumentError, id="take one in a list"
            ),
            pytest.param(
                lambda h: take(h, [1, 1]), gl.errors.InvalidArgumentError, id="take two in a list"
            ),
            pytest.param(
                lambda h: apply(h, np.float64([1.0])),
                gl.errors.InvalidArgumentError,
                id="another dtype",
            ),
            pytest.param(
                lambda h: take(h, 1, np.float64),
                gl.errors.InvalidArgumentError,
                id="take of another dtype",
            ),
            pytest.param(
                lambda h: dense(shared_name="it", dtype="float64"),
                gl.errors.InvalidArgumentError,
                id="one name, two dtypes",
            ),
            pytest.param(lambda h: apply(h, [1]), gl.errors.InvalidArgumentError, id="integers"),
            pytest.param(
                lambda h: apply(h, local_step=[0]),
                gl.errors.InvalidArgumentError,
                id="one step in a list",
            ),
            pytest.param(lambda h: apply(h, local_step=1.5), TypeError, id="step 1.5"),
            pytest.param(
                lambda h: apply(h, local_step=2**63), gl.errors.InvalidArgumentError, id="65 bits"
            ),
            pytest.param(lambda h: apply(h, local_step="a"), TypeError, id="step a"),
            pytest.param(lambda h: apply(h, local_step=None), ValueError, id="step None"),
            pytest.param(lambda h: apply(h, None), ValueError, id="gradient None"),
            pytest.param(lambda h: apply(h, "a"), TypeError, id="gradient a"),
            pytest.param(
                lambda h: jax.jit(lambda g: apply(h, g).count)(jnp.ones(1)), TypeError, id="traced"
            ),
            pytest.param(
                lambda h: set_step(h, [5, 6]), gl.errors.InvalidArgumentError, id="set two"
            ),
            pytest.param(
                lambda h: set_step(h, [5]), gl.errors.InvalidArgumentError, id="set one in a list"
            ),
            pytest.param(lambda h: set_step(h, 2.5), TypeError, id="set 2.5"),
            pytest.param(lambda h: set_step(h, None), ValueError, id="set None"),
            pytest.param(lambda h: take(h, 0), gl.errors.InvalidArgumentError, id="take 0"),
            pytest.param(lambda h: take(h, -1), gl.errors.InvalidArgumentError, id="take -1"),
            pytest.param(lambda h: take(h, 1.5), TypeError, id="take 1.5"),
            pytest.param(lambda h: take(h, None), ValueError, id="take None"),
            pytest.param(lambda h: take(h, 1, None), TypeError, id="take of no dtype"),
            pytest.param(lambda h: take(h, 1, "nonsense"), TypeError, id="take of nonsense"),
        ],
    )
    def test_dense(self, act: Callable[[Any], Any], error: type[Exception]) -> None:
        handle = dense(shared_name="it")
        apply(handle)
        with pytest.raises(error):
            act(handle)
        assert state(handle) == (0, 1) and take(handle).tolist() == [1.0]

    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"gradient_indices": [4]}, gl.errors.InvalidArgumentError),
            ({"has_known_shape": 1}, TypeError),
        ],
    )
    def test_rows(self, given: dict[str, Any], error: type[Exception]) -> None:
        handle = sparse()
        apply_rows(handle)
        with pytest.raises(error):
            apply_rows(handle, **given)
        assert state(handle) == (0, 1)


def test_a_handle_says_what_it_is() -> None:
    handle = dense(shared_name="mine")
    assert (
        isinstance(handle, Handle)
        and repr(handle) == "<gradlab.raw_ops.Handle 'mine' dtype=resource>"
    )
