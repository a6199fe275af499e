"""Taps on a Keras 3 optimizer and on its model: methods of these objects are wrapped while they are recorded.

    OptimizerTap   where gradients are about to be clipped, and where a loss scaler skips them
    LossTap        the loss of each batch that the model trains on: what the step differentiates, before it is scaled

What Keras tells callbacks is a running mean of losses, weighted by sizes that it does not tell, and
NaN from the first NaN on.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ....errors import InvalidArgumentError
from .ring import Ring, backend

Tensor = Any
Gradients = Sequence[Tensor | None]

# Keras's private parts: nothing public takes a variable off an optimizer, sees the mean of
# micro-batches, or is called for a step that is skipped.
TRACKS = ("_track_variable", "_untrack_variable", "_iterations")
ACCUMULATES = ("_backend_apply_gradients", "_clip_gradients")
SKIPS = ("_stateful_handle_non_finite_grads", "_stateless_handle_non_finite_grads", "dynamic_scale")
KNOWN = "Keras 3.15"  # has all of them


def check_optimizer(outer: Any, inner: Any) -> None:
    """Refuse an optimizer of a Keras that lacks what a tap needs, before anything of it is changed.

    Raises NotImplementedError.
    """
    accumulates = bool(inner.gradient_accumulation_steps)
    needed = TRACKS + (ACCUMULATES if accumulates else ())
    missing = [(inner, name) for name in needed if not hasattr(inner, name)]
    if outer is not inner:
        missing += [(outer, name) for name in SKIPS[:2] if not hasattr(outer, name)]
    if missing:
        owner, names = missing[0][0], [name for _, name in missing]
        instead = (
            "leave out gradient_accumulation_steps"
            if names[0] in ACCUMULATES
            else "write the loop yourself"
        )
        raise NotImplementedError(
            f"gl.record.keras needs {' and '.join(names)}, which this version of Keras does not "
            f"have for {type(owner).__name__}; use {KNOWN}, or {instead}"
        )


class OptimizerTap:
    """Wraps methods of one optimizer, not of its class; `close` leaves it as it was.

    Args:
        outer: the model's optimizer.
        inner: the one in it that clips and steps, the same but for LossScaleOptimizer.
        begin: given the variables that are trained, returns the ring that gets a step for each
            update.
        variables: all that are trained; None if the first step will say.
    """

    def __init__(
        self,
        outer: Any,
        inner: Any,
        begin: Callable[[Sequence[Any]], Ring],
        variables: Sequence[Any] | None,
    ) -> None:
        self._outer, self._inner, self._begin = outer, inner, begin
        self.ring: Ring | None = None
        if variables is not None:
            self._settle(variables)
        # The variables whose gradients are on their way to the clip.
        self._present: Sequence[Any] = ()
        self._scaled: dict[int, Gradients] = {}  # what a loss scaler was given, by replica
        self._current_scale: Tensor | None = None
        means = zip(ACCUMULATES, (self._backend_apply, self._clip), strict=True)
        steps = means if inner.gradient_accumulation_steps else [("apply", self._apply)]
        self._wrapped = [
            *((inner, name, wrap) for name, wrap in steps),
            *((outer, name, wrap) for name, wrap in self._around(outer is not inner)),
            (outer, "save_own_variables", self._without_ring),
            (outer, "load_own_variables", self._without_ring),
        ]
        for owner, name, wrap in self._wrapped:
            vars(owner)[name] = wrap(getattr(owner, name))

    def _around(self, scales: bool) -> list[tuple[str, Callable[..., Any]]]:
        """Wrapper around the model's optimizer, to know its variables and what it skips."""
        if not scales:
            return [("apply", self._settled)] if self.ring is None else []
        handlers = (self._stateful_skip, self._stateless_skip)
        return [
            ("apply", self._scaled_apply),
            ("stateless_apply", self._scaled_stateless_apply),
            *zip(SKIPS[:2], handlers, strict=True),
        ]

    def close(self) -> None:
        """Take the wrappers and the ring's variables off."""
        for owner, name, _ in self._wrapped:
            vars(owner).pop(name, None)
        self._untrack()

    def taken(self) -> int:
        """Return how many batches the optimizer has taken. Waits for the device."""
        return int(self._inner._iterations.numpy())

    def _settle(self, variables: Sequence[Any]) -> None:
        """Know the variables from here on."""
        variables = list(variables)
        if not self._outer.built:
            self._outer.build(variables)
        self._variables, self._numbers = variables, {_key(v): k for k, v in enumerate(variables)}
        self.ring = self._begin(variables)

    def _settle_with(self, variables: Sequence[Any] | None) -> None:
        """Know the variables, at the latest when the first gradients come with them."""
        if self.ring is None:
            if variables is None:
                raise InvalidArgumentError(
                    "gradients came without variables, before any variable was known"
                )
            self._settle(variables)

    def _settled(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Gradients, trainable_variables: Sequence[Any] | None = None) -> Any:
            self._settle_with(trainable_variables)
            return original(grads, trainable_variables)

        return apply

    def _scaled_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Gradients, trainable_variables: Sequence[Any] | None = None) -> Any:
            self._settle_with(trainable_variables)
            replica = threading.get_ident()  # each has a thread
            self._scaled[replica] = self._in_order(grads, trainable_variables)
            try:
                return original(grads, trainable_variables)
            finally:
                del self._scaled[replica]

        return apply

    def _scaled_stateless_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def stateless_apply(
            optimizer_variables: Any, grads: Gradients, trainable_variables: Any
        ) -> Any:
            self._scaled[0] = self._in_order(grads)
            # Within, the scopes of the optimizer inside know only its own variables.
            places = [id(v) for v in self._outer.variables]
            self._current_scale = optimizer_variables[places.index(id(self._outer.dynamic_scale))]
            try:
                return original(optimizer_variables, grads, trainable_variables)
            finally:
                del self._scaled[0]
                self._current_scale = None

        return stateless_apply

    def _stateful_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def handle() -> Any:
            self._append_skipped()
            return original()

        return handle

    def _stateless_skip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def handle(
            optimizer_variables: Sequence[Tensor], trainable_variables: Sequence[Tensor]
        ) -> Any:
            import keras

            variables = self._outer.variables
            mapping = list(zip(variables, optimizer_variables, strict=True))
            with keras.StatelessScope(state_mapping=mapping) as scope:
                self._append_skipped()
            return original([scope.get_current_value(v) for v in variables], trainable_variables)

        return handle

    def _append_skipped(self) -> None:
        scale = self._scale()
        replicas = [
            [self._divided(g, v, scale) for g, v in self._pairs(grads)]
            for grads in self._scaled.values()
        ]
        self._write([_sum(g) for g in zip(*replicas, strict=True)], skipped=True)

    def _apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Gradients, trainable_variables: Sequence[Any] | None = None) -> Any:
            in_order = self._in_order(grads, trainable_variables)
            left = [
                self._divided(g, v, self._inner.loss_scale_factor) for g, v in self._pairs(in_order)
            ]
            if not any(g is not None for g in left):
                return original(grads, trainable_variables)
            self._append(left)
            return self._moving(lambda: original(grads, trainable_variables))

        return apply

    def _moving(self, step: Callable[[], Any]) -> Any:
        """Take a step, and note how far it has moved the weights."""
        assert self.ring is not None
        before = self.ring.weights(self._variables)
        result = step()
        self.ring.move(before, self._variables)
        return result

    def _pairs(self, grads: Gradients) -> zip[tuple[Tensor | None, Any]]:
        return zip(grads, self._variables, strict=True)

    @staticmethod
    def _divided(g: Tensor | None, variable: Any, scale: Any) -> Tensor | None:
        """Return what Keras clips of a gradient: nothing of one that takes the place of its
        variable (float8).
        """
        if g is None or getattr(variable, "overwrite_with_gradient", False):
            return None
        return g if scale is None else g / scale

    def _backend_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
            self._present = variables
            assert self.ring is not None
            self.ring.add_micro_batch(self._in_order(grads, variables))
            return self._moving(lambda: original(grads, variables))

        return apply

    def _clip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(grads: Sequence[Tensor]) -> Any:
            self._append(self._in_order(grads, self._present))
            return original(grads)

        return clip

    def _in_order(self, grads: Gradients, variables: Sequence[Any] | None = None) -> Gradients:
        """A gradient, or None, for each of the variables that are recorded."""
        if variables is None:
            variables = self._variables
        found: list[Tensor | None] = [None] * len(self._variables)
        for g, v in zip(grads, variables, strict=True):
            k = self._numbers.get(_key(v))
            if k is None:
                name = getattr(v, "path", getattr(v, "name", v))
                raise InvalidArgumentError(
                    f"the optimizer got a gradient of {name}, which was not there when recording "
                    "began; build the model, and say which layers are trainable, before that, and "
                    "compile it anew"
                )
            found[k] = g
        return found

    def _append(self, grads: Gradients) -> None:
        """A step that is taken; of several replicas each has a part of its gradients, and all write
        it once.
        """
        if backend() == "tensorflow":
            together(grads, self._write)
        else:
            self._write(grads)

    def _write(self, grads: Gradients, skipped: bool = False) -> None:
        from keras import ops

        assert self.ring is not None
        self.ring.append(
            grads, ops.convert_to_tensor(self._inner._iterations), self._scale(), skipped
        )

    def _scale(self) -> Any:
        """The loss scale of this step."""
        if self._outer is not self._inner:
            return (
                self._outer.dynamic_scale.value
                if self._current_scale is None
                else self._current_scale
            )
        factor = self._inner.loss_scale_factor
        return float("nan") if factor is None else factor

    def _without_ring(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def with_store(store: Any) -> None:
            self._untrack()
            try:
                original(store)
            finally:
                for v in self.ring.variables if self.ring else ():
                    self._inner._track_variable(v)

        return with_store

    def _untrack(self) -> None:
        for v in self.ring.variables if self.ring else ():
            self._inner._untrack_variable(v)


def _sum(parts: Sequence[Tensor | None]) -> Tensor | None:
    """Of what several replicas have of one gradient."""
    there = [g for g in parts if g is not None]
    return functools.reduce(operator.add, there) if there else None


def _key(variable: Any) -> int:
    """Return one key for a Keras variable, the backend's own in it, and a replica's: optimizers get
    any of them.
    """
    if backend() == "jax":  # whose values are others in each scope
        return id(variable)
    bare = variable.value if hasattr(variable, "path") else variable
    container = getattr(bare, "_distributed_container", None)
    return id(container() if container else bare)


def together(grads: Gradients, write: Callable[[Gradients], None]) -> None:
    """Call `write` once, with gradients summed over TensorFlow's replicas, from within each of them."""
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        write(grads)
        return
    there = [k for k, g in enumerate(grads) if g is not None]
    summed = context.all_reduce(
        tf.distribute.ReduceOp.SUM, [tf.convert_to_tensor(grads[k]) for k in there]
    )

    def merged(strategy: Any, summed: Sequence[Any]) -> None:
        whole: list[Tensor | None] = [None] * len(grads)
        for k, g in zip(there, summed, strict=True):
            whole[k] = strategy.experimental_local_results(g)[0]
        write(whole)

    context.merge_call(merged, args=(summed,))


class LossTap:
    """Wraps methods of one model; `close` leaves it as it was.

    A step that works out several losses, or none in the way that Keras's own does, has none that
    is known: NaN.

    Args:
        model: a compiled model.
        ring: gives the ring that notes a loss for each batch, once it is there.
    """

    def __init__(self, model: Any, ring: Callable[[], Ring | None]) -> None:
        self._model, self._ring = model, ring
        self._found: dict[int, list[Tensor]] = {}  # in the step that is traced now, by replica
        # JAX differentiates a function in which the loss is worked out, so it may be looked at only
        # behind that.
        source = "_update_metrics_variables" if backend() == "jax" else "compute_loss"
        vars(model)["train_step"] = self._noting(model.train_step)
        self._wrapped = ["train_step"]
        if hasattr(model, source):
            wrap = self._handed_on if backend() == "jax" else self._worked_out
            vars(model)[source] = wrap(getattr(model, source))
            self._wrapped.append(source)

    def close(self) -> None:
        """Take the wrappers off."""
        for name in self._wrapped:
            vars(self._model).pop(name, None)

    def _find(self, loss: Tensor) -> None:
        """A loss; of a step that is not one of training nobody asks."""
        if (found := self._found.get(_replica())) is not None:
            found.append(loss)

    def _worked_out(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def compute_loss(*args: Any, **kwargs: Any) -> Tensor:
            loss = original(*args, **kwargs)
            self._find(loss)
            return loss

        return compute_loss

    def _handed_on(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def update_metrics_variables(
            metrics: Sequence[Tensor], loss: Tensor, *args: Any, **kwargs: Any
        ) -> Any:
            self._find(loss)
            return original(metrics, loss, *args, **kwargs)

        return update_metrics_variables

    def _noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def train_step(*args: Any) -> Any:
            replica = _replica()
            self._found[replica] = []
            try:
                result = original(*args)
            finally:
                found = self._found.pop(replica)
            loss = found[0] if len(found) == 1 else float("nan")
            return self._with(result, loss)

        return train_step

    def _with(self, result: Any, loss: Tensor | float) -> Any:
        """Return what a step returns, with its loss in the ring."""
        ring = self._ring()
        if ring is None:
            return result
        match backend():
            case "jax":
                return self._in_state(ring, result, loss)
            case "tensorflow":
                # Keras has divided it by the replicas.
                together([loss], lambda whole: ring.note(whole[0]))
            case _:
                ring.note(loss)
        return result

    def _in_state(self, ring: Ring, result: Any, loss: Tensor | float) -> Any:
        """JAX's steps have the variables of the optimizer among what they return."""
        import keras

        logs, (trainable, others, now, metrics) = result
        variables = self._model.optimizer.variables
        with keras.StatelessScope(state_mapping=list(zip(variables, now, strict=True))) as scope:
            ring.note(loss)
        return logs, (trainable, others, [scope.get_current_value(v) for v in variables], metrics)


def _replica() -> int:
    """Each of TensorFlow's replicas has a thread; torch.compile cannot see through such a question."""
    return threading.get_ident() if backend() == "tensorflow" else 0
