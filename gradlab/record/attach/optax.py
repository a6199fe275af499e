"""The recorder as a gradient transformation that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._base.extras import need
from ..._base.numbers import counted
from ...errors import InvalidArgumentError, RecordingWarning, warn
from .. import Recorder

if TYPE_CHECKING:
    import jax
    import optax

_MISSING = (
    "whose gradients held NaN or Inf could not be recorded: optax.apply_if_finite took back the "
    "recorder inside of it. To have all steps, put the recorder around it: "
    "gl.record.optax(recorder, around=optax.apply_if_finite(...))"
)
_LEFT_OUT = (
    "optax.MultiSteps leaves out batches that should_skip_update_fn refuses and counts them "
    "nowhere, and the recorder inside of it never sees them. To have all batches, put the recorder "
    "around it: gl.record.optax(recorder, around=optax.MultiSteps(...).gradient_transformation())"
)


class RecordState(NamedTuple):
    """State of `record`: the columns so far, under a name that is static. Not in TensorFlow.

    A tree of tuples, dicts and arrays alone, so that pickle, flax's `to_bytes` and other
    checkpoints take it.

    >>> import jax.numpy as jnp
    >>> record(Recorder(3), name="before").init({"w": jnp.ones(2)}).name
    'before'
    """

    named: dict[str, dict[str, jax.Array]]
    around: Any = ()

    @property
    def name(self) -> str:
        (name,) = self.named
        return name

    @property
    def columns(self) -> dict[str, jax.Array]:
        """The state of the recorder."""
        return self.named[self.name]


def record(
    recorder: Recorder,
    *,
    name: str = "gradients",
    like: Any = None,
    scalars: Sequence[str] = (),
    around: optax.GradientTransformation | None = None,
    weights: bool = False,
) -> optax.GradientTransformationExtraArgs:
    """Record the gradients that come by, on the device, and hand them on as they are.

    Every call of `update` is a step: in front of `optax.MultiSteps` each micro-batch, inside of it
    each mean that the optimizer uses. `update(..., scale=..., skipped=...)` mark a step as
    `Recorder.record` has it; a loop that takes the state of its optimizer back after such a step
    has to keep that of the recorder. A step for which your own code does not call `update`, as
    `if isfinite(norm):` around it does, leaves no trace here, and later ones are numbered too
    low: call it for each, with `optax.apply_if_finite` as `around`.

    On several devices gradients are to be the averaged ones, and their sharding is whatever it is.
    Inside `shard_map` each device has only its own part of a gradient that is sharded there: update
    outside of it.

    Args:
        recorder: says how many steps there is room for. It stays empty; `absorb` gives the one with
            the records.
        name: tells several of them in one chain apart.
        like: an example of the gradients where they do not have the shapes of params:
            IndexedSlices.
        scalars: names of numbers to record as well: `update(gradients, state, params, loss=...)`.
            One of them may be "micro_norms", the norms of the gradients that these are the mean of,
            for `Recorder.noise_scale`: under pmap and shard_map `jax.lax.all_gather(norm, axis)` of
            each device's.
        around: a transformation to run on the gradients, in place of handing them on, that may
            refuse some: `optax.apply_if_finite(...)`. Steps of which the gradients are not finite
            and all updates 0 are marked as skipped. Inside of `apply_if_finite` they would be lost;
            `absorb` can only say how many.
        weights: norms of params and updates as well, in every `recorder.sample_every`-th step:
            `Recorder.updates`. The updates are those of `around`, which is to be all that moves the
            weights. They are kept until they are looked at: memory of their size in every step, and
            on a processor half as much time again.

    Raises ValueError for what `gl.Recorder` refuses: other tensors than at init, steps < 1,
    gradients that differ between the devices of `shard_map`; weights without `around`, or without
    params. ImportError: optax is missing.

    Not in TensorFlow.

    >>> import jax, jax.numpy as jnp, optax
    >>> rec = Recorder(steps=10)
    >>> tx, w = optax.chain(record(rec), optax.sgd(0.1)), {"w": jnp.ones(2)}
    >>> state, step = tx.init(w), jax.jit(tx.update)
    >>> for scale in (1.0, 2.0):
    ...     updates, state = step({"w": jnp.float32([3.0, 4.0]) * scale}, state, w)
    >>> absorb(rec, state).global_norm.tolist()
    [5.0, 10.0]
    >>> tx = record(rec, around=optax.apply_if_finite(optax.sgd(0.1), 5))
    >>> updates, state = jax.jit(tx.update)({"w": jnp.float32([jnp.inf, 1.0])}, tx.init(w), w)
    >>> absorb(rec, state).skipped_steps
    1
    """
    need("jax", "gl.optax")  # which optax itself needs
    optax = need("optax", "gl.optax", "optax")
    if taken := {"scale", "skipped"} & set(scalars):
        raise InvalidArgumentError(
            f"{', '.join(sorted(taken))} marks a step and is always taken; leave it out of scalars"
        )
    if weights and around is None:
        raise InvalidArgumentError(
            "weights=True compares params with the updates of what is around: give record(..., "
            "around=optax.adamw(...))"
        )
    inner = None if around is None else optax.with_extra_args_support(around)

    def init(params: Any) -> RecordState:
        columns = recorder.init(
            params if like is None else like,
            weights=params if weights else None,
            **dict.fromkeys(scalars, 0.0),
        )
        return RecordState({name: columns}, () if inner is None else inner.init(params))

    def update(
        grads: Any, state: RecordState, params: Any = None, **extra: Any
    ) -> tuple[Any, RecordState]:
        given = {each: extra[each] for each in (*scalars, "scale", "skipped") if each in extra}
        updates, after = grads, state.around
        if inner is not None:
            updates, after = inner.update(grads, state.around, params, **extra)
            given["skipped"] = _refused(grads, updates) | given.get("skipped", False)
        if weights:
            if params is None:
                raise InvalidArgumentError(
                    "weights=True needs params: update(gradients, state, params)"
                )
            given |= {"weights": params, "updates": updates}
        return updates, RecordState({name: recorder.update(state.columns, grads, **given)}, after)

    return optax.GradientTransformationExtraArgs(init, update)


def _refused(grads: Any, updates: Any) -> jax.Array:
    """Tell whether gradients held NaN or Inf and nothing was made of them."""
    from ..._base.jax import jax, jnp

    finite = [jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]
    still = [(u == 0).all() for u in jax.tree.leaves(updates)]
    return ~jnp.stack(finite).all() & jnp.stack(still).all()


def absorb(recorder: Recorder, state: Any, name: str | None = None) -> Recorder:
    """The recorder with what a run has recorded; `recorder` stays as it is, ready for another run.

    Where `optax.apply_if_finite` is around `record`, the steps that it took back are
    `missing_steps`, and a `gl.errors.RecordingWarning` says so. Should it have let steps through,
    those count as recorded if gradients were not finite where `record` is.

    Args:
        recorder: the one given to `record`.
        state: the state of the whole optimizer, or any tree with a `RecordState` in it; of `pmap`
            with all replicas.
        name: which one, if there are several.

    Raises:
        ValueError: no records of this name, or several and no name; replicas, or devices of
            `shard_map`, that recorded different gradients.

    Not in TensorFlow.

    >>> import jax, jax.numpy as jnp
    >>> rec = Recorder(steps=10)
    >>> tx = record(rec)
    >>> _, state = jax.jit(tx.update)({"w": jnp.ones(4)}, tx.init({"w": jnp.ones(4)}))
    >>> absorb(rec, state)
    <gradlab.Recorder: 1 step of w>
    """
    found = list(_records(state))
    wanted = [(x, around) for x, around in found if name in (None, x.name)]
    if len(wanted) != 1:
        names = ", ".join(repr(x.name) for x, _ in found) or "none"
        raise ValueError(
            f"state must hold one record of the name asked for, {name!r}; it holds {names}"
        )
    ((record, around),) = wanted
    refused = [
        int(np.max(wrapper.total_notfinite)) for wrapper in around if _is_finite_only(wrapper)
    ]
    after = recorder.absorb(record.columns, nonfinite=max(refused, default=None))
    if refused and after.missing_steps:
        warn(f"{counted(after.missing_steps, 'step')} {_MISSING}", RecordingWarning)
    if len(refused) < len(around):
        warn(_LEFT_OUT, RecordingWarning)
    return after


def _records(
    state: Any, around: tuple[Any, ...] = ()
) -> Iterator[tuple[RecordState, tuple[Any, ...]]]:
    """Each state of a recorder in a tree, and the states around it of what may take it back."""
    from ..._base.jax import jax

    for x in jax.tree.leaves(
        state, is_leaf=lambda x: isinstance(x, RecordState) or _inside(x) is not None
    ):
        if isinstance(x, RecordState):
            yield x, around
            yield from _records(x.around, around)
        elif (inner := _inside(x)) is not None:
            yield from _records(inner, (*around, x))


def _is_finite_only(x: Any) -> bool:
    return hasattr(x, "total_notfinite") and hasattr(x, "inner_state")


def _inside(x: Any) -> Any:
    """Return the inner state of `optax.apply_if_finite`, or of an `optax.MultiSteps` that skips
    batches; else None.
    """
    if _is_finite_only(x):
        return x.inner_state
    return (
        x.inner_opt_state
        if hasattr(x, "inner_opt_state") and getattr(x, "skip_state", ()) != ()
        else None
    )
