"""Keras's optimizers: gradients in, one step of all variables, iterations counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._base.gradients import Gradient
from .._base.slices import IndexedSlices
from ..clip import ClipReport, clip_report
from ..train.autodiff import Loss, check_variables, differentiate
from ..train.gradient_checks import read_pairs
from ..train.variable import current_collection
from .backend import current_replicas
from .clips import Pair, clipped, dense, warn_of_no_clipping
from .saved import Saved
from .steps import Pairs


class Optimizer(Saved):
    """Base of `Adagrad` and `SGD`; `semantics` selects the version of Keras, see `gl.keras.SEMANTICS`.

    Methods that a version lacks (Keras 3 has no slots, no `minimize`) are there all the same, with its numbers.

    Differs from Keras: a call that raises changes no variable, slot or count, unless `strict="tf"`, where as in Keras
    everything ahead of the bad gradient is done already. Silent traps of a version are `gl.errors.KerasWarning`s.
    """

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], name: str | None = None, experimental_aggregate_gradients: bool = True
    ) -> Any:
        """Update every variable, in order, then count one iteration.

        Args:
            grads_and_vars: iterable of (array, IndexedSlices or None, variable). None is skipped, with a line in the
                log "gradlab" (a warning in "keras3"). [] only makes `iterations`, and returns None.
            name: name of the Operation in a `gl.Graph`.
            experimental_aggregate_gradients: see `gl.keras.Replicas`; no effect on one device. Not in "keras3".

        Returns: `iterations`; in a Graph an Operation to run.

        Raises:
            ValueError: no gradients at all, a shape, dtype or index that does not fit; [] in "keras3".
            TypeError: not pairs, not variables. RuntimeError: slices for a variable with a constraint; in the scope of
            replicas.

        In "tf2.3" it never clips.

        >>> import gradlab as gl
        >>> v = gl.Variable([1.0], name="v")
        >>> gl.keras.SGD(0.5, clipvalue=1.0).apply_gradients([([4.0], v)]).numpy().item(), v.numpy().tolist()
        (1, [0.5])
        """
        if current_replicas() is not None or self._replicas is not None:
            raise RuntimeError("this optimizer steps on all replicas at once: use replicas.apply_gradients(opt, ...)")
        if not experimental_aggregate_gradients and self._version.name == "keras3":
            raise TypeError("Keras 3 has no experimental_aggregate_gradients")
        if not self._version.clips_in_apply:
            warn_of_no_clipping(self._limits)
        return self._apply(grads_and_vars, name, self._version.clips_in_apply, experimental_aggregate_gradients)

    def minimize(
        self,
        loss: Loss,
        var_list: Any,
        grad_loss: Any = None,
        name: str | None = None,
        tape: Any = None,
    ) -> Any:
        """Compute the gradients of a loss, clip them in every version, apply them.

        Args:
            loss: function without arguments that computes with jax.numpy on variables; a vector is summed. Complex
                weights and losses have TensorFlow's gradients, the conjugates of JAX's.
            var_list: variable, nested list of variables, or a function returning one, which runs after the loss has.
            grad_loss: upstream gradient of the loss's shape; comes before the clips.
            name: as of `apply_gradients`. tape: object with `gradient(loss, variables, grad_loss)` (not in "tf2.3").

        Returns: as `apply_gradients`; in a Graph both are done at every run.

        Raises: ValueError or, in "tf2.3", TypeError: the loss is not a function and there is no tape. ValueError:
        var_list is None, no gradients. TypeError: not variables.

        >>> import gradlab as gl
        >>> v = gl.Variable([1.0, -2.0], name="v")
        >>> gl.keras.SGD(0.25, semantics="tf2.3", clipvalue=3.0).minimize(lambda: (v * v).sum(), [v]).numpy().item()
        1
        >>> v.numpy().tolist()
        [0.5, -1.25]
        """

        def pairs() -> Pairs:
            return self._gradients(loss, var_list, grad_loss, tape)

        collection = current_collection()
        if not collection.graph:
            return self._apply(pairs(), name, clip=True)
        scope = name or self._name
        collection.check_scope(scope)
        filled = self._filled(pairs())
        self._create([v for _, v in filled])
        if not filled and self._version.lazy:
            return None
        return collection.finish(lambda: self._step(self._filled(pairs()), clip=True), scope)

    def get_gradients(self, loss: Loss, params: Any) -> list[Gradient]:
        """Gradients of a loss, for a `gl.Graph`; "tf2.3" clips them here.

        Raises ValueError where a parameter has none; outside a Graph, where Keras finds none at all.

        >>> import gradlab as gl
        >>> with gl.Graph().as_default():
        ...     v = gl.Variable([3.0], name="v")
        ...     gl.keras.SGD(clipnorm=1.0, semantics="tf2.3").get_gradients(lambda: (v * v).sum(), [v])[0].tolist()
        [1.0]
        """
        if not current_collection().graph:
            raise ValueError("get_gradients is for `with gl.Graph().as_default():`; use gl.gradients(loss, params)")
        pairs = self._gradients(loss, params, None, None)
        if missing := [v.name for g, v in pairs if g is None]:
            raise ValueError(f"the loss does not depend on {', '.join(missing)}")
        if not self._version.clips_in_apply:
            pairs = clipped(pairs, self._limits, self._version)
        return [g for g, _ in pairs]

    def get_updates(self, loss: Loss, params: Any) -> list[Any]:
        """[the Operation that does one step], for a `gl.Graph`. Raises as `get_gradients`.

        >>> import gradlab as gl
        >>> with gl.Graph().as_default():
        ...     v = gl.Variable([1.0], name="v")
        ...     (step,) = gl.keras.SGD(0.25).get_updates(lambda: (v * v).sum(), [v])
        >>> step.run(), v.numpy().tolist()
        (None, [0.5])
        """
        self.get_gradients(loss, params)
        return [self.minimize(loss, params)]

    def clip_report(self, grads_and_vars: Iterable[Any]) -> ClipReport:
        """Report what the clip arguments do, without a step: norms, factor, entries hit, angle, by variable.

        Not in TensorFlow. In "tf2.3" it is what `minimize` does; `apply_gradients` does nothing there.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([0.0, 0.0], name="v"), gl.keras.SGD(clipnorm=1.0)
        >>> report = opt.clip_report([([3.0, 4.0], v)])
        >>> report.norm_before, round(report.factor, 3), list(report.tensors)
        (5.0, 0.2, ['v:0'])
        """
        pairs = self._unscaled([(self._checked(g, v), v) for g, v in read_pairs(grads_and_vars) if g is not None])
        after = clipped(pairs, self._limits, self._version)
        both = zip(pairs, after, strict=True)
        before = [(g if type(g) is type(c) else dense(g, v.shape), v) for (g, v), (c, _) in both]
        return clip_report(before, after)

    def _gradients(self, loss: Any, var_list: Any, grad_loss: Any, tape: Any) -> Pairs:
        if tape is not None and self._version.name == "tf2.3":
            raise TypeError("minimize has no argument 'tape' in tf2.3")
        if not callable(loss) and tape is None:
            error = TypeError if self._version.name == "tf2.3" else ValueError
            told = "`tape` is required" if error is ValueError else "loss must be a function"
            raise error(f"{told}: loss is no function but {type(loss).__name__}; write lambda: ..., or give tape")
        if callable(var_list):
            loss()  # may make the variables
            var_list = var_list()
        if var_list is None:
            raise ValueError("var_list is None; give the variables to update")
        variables = check_variables(list(_flat(var_list)), "var_list")
        loss = self._scaled(loss)
        if tape is not None:
            value = loss() if callable(loss) else loss
            return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))
        found = differentiate([loss], variables, [grad_loss], complex_losses=True)[0]
        return list(zip(found, variables, strict=True))

    def init(self, values: Any) -> dict[str, Any]:
        """State of the pure form for a tree of weights: a step count and the slots of every leaf."""
        return self._pure_init(values)

    def update(self, state: Any, values: Any, grads: Any, axis_name: Any = None) -> tuple[Any, Any]:
        """(new values, new state): `apply_gradients` as a pure function, for `jit`, `scan`, `vmap` and shards.

        Args:
            grads: tree like `values` of arrays, IndexedSlices or None.
            axis_name: axis of a JAX mesh (or of `vmap`) over which gradients are summed, so that each device brings its
                own. Clips come before the sum in "keras3", after it in "legacy" and "rewrite"; "tf2.3" refuses limits
                here (ValueError).

        >>> import jax, jax.numpy as jnp
        >>> from gradlab.keras import SGD
        >>> w, g = {"a": jnp.zeros(2)}, {"a": jnp.array([[3.0, 4.0], [0.0, 0.5]])}  # one row for each device
        >>> for version in ("legacy", "keras3"):
        ...     opt = SGD(1.0, clipnorm=1.0, semantics=version)
        ...     step = jax.vmap(lambda g: opt.update(opt.init(w), w, g, axis_name="devices")[0], axis_name="devices")
        ...     print(version, [f"{x:.2f}" for x in step(g)["a"][0]])
        legacy ['-0.55', '-0.83']
        keras3 ['-0.60', '-1.30']
        """
        return self._pure_update(state, values, grads, lambda pairs: self._processed(pairs, axis_name))

    def _processed(self, pairs: list[Pair], axis_name: Any) -> list[Pair]:
        """Clip, sum over the axis, transform: in the order of the version."""
        version, limits = self._version, self._limits
        if not version.clips_in_apply:
            if limits and axis_name is not None:
                raise ValueError(f"TensorFlow 2.3 refuses {', '.join(limits)} for replicas; take semantics='legacy'")
            warn_of_no_clipping(limits)
            limits = {}
        before = version.clips_each_replica
        pairs = clipped(pairs, limits, version) if before else pairs
        pairs = pairs if axis_name is None else [(_sum(g, axis_name), w) for g, w in pairs]
        pairs = pairs if before else clipped(pairs, limits, version)
        for transform in self.gradient_transformers:
            pairs = transform(pairs)
        return pairs


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for item in x:
            yield from _flat(item)
    else:
        yield x


def _sum(g: Gradient, axis_name: Any) -> Gradient:
    """The sum over the devices of an axis; slices are joined, to be summed where rows meet."""
    from .._base.jax import jax

    if not isinstance(g, IndexedSlices):
        total: Gradient = jax.lax.psum(g, axis_name)  # type: ignore[no-untyped-call]  # JAX says no types of it
        return total
    values, indices = (jax.lax.all_gather(x, axis_name, tiled=True) for x in (g.values, g.indices))
    return IndexedSlices(values, indices, g.dense_shape)
