"""A train step of tables and a dense tower: lookup, loss, the gradients of both, the updates of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._base.arrays import Array, is_inexact
from ..._base.extras import need
from ..._base.jax import jax, jnp
from ...errors import InvalidArgumentError
from ..batch import Batch, PlacedBatch
from ..lookup import lookup
from ..plan import Plan
from ..row_owners import OnMesh
from ..state import State
from ..update import (
    RowSums,
    Step,
    after_lookup,
    check_gradients,
    check_rates,
    merge_row_sums,
    row_sums,
    submit_step,
)
from .train_state import TrainState, place_data, place_tower

if TYPE_CHECKING:
    import optax

Batches = Batch | PlacedBatch | list[Batch | PlacedBatch]
Rate = float | Callable[[Any], Any]


class Gradients(NamedTuple):
    """The result of one batch: the loss (and aux), the gradient of the tower, the sums of each table's rows."""

    value: Any
    tower: Any
    rows: tuple[RowSums, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Training:
    """Settings of training tables and a tower: the loss, the tower's optimizer, the rates of the tables.

        activations = lookup(tables, batch);   value = loss(activations, params, data)
        tables = update(tables, d value / d activations);   params = params + optimizer(d value / d params)

    Both are updated from the same loss, as it was before either of them moved. `step` is compiled
    once for each shape of batch and data; it donates the state, so that tables, slots, tower and
    optimizer are changed where they are, and the state it was given must not be used again. On a
    mesh the tower is copied to every device, or stays sharded as it was, and arrays of data are
    split along their first axis; axes may be explicit.

    Args:
        loss: gets the activations (a tuple with an array for each feature), the tower and `data`;
            gives a scalar, the mean over samples. With `has_aux` a pair of it and any tree.
        optimizer: an optax transformation for the tower; extra arguments of its update may be
            `value`, the loss.
        learning_rates: for each tag of the plan a number or a schedule, a function of the steps
            made before (int32).
        dtype: that of the activations and of the tower in the loss, bfloat16 for one, and so that
            of their gradients. The tower itself, sums of rows and of gradients, and tables stay
            float32.

    Raises:
        TypeError: a loss that cannot be called, or an optimizer without `init` and `update`.
        ModuleNotFoundError: optax is missing.

    Not in TensorFlow, where a step is ops between which gradients are tied to activations by name.

    >>> import jax.numpy as jnp, numpy as np, optax
    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 4, 2, learning_rate=0.5),), (Feature("f", 0, (2,)),))
    >>> def loss(activations, params, data):
    ...     return ((activations[0] @ params["w"] - data) ** 2).mean()
    >>> training = Training(loss, optax.sgd(0.1))
    >>> state = training.init(create(plan, [jnp.ones((4, 2))]), {"w": jnp.ones(2)})
    >>> batch = make_batch(plan, {"f": Ids([0, 1], [3, 1])})
    >>> value, state = training.step(state, batch, np.float32([1, 2]))
    >>> float(value), state.tables.tables[0][3].tolist(), state.params["w"].tolist() == [np.float32(0.9)] * 2
    (0.5, [0.5, 0.5], True)
    """

    loss: Callable[[Any, Any, Any], Any]
    optimizer: optax.GradientTransformation
    learning_rates: Sequence[Rate] = ()
    dtype: Any = None
    has_aux: bool = False

    def __post_init__(self) -> None:
        if not callable(self.loss):
            raise TypeError(
                f"loss must be a function of activations, params and data, got {self.loss!r}"
            )
        if not all(callable(getattr(self.optimizer, name, None)) for name in ("init", "update")):
            raise TypeError(f"optimizer must be an optax transformation, got {self.optimizer!r}")
        object.__setattr__(
            self,
            "optimizer",
            need("optax", "Training", "optax").with_extra_args_support(self.optimizer),
        )
        object.__setattr__(self, "learning_rates", tuple(self.learning_rates))

    def init(self, tables: State, params: Any) -> TrainState:
        """Return the state before the first step: these tables, and a copy of the tower where they are.

        Raises:
            InvalidArgumentError: a tower on other devices than the tables, a leaf of it that has no
                gradients, another number of rates than the plan has tags, or a schedule whose value
                isn't a scalar.
            TypeError: a leaf that isn't an array.
        """
        self._check_rates(tables.plan)
        tables = jax.tree.map(jnp.asarray, tables)
        like = next(iter(tables.tables), jnp.zeros(()))
        tower = place_tower(tables.placement, like, params, "params")
        for path, x in jax.tree_util.tree_leaves_with_path(tower):
            if not is_inexact(x.dtype):
                raise InvalidArgumentError(
                    f"params{jax.tree_util.keystr(path)} is {x.dtype}, which has no gradient; give "
                    "it in data or in the loss"
                )
        carried = place_tower(
            tables.placement, like, self.optimizer.init(tower), "the optimizer's state"
        )
        return TrainState(
            tables, tower, carried, place_tower(tables.placement, like, jnp.int32(0), "step")
        )

    def step(self, state: TrainState, batch: Batches, data: Any) -> tuple[Any, TrainState]:
        """Return the loss before a step and the state after it. The state given is donated.

        A list of batches and one of data as long accumulate gradients: one update of tower and
        tables, by the mean of their losses, as if they were one batch.

        Raises:
            InvalidArgumentError: a batch that was not arranged for the mesh, data that its devices
                cannot share, lists of different lengths, or a loss that isn't a scalar.
        """
        batches, parts = _as_lists(batch, data)
        parts = [place_data(state.tables.placement, part) for part in parts]
        shardings = _shardings(state)
        if len(parts) == 1:
            value, state = self._compiled_step(state, batches[0], parts[0], shardings)
        else:
            gradients = []
            for one_batch, part in zip(batches, parts, strict=True):
                gradients.append(self._compiled_gradients(state, one_batch, part, len(parts)))
            value, state = self._compiled_apply(state, gradients, shardings)
        return value, state

    def evaluate(
        self,
        state: TrainState,
        batch: Batch | PlacedBatch,
        data: Any,
        function: Callable[..., Any] | None = None,
    ) -> Any:
        """Return `function(activations, params, data)`, by default the loss.

        Nothing is updated or donated.
        """
        data = place_data(state.tables.placement, data)
        return self._compiled_evaluate(state, batch, data, function or self.loss)

    @cached_property
    def _compiled_step(self) -> Any:
        def step(state: TrainState, batch: Any, data: Any, shardings: Any) -> Any:
            return self._apply(state, [self._gradients(state, batch, data, 1)], shardings)

        return jax.jit(step, donate_argnums=0, static_argnums=3)

    @cached_property
    def _compiled_gradients(self) -> Any:
        return jax.jit(self._gradients, static_argnums=3)

    @cached_property
    def _compiled_apply(self) -> Any:
        return jax.jit(self._apply, donate_argnums=0, static_argnums=2)

    @cached_property
    def _compiled_evaluate(self) -> Any:
        def evaluate(state: TrainState, batch: Any, data: Any, function: Any) -> Any:
            activations = self._cast(lookup(state.tables, batch)[0])
            value = function(activations, self._cast(state.params), data)
            placement = state.tables.placement
            if not isinstance(placement, OnMesh):
                return value
            return placement.pinned(value, jax.tree.map(lambda _: placement.everywhere, value))

        return jax.jit(evaluate, static_argnums=3)

    def _gradients(self, state: TrainState, batch: Any, data: Any, parts: int) -> Gradients:
        """Return the gradients of one of `parts` batches; the loss of the step is the mean of their
        losses.
        """

        def share(activations: Any, params: Any) -> Any:
            result = self.loss(activations, self._cast(params), data)
            value, aux = result if self.has_aux else (result, None)
            if jnp.shape(value):
                raise InvalidArgumentError(
                    f"the loss must be a scalar, got shape {jnp.shape(value)}; take its mean"
                )
            return jnp.asarray(value, jnp.float32) / parts, aux

        tables = state.tables
        activations, dedup = lookup(tables, batch)
        activations = self._cast(activations)
        (value, aux), (rows, tower) = jax.value_and_grad(share, argnums=(0, 1), has_aux=True)(
            activations, state.params
        )
        rows = after_lookup(
            lambda x: jax.grad(share, has_aux=True)(x, state.params)[0], activations, rows
        )
        check_gradients(tables.plan, rows)
        sums = row_sums(tables.plan, rows, dedup, tables.placement)
        return Gradients((value, aux) if self.has_aux else value, tower, sums)

    def _apply(
        self, state: TrainState, parts: list[Gradients], shardings: Any
    ) -> tuple[Any, TrainState]:
        """Return the loss and the state after the update by the gradients of all batches of a step."""
        tables = state.tables
        tower = jax.tree.map(lambda *g: sum(g[1:], g[0]), *(part.tower for part in parts))
        loss = sum(part.value[0] if self.has_aux else part.value for part in parts)
        updates, carried = self.optimizer.update(tower, state.optimizer, state.params, value=loss)
        params = jax.tree.map(lambda p, u: jnp.asarray(p + u, p.dtype), state.params, updates)
        if shardings is not None and isinstance(tables.placement, OnMesh):
            params, carried = tables.placement.pinned(
                (params, carried), jax.tree.unflatten(*shardings)
            )
        sums = merge_row_sums(tables.plan, [part.rows for part in parts], tables.placement)
        tables = submit_step(tables, Step(sums, self._rates(tables.plan, state.step)))
        value: Any = loss
        if self.has_aux:
            aux = [part.value[1] for part in parts]
            value = (loss, aux[0] if len(parts) == 1 else aux)
        return value, TrainState(tables, params, carried, state.step + 1)

    def _cast(self, tree: Any) -> Any:
        if self.dtype is None:
            return tree
        return jax.tree.map(lambda x: x.astype(self.dtype) if is_inexact(x.dtype) else x, tree)

    def _rates(self, plan: Plan, step: Array) -> tuple[Array, ...]:
        return check_rates(
            plan, [rate(step) if callable(rate) else rate for rate in self.learning_rates]
        )

    def _check_rates(self, plan: Plan) -> None:
        """Refuse rates that do not fit before anything is compiled."""
        jax.eval_shape(lambda step: self._rates(plan, step), jnp.int32(0))


def _as_lists(batch: Batches, data: Any) -> tuple[list[Any], list[Any]]:
    """Return a list of batches and one of data, as long; those given, or one of each."""
    if not isinstance(batch, list):
        return [batch], [data]
    if not isinstance(data, list) or len(data) != len(batch) or not batch:
        got = (
            f"{len(data)} data"
            if isinstance(data, list)
            else f"data that are a {type(data).__name__}"
        )
        raise InvalidArgumentError(
            f"a list of batches needs a list of data as long; got {len(batch)} batches, {got}"
        )
    return batch, data


def _shardings(state: TrainState) -> Any:
    """Return the shardings of tower and optimizer, which they have again after a step; None where
    none are fixed.
    """
    leaves, tree = jax.tree.flatten((state.params, state.optimizer))
    if not isinstance(state.tables.placement, OnMesh) or any(
        isinstance(x, jax.core.Tracer) for x in leaves
    ):
        return None
    return tree, tuple(x.sharding for x in leaves)
