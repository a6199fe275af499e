"""The optimizers of Keras as users see them: settings, steps, weights and configs, in front of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from .. import schedules
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from .._base.tensors import compute_now
from ..clip import ClipReport, clip_report
from ..errors import KerasWarning, warn
from ..train.autodiff import Loss, check_variables, describe_in_graph, differentiate
from ..train.gradient_checks import read_pairs
from ..train.hyperparameters import describe
from ..train.state_dict import Commit, Stateful, VariablesByName, check_class
from ..train.variable import Variable, current_collection
from .backend import current_replicas
from .clips import Pair, clip_pairs, make_dense, warn_of_no_clipping
from .engine import Arguments, Pairs, hold
from .keras3 import NewerEngine
from .legacy import LegacyEngine
from .saved import load_engine, save_engine
from .versions import Declaration, Name, Strict, version_of
from .weights import initial_value, slot_start

F = TypeVar("F", bound=Callable[..., Any])


class CallableList(list[Variable]):
    """A list that may be called: `opt.variables()` as up to Keras 2 and in tf_keras, `opt.variables` as in Keras 3."""

    def __call__(self) -> list[Variable]:
        return self


def own_argument(name: str, meaning: str) -> property:
    """Return a property for an argument that the optimizer declares: what it is now, and to be set."""

    def read(self: Optimizer) -> Any:
        return self._engine.read_argument(name)

    def write(self: Optimizer, value: Any) -> None:
        self._engine.write_argument(name, value)

    return property(read, write, doc=meaning)


def _clip_argument(name: str, meaning: str) -> property:
    """Return a property for a clip argument."""

    def read(self: Optimizer) -> Any:
        return self._engine.limits.get(name)

    def write(self: Optimizer, value: Any) -> None:
        self._engine.set_limit(name, value)

    return property(read, write, doc=meaning)


class NewerMethod:
    """A method that only newer versions of Keras have: in the others there is no such attribute, as
    in the original.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__wrapped__ = function  # for doctest and inspect

    def __get__(self, optimizer: Optimizer | None, owner: type | None = None) -> Any:
        if optimizer is None:
            return self.function
        optimizer._engine_with(self.function.__name__)
        return self.function.__get__(optimizer, owner)


def newer_method(function: F) -> F:
    return cast(F, NewerMethod(function))


def _engine_setting(name: str, meaning: str) -> property:
    """Return a property for an attribute of the engine, an AttributeError in versions whose engine
    has none.
    """

    def check(self: Optimizer) -> None:
        if not hasattr(self._engine, name):
            raise AttributeError(f"optimizers of {self._engine.version.name} have no {name}")

    def read(self: Optimizer) -> Any:
        check(self)
        return getattr(self._engine, name)

    def write(self: Optimizer, value: Any) -> None:
        check(self)
        setattr(self._engine, name, value)

    return property(read, write, doc=meaning)


