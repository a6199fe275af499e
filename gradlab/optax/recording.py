"""The recorder as a gradient transformation that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.extras import need
from ..record import Recorder

if TYPE_CHECKING:
    import jax
    import optax


class RecordState(NamedTuple):
    """What `record` carries: the columns so far, under a name that is static. Not in TensorFlow.

    A tree of tuples, dicts and arrays alone, so that pickle, flax's `to_bytes` and other checkpoints take it.

    >>> import jax.numpy as jnp
    >>> record(Recorder(3), name="before").init({"w": jnp.ones(2)}).name
    'before'
    """

    named: dict[str, dict[str, jax.Array]]

    @property
    def name(self) -> str:
        (name,) = self.named
        return name

    @property
    def columns(self) -> dict[str, jax.Array]:
        """The state of the recorder."""
        return self.named[self.name]


def record(
    recorder: Recorder, *, name: str = "gradients", like: Any = None, scalars: Sequence[str] = ()
) -> optax.GradientTransformationExtraArgs:
    """Record the gradients that come by, on the device, and hand them on as they are.

    Args:
        recorder: says how many steps there is room for. It stays empty; `absorb` gives the one with the records.
        name: tells several of them in one chain apart.
        like: an example of the gradients where they do not have the shapes of params: IndexedSlices.
        scalars: names of numbers to record as well: `update(gradients, state, params, loss=...)`.

    Raises ValueError for what `gl.Recorder` refuses: other tensors than at init, steps < 1. ImportError: optax is
    missing. Not in TensorFlow.

    >>> import jax, jax.numpy as jnp, optax
    >>> rec = Recorder(steps=10)
    >>> tx, w = optax.chain(record(rec), optax.sgd(0.1)), {"w": jnp.ones(2)}
    >>> state, step = tx.init(w), jax.jit(tx.update)
    >>> for scale in (1.0, 2.0):
    ...     updates, state = step({"w": jnp.float32([3.0, 4.0]) * scale}, state, w)
    >>> absorb(rec, state).global_norm.tolist()
    [5.0, 10.0]
    """
    need("jax", "gl.optax")  # which optax itself needs
    optax = need("optax", "gl.optax", "optax")

    def init(params: Any) -> RecordState:
        return RecordState({name: recorder.init(params if like is None else like, **dict.fromkeys(scalars, 0.0))})

    def update(grads: Any, state: RecordState, params: Any = None, **extra: Any) -> tuple[Any, RecordState]:
        given = {scalar: extra[scalar] for scalar in scalars if scalar in extra}
        return grads, RecordState({name: recorder.update(state.columns, grads, **given)})

    return optax.GradientTransformationExtraArgs(init, update)


def absorb(recorder: Recorder, state: Any, name: str | None = None) -> Recorder:
    """The recorder with what a run has recorded; `recorder` stays as it is, ready for another run.

    Args:
        recorder: the one given to `record`.
        state: the state of the whole optimizer, or any tree with a `RecordState` in it.
        name: which one, if there are several.

    Raises ValueError: no records of this name, or several and no name. Not in TensorFlow.

    >>> import jax, jax.numpy as jnp
    >>> rec = Recorder(steps=10)
    >>> tx = record(rec)
    >>> _, state = jax.jit(tx.update)({"w": jnp.ones(4)}, tx.init({"w": jnp.ones(4)}))
    >>> absorb(rec, state)
    <gradlab.Recorder: 1 step of w>
    """
    from .._steps.jax import jax

    found = [x for x in jax.tree.leaves(state, is_leaf=_is_record) if _is_record(x)]
    wanted = [x for x in found if name in (None, x.name)]
    if len(wanted) != 1:
        names = ", ".join(repr(x.name) for x in found) or "none"
        raise ValueError(f"state must hold one record of the name asked for, {name!r}; it holds {names}")
    return recorder.absorb(wanted[0].columns)


def _is_record(x: Any) -> bool:
    return isinstance(x, RecordState)
