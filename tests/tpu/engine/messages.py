"""Configurations for Hypothesis: any at all, and some that engines could have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gradlab.tpu import TPUEmbeddingConfiguration
from gradlab.tpu.engine.messages import FORMS
from gradlab.tpu.engine.wire import is_repeated

OPTIMIZERS = [f.message for f in FORMS if f.message != "user_defined_program"]


def values(field: Any) -> st.SearchStrategy[Any]:
    """Whatever a field may hold, as an argument of its message's class."""
    kind = field.type
    if field.message_type is not None and field.message_type.name == "HloModuleProto":
        one: Any = st.fixed_dictionaries({}, optional={"name": st.text(max_size=3)})
    elif field.message_type is not None:
        one = arguments(field.message_type)
    elif field.enum_type is not None:
        one = st.sampled_from([v.name for v in field.enum_type.values])
    elif kind == field.TYPE_FLOAT:
        one = st.floats(width=32, allow_nan=False)
    elif kind == field.TYPE_BOOL:
        one = st.booleans()
    elif kind == field.TYPE_STRING:
        one = st.text(max_size=3)
    else:
        bits = 63 if kind == field.TYPE_INT64 else 31
        one = st.integers(-(2**bits), 2**bits - 1)
    return st.lists(one, max_size=3) if is_repeated(field) else one


def arguments(message: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Any message of a type: every field given or left out, of a oneof one at most."""
    free = {
        f.name: st.deferred(lambda f=f: values(f))
        for f in message.fields
        if f.containing_oneof is None
    }
    plain = st.fixed_dictionaries({}, optional=free)
    chosen = [
        st.one_of(st.just({}), *(values(f).map(lambda x, f=f: {f.name: x}) for f in o.fields))
        for o in message.oneofs
    ]
    return st.tuples(plain, *chosen).map(
        lambda parts: {k: v for part in parts for k, v in part.items()}
    )


@st.composite
def configurations(draw: Any) -> TPUEmbeddingConfiguration:
    """Of a few tables and features, old layout or new, with and without SPMD; most can be run."""
    made = TPUEmbeddingConfiguration(
        mode="TRAINING", batch_size_per_tensor_core=draw(st.integers(0, 5))
    )
    for _ in range(draw(st.integers(1, 3))):
        rows, width, count = draw(
            st.tuples(st.integers(1, 30), st.integers(1, 5), st.integers(0, 3))
        )
        t = made.table_descriptor.add(vocabulary_size=rows, dimension=width, num_features=count)
        optimizer(draw, t.optimization_parameters)
    for _ in range(draw(st.integers(0, 3))):
        shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
        made.feature_descriptor.add(
            table_id=draw(st.integers(0, len(made.table_descriptor) - 1)), input_shape=shape
        )
    spmd = made.spmd_sharding
    spmd.enabled, spmd.use_manual_partitioning = draw(st.booleans()), draw(st.booleans())
    spmd.num_cores_per_replica = draw(st.integers(1, 4))
    made.num_tensor_cores = draw(st.sampled_from([0, 4, 12]))
    return made


def optimizer(draw: Any, p: Any) -> None:
    """Any of them, with a rate of any kind and some of what happens around it."""
    getattr(p, draw(st.sampled_from(OPTIMIZERS))).SetInParent()
    p.gradient_accumulation_status = draw(st.integers(0, 2))
    if draw(st.booleans()):
        p.learning_rate.dynamic.tag = draw(st.integers(0, 1))
    else:
        p.learning_rate.constant = draw(st.floats(0, 1, width=32))
    if draw(st.booleans()):
        p.clipping_limits.lower.value, p.clipping_limits.upper.value = draw(
            st.tuples(*[st.integers(-1, 3)] * 2)
        )