class Optimizer(Stateful):
    """Base of all optimizers here; `semantics` selects the version of Keras, see `gl.keras.VERSIONS`.

    `minimize` and the methods for slots work in Keras 3, too, which lacks them. What only the
    rewrite and Keras 3 have (`build`, `apply`, `weight_decay`, ...) is an AttributeError in the
    other versions.

    Differs from Keras: a call that raises changes no variable, slot or count, unless `strict="tf"`,
    where as in Keras everything ahead of the bad gradient is done already. Each silent trap of a
    version is a `gl.errors.KerasWarning`.
    """

    _declaration: ClassVar[Declaration]
    _engine: LegacyEngine | NewerEngine

    def __init__(
        self,
        name: str | None,
        semantics: Name,
        strict: Strict,
        learning_rate: Any,
        own: Mapping[str, Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        version = version_of(semantics)
        if semantics not in self._declaration.only:
            allowed = ", ".join(map(repr, self._declaration.only))
            raise ValueError(f"{type(self).__name__} is of semantics {allowed}; got {semantics!r}")
        make = LegacyEngine if version.engine == "legacy" else NewerEngine
        self._engine = make(
            Arguments(
                type(self), self._declaration, version, name, strict, learning_rate, own, kwargs
            )
        )

    def __repr__(self) -> str:
        """Make no variables, as `get_config` would."""
        engine = self._engine
        rate = engine.hyper["learning_rate"].value
        if isinstance(rate, Variable):
            rate = rate.numpy().item()
        defaults = engine.version.defaults
        around = engine.settings_around_rule().items()
        changed = {name: x for name, x in around if x != defaults[name]}
        settings = {**engine.own_config(), **engine.limits, **changed}
        return describe(
            self, engine.name, learning_rate=rate, **settings, semantics=engine.version.name
        )

    def __copy__(self) -> Self:
        """Share weights and hyperparameters; other settings are the copy's own."""
        new = object.__new__(type(self))
        vars(new).update(vars(self), _engine=self._engine.view())
        return new

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._engine.declaration = self._declaration

    def _engine_with(self, name: str) -> NewerEngine:
        """Return the engine, of a version that has this attribute (else AttributeError)."""
        engine = self._engine
        is_there = engine.version.name == "keras3" or name not in ("apply", "scale_loss")
        if not isinstance(engine, NewerEngine) or not is_there:
            raise AttributeError(f"optimizers of {engine.version.name} have no {name}")
        return engine

    # Settings

    @property
    def _name(self) -> str:
        """The name in every version, by TensorFlow's attribute."""
        return self._engine.name

    @property
    def name(self) -> str:
        """The name, the first part of those of its variables in Keras 3.

        Not in "tf2.3" and "legacy".
        """
        return self._engine_with("name").name

    @property
    def learning_rate(self) -> Any:
        """A number as the float32 variable that it has become; a schedule as it is; the result of a function.

        Setting a number assigns the variable, setting a schedule takes its place. In "keras3"
        and "rewrite" a schedule cannot be replaced by a number (TypeError), and what is read is
        its rate: of the next step in "keras3", of the last one in "rewrite".

        >>> import gradlab as gl
        >>> opt = gl.keras.SGD(0.5)
        >>> opt.learning_rate = 0.25
        >>> opt.learning_rate, opt.lr.numpy().item()
        (<gradlab.Variable 'learning_rate:0' shape=() dtype=float32>, 0.25)
        """
        return self._engine.learning_rate()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._engine.set_learning_rate(value)

    @property
    def lr(self) -> Any:
        """`learning_rate` under its old name."""
        return self.learning_rate

    @lr.setter
    def lr(self, value: Any) -> None:
        self.learning_rate = value

    @property
    def decay(self) -> Any:
        """The rate is divided by 1 + decay * iterations.

        AttributeError in the versions that have none.
        """
        return self._engine_with_decay().read("decay")

    @decay.setter
    def decay(self, value: Any) -> None:
        self._engine_with_decay().set_decay(value)

    def _engine_with_decay(self) -> LegacyEngine:
        engine = self._engine
        if not isinstance(engine, LegacyEngine):
            raise AttributeError(
                f"optimizers of {engine.version.name} have no decay; use "
                "gl.schedules.InverseTimeDecay"
            )
        return engine

    clipnorm = _clip_argument(
        "clipnorm", "Limit for the norm of each variable's gradient by itself, or None."
    )
    clipvalue = _clip_argument(
        "clipvalue", "Every entry is brought into [-clipvalue, clipvalue], or None."
    )
    global_clipnorm = _clip_argument(
        "global_clipnorm",
        "Limit for the norm of all gradients together, or None. Without "
        'effect in "tf2.3", which has none.',
    )
    weight_decay = _engine_setting(
        "weight_decay", "Each step begins with w - w * weight_decay * lr_t, or None."
    )
    use_ema = _engine_setting("use_ema", "Whether there is a moving average of each variable.")
    ema_momentum = _engine_setting("ema_momentum", "The share of the old average in the new one.")
    ema_overwrite_frequency = _engine_setting(
        "ema_overwrite_frequency",
        "After so many steps variables are set to their averages; None for never.",
    )
    loss_scale_factor = _engine_setting(
        "loss_scale_factor", "Gradients are divided by it, or None."
    )
    gradient_accumulation_steps = _engine_setting(
        "gradient_accumulation_steps",
        "An update takes the mean of the gradients of so many calls, or None.",
    )

    gradient_aggregator = _engine_setting(
        "gradient_aggregator", "The function from pairs to pairs before clips, or None."
    )

    @property
    def gradient_transformers(self) -> list[Callable[[Pairs], Pairs]]:
        """The functions from pairs to pairs after clips."""
        return self._engine.gradient_transformers

    @gradient_transformers.setter
    def gradient_transformers(self, value: Sequence[Callable[[Pairs], Pairs]] | None) -> None:
        self._engine.set_transformers(value)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor by name, as the version gives them.

        The learning rate is a NumPy float32 after the first use (a float in "keras3"), a schedule
        is a dictionary, a function is called. Not TensorFlow's: "semantics" where it is not
        "legacy", and "strict" where it is set.

        >>> import gradlab as gl
        >>> gl.keras.Adagrad(0.5, clipnorm=1.0).get_config()["clipnorm"]
        1.0
        """
        config = self._engine.config()
        if self._engine.version.name != "legacy":
            config["semantics"] = self._engine.version.name
        if self._engine.strict:
            config["strict"] = "tf"
        return config

    def _names_in_config(self) -> tuple[str, str, str | None]:
        """Return module, class and registered name as a serialized config has them."""
        is_legacy = self._engine.version.engine == "legacy"
        module = "keras.optimizers.legacy" if is_legacy else "keras.optimizers"
        return module, type(self).__name__, None

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        """The optimizer of a config, which is changed on the way: `lr` becomes `learning_rate`.

        Args:
            config: what `get_config` gave, here or in TensorFlow.
            custom_objects: your own schedules by name.
            changes: arguments in place of those of the config, `semantics` above all.

        Raises TypeError for unknown names. `Adagrad` does not rebuild a schedule in "tf2.3" and
        "legacy": it warns, and the first step is a ValueError there.

        >>> import gradlab as gl
        >>> gl.keras.SGD.from_config({"lr": 0.5}, semantics="keras3").get_config()["learning_rate"]
        0.5
        """
        version = version_of(changes.get("semantics", config.get("semantics", "legacy")))
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            if cls._declaration.rebuilds_schedules or version.engine == "newer":
                config["learning_rate"] = schedules.deserialize(
                    config["learning_rate"], custom_objects
                )
            else:
                warn(
                    f"{cls.__name__}.from_config of {version.name} does not rebuild a schedule: "
                    "the first step will raise. Pass "
                    "learning_rate=gl.schedules.deserialize(config['learning_rate'])",
                    KerasWarning,
                )
        return cls(**{**config, **changes})

    # Steps

    def apply_gradients(
        self,
        grads_and_vars: Iterable[Any],
        name: str | None = None,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        """Update every variable, in order, then count one iteration.

        Args:
            grads_and_vars: iterable of (array, IndexedSlices or None, variable). None is skipped,
                with a line in the log "gradlab" (a warning in "keras3"). [] only makes
                `iterations`, and returns None.
            name: name of the Operation in a `gl.Graph`.
            experimental_aggregate_gradients: see `gl.keras.Replicas`; no effect on one device. Not
                in "keras3".

        Returns:
            `iterations`; in a Graph an Operation to run.

        Raises:
            ValueError: no gradients at all, a shape, dtype or index that does not fit; [] in
                "keras3".
            TypeError: not pairs, not variables.
            RuntimeError: slices for a variable with a constraint; in the scope of replicas.

        In "tf2.3" it never clips.

        >>> import gradlab as gl
        >>> v = gl.Variable([1.0], name="v")
        >>> gl.keras.SGD(0.5, clipvalue=1.0).apply_gradients([([4.0], v)]).numpy().item(), v.numpy().tolist()
        (1, [0.5])
        """
        engine = self._engine
        version = engine.version
        if current_replicas() is not None or engine.replicas is not None:
            raise RuntimeError(
                "this optimizer steps on all replicas at once: use "
                "replicas.apply_gradients(opt, ...)"
            )
        if not experimental_aggregate_gradients and version.name == "keras3":
            raise TypeError("Keras 3 has no experimental_aggregate_gradients")
        if not version.clips_in_apply:
            warn_of_no_clipping(engine.limits)
        return self._apply(
            grads_and_vars, name, version.clips_in_apply, experimental_aggregate_gradients
        )

    def _apply(
        self, grads_and_vars: Iterable[Any], name: str | None, clip: bool, aggregate: bool = True
    ) -> Any:
        """Step now, or in a Graph describe a step."""
        engine = self._engine
        pairs = self._fill(grads_and_vars)
        if not pairs:
            engine.create([])
            return None if engine.version.engine == "legacy" else self.iterations
        collection = current_collection()
        scope = name or engine.name
        collection.check_scope(scope)
        if collection.graph:
            self._create([v for _, v in pairs])

        def step() -> None:
            # Tensors of a Graph have other values at every run.
            self._step(compute_now(pairs) if collection.graph else pairs, clip, aggregate)

        operation = collection.finish(step, scope)
        return self.iterations if operation is None else operation

    def _fill(self, grads_and_vars: Iterable[Any]) -> Pairs:
        """Return the pairs that have a gradient."""
        return self._engine.fill(grads_and_vars)

    def _create(self, variables: Sequence[Variable]) -> None:
        """Make all that steps of these variables need, for a Graph."""
        self._engine.create(variables)

    def _step(self, pairs: Pairs, clip: bool, aggregate: bool) -> None:
        """Do everything that one step does, or nothing."""
        with self._hold(pairs):
            for commit in self._prepare_step(pairs, clip, aggregate):
                commit()

    def _hold(self, pairs: Pairs) -> AbstractContextManager[None]:
        """Return a context in which no other thread steps these variables."""
        return hold([self._engine], pairs)

    def _prepare_step(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        """Do all of a step that may fail, and return the functions that store its results."""
        return self._engine.prepare_step(pairs, clip, aggregate)

    def _set_scope(self, scope: str) -> None:
        """Put the name of an outer optimizer in front of those of weights that are made later."""
        self._engine.scope = scope

    def _apply_on_replicas(self, replicas: Any, lists: Sequence[Pairs], aggregate: bool) -> None:
        """Make one step on every replica; `replicas` is a `gl.keras.Replicas`."""
        replicas._apply(self, lists, aggregate)

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
            loss: function without arguments that computes with jax.numpy on variables; a vector is
                summed. Complex weights and losses have TensorFlow's gradients, the conjugates of
                JAX's.
            var_list: variable, nested list of variables, or a function returning one, which runs
                after the loss has.
            grad_loss: upstream gradient of the loss's shape; comes before the clips.
            name: as of `apply_gradients`.
            tape: object with `gradient(loss, variables, grad_loss)` (not in "tf2.3").

        Returns:
            as `apply_gradients`; in a Graph both are done at every run.

        Raises: ValueError or, in "tf2.3", TypeError: the loss is not a function and there is no
        tape. ValueError: var_list is None, no gradients. TypeError: not variables.

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
        engine = self._engine
        scope = name or engine.name
        collection.check_scope(scope)
        filled = self._fill(pairs())
        self._create([v for _, v in filled])
        if not filled and engine.version.engine == "legacy":
            return None
        return collection.finish(lambda: self._step(self._fill(pairs()), True, True), scope)

    def get_gradients(self, loss: Loss, params: Any) -> list[Any]:
        """Gradients of a loss, for a `gl.Graph`: tensors, computed at every run; "tf2.3" clips them here.

        Raises ValueError where a parameter has none; outside a Graph, where Keras finds none at
        all.

        >>> import gradlab as gl
        >>> with gl.Graph().as_default():
        ...     v = gl.Variable([3.0], name="v")
        ...     opt = gl.keras.SGD(clipnorm=1.0, semantics="tf2.3")
        ...     (g,) = opt.get_gradients(lambda: (v * v).sum(), [v])
        >>> g.eval().tolist()
        [1.0]
        """
        if not current_collection().graph:
            raise ValueError(
                "get_gradients is for `with gl.Graph().as_default():`; "
                "use gl.gradients(loss, params)"
            )

        def compute() -> list[Gradient | None]:
            pairs = self._gradients(loss, params, None, None)
            missing = [v.name for g, v in pairs if g is None]
            if missing:
                raise ValueError(f"the loss does not depend on {', '.join(missing)}")
            engine = self._engine
            if not engine.version.clips_in_apply:
                pairs = clip_pairs(pairs, engine.limits, engine.version)
            return [g for g, _ in pairs]

        return describe_in_graph(compute)

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

        Not in TensorFlow. In "tf2.3" it is what `minimize` does; `apply_gradients` does nothing
        there.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([0.0, 0.0], name="v"), gl.keras.SGD(clipnorm=1.0)
        >>> report = opt.clip_report([([3.0, 4.0], v)])
        >>> report.norm_before, round(report.factor, 3), list(report.tensors)
        (5.0, 0.2, ['v:0'])
        """
        engine = self._engine
        checked = [
            (engine.check_gradient(g, v), v) for g, v in read_pairs(grads_and_vars) if g is not None
        ]
        pairs = engine.unscale(checked)
        after = clip_pairs(pairs, engine.limits, engine.version)
        before = []
        for (g, v), (clipped_g, _) in zip(pairs, after, strict=True):
            is_same_kind = type(g) is type(clipped_g)
            before.append((g if is_same_kind else make_dense(g, v.shape), v))
        return clip_report(before, after)

    @newer_method
    def build(self, variables: Iterable[Variable]) -> None:
        """Make all that is kept for these variables; others are refused from then on.

        A second call does nothing.

        In "rewrite" and "keras3". Raises TypeError: not variables.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0, 2.0], name="v"), gl.keras.SGD(0.5, momentum=0.9, semantics="keras3", name="sgd")
        >>> opt.build([v])
        >>> [w.name for w in opt.variables]
        ['sgd/iteration:0', 'sgd/learning_rate:0', 'sgd/v_momentum:0']
        """
        engine = self._engine_with("build")
        # Keras 3 always puts its name in front of those of its weights, the rewrite in steps only.
        prefix = engine.prefix if engine.is_keras3 else ""
        engine.build(tuple(check_variables(list(variables), "variables")), prefix)

    @newer_method
    def apply(
        self, grads: Iterable[Any], trainable_variables: Iterable[Variable] | None = None
    ) -> None:
        """`apply_gradients` with gradients and variables apart; without variables those of `build`, in its order.

        In "keras3". Raises ValueError: no variables yet, or not one gradient for each. Without any
        gradient there is no step.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0], name="v"), gl.keras.SGD(0.5, semantics="keras3")
        >>> opt.build([v])
        >>> opt.apply([[1.0]])
        >>> v.numpy().tolist()
        [0.5]
        """
        engine = self._engine_with("apply")
        grads = list(grads)
        variables = list(
            engine.built_variables if trainable_variables is None else trainable_variables
        )
        if not grads:
            return
        if trainable_variables is None and not self.built:
            raise ValueError(
                "apply(grads) without variables needs an optimizer that is built: call "
                "build(variables)"
            )
        if len(grads) != len(variables):
            raise ValueError(
                f"apply() needs one gradient for each of {len(variables)} variables, got "
                f"{len(grads)}"
            )
        self.apply_gradients(zip(grads, variables, strict=True))

    @newer_method
    def scale_loss(self, loss: Any) -> Any:
        """Return loss * loss_scale_factor, whose gradients `apply_gradients` takes; `minimize` does it itself.

        In "keras3".

        >>> import gradlab as gl
        >>> gl.keras.SGD(semantics="keras3", loss_scale_factor=8.0).scale_loss(0.5)
        4.0
        """
        factor = self._engine_with("scale_loss").loss_scale_factor
        return loss if factor is None else loss * factor

    @newer_method
    def exclude_from_weight_decay(
        self, var_list: Iterable[Variable] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Leave these variables, and those whose names hold one of these regular expressions, undecayed.

        In "rewrite" and "keras3". Takes the place of an earlier call. Raises ValueError in the
        rewrite once it is built; TypeError: not variables.

        >>> import gradlab as gl
        >>> w, bias = gl.Variable(1.0, name="w"), gl.Variable(1.0, name="bias")
        >>> opt = gl.keras.SGD(1.0, weight_decay=0.25, semantics="keras3")
        >>> opt.exclude_from_weight_decay(var_names=["bias"])
        >>> opt.apply_gradients([(0.0, w), (0.0, bias)]).numpy().item(), w.numpy().item(), bias.numpy().item()
        (1, 0.75, 1.0)
        """
        engine = self._engine_with("exclude_from_weight_decay")
        engine.exclude_from_weight_decay(
            check_variables(list(var_list or ()), "var_list"), var_names or ()
        )

    @newer_method
    def finalize_variable_values(self, var_list: Iterable[Variable]) -> None:
        """Set the variables to their moving averages; without `use_ema` they stay.

        Keras's `fit` ends with this.

        In "rewrite" and "keras3". Raises, with nothing changed: ValueError (KeyError in the
        rewrite) for a variable without an average; ValueError in "keras3" where not all variables
        are given.

        Differs from Keras 3: a variable gets its own average, wherever it is in the list.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([4.0], name="v"), gl.keras.SGD(1.0, semantics="keras3", use_ema=True, ema_momentum=0.5)
        >>> for _ in range(2):
        ...     n = opt.apply_gradients([([1.0], v)])
        >>> opt.finalize_variable_values([v])
        >>> v.numpy().tolist()
        [2.5]
        """
        engine = self._engine_with("finalize_variable_values")
        if engine.use_ema:
            engine.finalize(check_variables(list(var_list), "var_list"))

    def _gradients(self, loss: Any, var_list: Any, grad_loss: Any, tape: Any) -> Pairs:
        is_old = self._engine.version.name == "tf2.3"
        if tape is not None and is_old:
            raise TypeError("minimize has no argument 'tape' in tf2.3")
        if not callable(loss) and tape is None:
            kind = type(loss).__name__
            hint = f"loss is no function but {kind}; write lambda: ..., or give tape"
            if is_old:
                raise TypeError(f"loss must be a function: {hint}")
            raise ValueError(f"`tape` is required: {hint}")
        if callable(var_list):
            loss()  # may make the variables
            var_list = var_list()
        if var_list is None:
            raise ValueError("var_list is None; give the variables to update")
        variables = check_variables(list(_flatten(var_list)), "var_list")
        loss = self._scale_loss_function(loss)
        if tape is not None:
            value = loss() if callable(loss) else loss
            return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))
        grads = differentiate([loss], variables, [grad_loss], complex_losses=True)[0]
        return list(zip(grads, variables, strict=True))

    def _scale_loss_function(self, loss: Any) -> Any:
        """Return the loss that gradients are taken of."""
        engine = self._engine
        if not isinstance(engine, NewerEngine) or engine.loss_scale_factor is None:
            return loss
        if not callable(loss):
            raise ValueError(
                "loss_scale_factor must scale the loss on the tape: tape scale_loss(loss), "
                "apply_gradients"
            )
        return lambda: self.scale_loss(loss())

    def init(self, values: Any) -> dict[str, Any]:
        """State of the pure form for a tree of weights: a step count and the slots of every leaf."""
        return self._engine.pure_init(values)

    def step(self, values: Any, state: Any, grads: Any, axis_name: Any = None) -> tuple[Any, Any]:
        """Return (new values, new state): `apply_gradients` as a pure function, for `jit`, `scan`, `vmap` and shards.

        Args:
            grads: tree like `values` of arrays, IndexedSlices or None.
            axis_name: axis of a JAX mesh (or of `vmap`) over which gradients are summed, so that
                each device brings its own. Clips come before the sum in "keras3", after it in
                "legacy" and "rewrite"; "tf2.3" refuses limits here (ValueError).

        >>> import jax, jax.numpy as jnp
        >>> from gradlab.keras import SGD
        >>> w, g = {"a": jnp.zeros(2)}, {"a": jnp.array([[3.0, 4.0], [0.0, 0.5]])}  # one row for each device
        >>> for version in ("legacy", "keras3"):
        ...     opt = SGD(1.0, clipnorm=1.0, semantics=version)
        ...     step = jax.vmap(lambda g: opt.step(w, opt.init(w), g, axis_name="devices")[0], axis_name="devices")
        ...     print(version, [f"{x:.2f}" for x in step(g)["a"][0]])
        legacy ['-0.55', '-0.83']
        keras3 ['-0.60', '-1.30']
        """
        return self._engine.pure_update(
            state, values, grads, lambda pairs: self._process(pairs, axis_name)
        )

    def _process(self, pairs: list[Pair], axis_name: Any) -> list[Pair]:
        """Clip, sum over the axis, transform: in the order of the version."""
        version = self._engine.version
        limits = self._engine.limits
        if not version.clips_in_apply:
            if limits and axis_name is not None:
                raise ValueError(
                    f"TensorFlow 2.3 refuses {', '.join(limits)} for replicas; take "
                    "semantics='legacy'"
                )
            warn_of_no_clipping(limits)
            limits = {}
        if version.clips_each_replica:
            pairs = clip_pairs(pairs, limits, version)
        if axis_name is not None:
            pairs = [(_sum(g, axis_name), w) for g, w in pairs]
        if not version.clips_each_replica:
            pairs = clip_pairs(pairs, limits, version)
        for transform in self._engine.gradient_transformers:
            pairs = transform(pairs)
        return pairs

    # Weights

    @property
    def iterations(self) -> Any:
        """The number of steps made: an int64 variable, created on first access.

        It may be set to your own int64 variable as long as there is none (else RuntimeError). With
        `gradient_accumulation_steps` it is a number, the count of updates: calls // steps.
        """
        return self._engine.iterations()

    @iterations.setter
    def iterations(self, variable: Variable) -> None:
        self._engine.weights.set_iterations(variable)

    @property
    def weights(self) -> list[Variable]:
        """Iterations and slots in order of creation; a slot added before the first step stands ahead of iterations."""
        return list(self._engine.weights.all)

    @property
    def variables(self) -> CallableList:
        """`weights`: in the rewrite and Keras 3 with the learning rate, averages and accumulated gradients.

        Differs from Keras: it is a list, as in Keras 3, that may be called, as in the other
        versions.
        """
        return CallableList(self.weights)

    @property
    def built(self) -> bool:
        """True if the variables are known: after `build` or the first step.

        Not in "tf2.3" and "legacy".
        """
        return bool(self._engine_with("built").built_variables)

    def get_weights(self) -> list[np.ndarray]:
        """The values of `weights` as NumPy arrays."""
        return [w.numpy() for w in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set all `weights`, cast to their dtypes.

        Raises ValueError where the number of weights or a shape differs; nothing is changed then.
        Before the first step there is nothing to set but []: make a step with zero gradients first,
        or in "rewrite" and "keras3" `build`. In "tf2.3" and "legacy" Adagrad, Adadelta and RMSprop
        take a list without `iterations`, which are 0 then.

        >>> import gradlab as gl
        >>> opt = gl.keras.SGD()
        >>> _ = opt.apply_gradients([([0.0], gl.Variable([1.0]))])
        >>> opt.set_weights([41])
        >>> opt.iterations.numpy().item()
        41
        """
        self._prepare_weights(list(weights))()

    def _prepare_weights(self, weights: Sequence[Any]) -> Commit:
        """Check values of all weights, and return the function that sets them."""
        return self._engine.prepare_weights(weights)

    def get_slot_names(self) -> list[str]:
        """Names of the slots there are, in order of creation: none before the first step."""
        return list(self._engine.weights.slot_names)

    def get_slot(self, var: Variable, slot_name: str) -> Variable:
        """The slot variable (KeyError if there is none; `tf.compat.v1.train` gives None).

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0], name="v"), gl.keras.SGD(0.5, momentum=0.9)
        >>> opt.apply_gradients([([4.0], v)]).numpy().item(), opt.get_slot(v, "momentum").numpy().tolist()
        (1, [-2.0])
        """
        return self._engine.weights.get_slot(var, slot_name)

    def add_slot(
        self,
        var: Variable,
        slot_name: str,
        initializer: str | Callable[..., Any] | Any = "zeros",
        shape: Sequence[int] | None = None,
    ) -> Variable:
        """A slot of your own, of the variable's shape and dtype; one that exists is returned as it is.

        Args:
            initializer: "zeros", "ones", a function of (shape, dtype), or a value.
            shape: another shape than the variable's (not in TensorFlow 2.3).

        >>> import gradlab as gl
        >>> slot = gl.keras.SGD().add_slot(gl.Variable([1.0, 2.0], name="v"), "mean", "ones")
        >>> slot.name, slot.numpy().tolist()
        ('v/mean:0', [1.0, 1.0])
        """
        return self._engine.weights.add_slot(
            var, slot_name, slot_start(initializer, var, shape), ""
        )

    def add_weight(
        self,
        name: str,
        shape: Sequence[int],
        dtype: Any = None,
        initializer: str | Callable[..., Any] | Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> Variable:
        """A variable of your own, float32 and trainable by default, which does not join `weights`.

        `synchronization` and `aggregation` are there for TensorFlow's signature and have no effect.

        >>> import gradlab as gl
        >>> gl.keras.SGD().add_weight("beta", [2], initializer="ones").numpy().tolist()
        [1.0, 1.0]
        """
        value = initial_value(initializer, tuple(shape), np.dtype(dtype or np.float32))
        return Variable(value, trainable=trainable is None or trainable, name=name)

    # The protocol of `Stateful`

    def _stepped_variables(self) -> list[Variable]:
        return list(self._engine.weights.slots) or list(self._engine.built_variables)

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        return {"optimizer": type(self).__name__, **save_engine(self._engine, names)}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        return load_engine(self._engine, state, names, self)


def _flatten(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for item in x:
            yield from _flatten(item)
    else:
        yield x


def _sum(g: Gradient, axis_name: Any) -> Gradient:
    """The sum over the devices of an axis; slices are joined, to be summed where rows meet."""
    from .._base.jax import jax

    if not isinstance(g, IndexedSlices):
        total: Gradient = jax.lax.psum(g, axis_name)  # type: ignore[no-untyped-call]  # JAX says no types of it
        return total
    values = jax.lax.all_gather(g.values, axis_name, tiled=True)
    indices = jax.lax.all_gather(g.indices, axis_name, tiled=True)
    return IndexedSlices(values, indices, g.dense_shape)
