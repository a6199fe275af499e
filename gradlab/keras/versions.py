"""Which Keras is meant: the table of how its versions differ, and what an optimizer declares of itself.

`VERSIONS` says how versions differ in what all optimizers share. `legacy.py` and `keras3.py`, the
two engines, read it. A difference that shows in one place only stands there, as a comparison of
`Version.name`: an argument that one version refuses, an attribute that one of them lacks.

How an optimizer is added, Adam for example:

1. The rule: `gl.rules.Adam` is the formula. A formula that is not there yet is written there. Where
   variables of one optimizer have several rules, by their shapes or names, the rule has
   `for_weights`, as Muon's.
2. The row: `class Adam(Optimizer)` in adam.py has `_declaration = Declaration(...)`, which says
   which rule it is, which argument gives which of its fields, and what of that differs between
   versions.
3. The documentation: the docstring of the class, and an `__init__` with Keras's own signature,
   which hands its arguments to `Optimizer.__init__`. Then its name in `__init__.py`,
   `optimizers.py` and `serialization.py`.

What holds for all optimizers of a version is a column of `Version`, and the engines stay as they
are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from .._base.gradient_types import Gradient
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule, Shared
from ..train.update import InspectSlots
from ..train.variable import Variable

Name = Literal["tf2.3", "legacy", "rewrite", "keras3"]
Strict = Literal["tf"] | None
# Takes the engine that steps, the rule of the variable, the variable and its gradient.
InspectGradient = Callable[[Any, Rule, Variable, Gradient], InspectSlots | None]

CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")


@dataclasses.dataclass(frozen=True)
class Version:
    """One version of Keras, wherever the versions differ.

    Attributes:
        engine: "legacy": weights and hyperparameters come into being at the first use, and more
            variables may come later. "keras3": the first step, or `build`, settles the variables.
        clips: clip arguments in the order in which they act; others do not exist.
        only_first: a second limit is ignored.
        excluding: pairs of limits that may not both be given.
        clip_functions: whose clip functions, the `semantics` that they take.
        clips_in_apply: `apply_gradients` clips.
        clips_each_replica: before the sum over replicas, not after it.
        zero_switches_off: a limit of 0 or less means no clipping.
        epsilon_place: of Adagrad's epsilon.
        sums_duplicates: Adagrad adds slices of one row before it squares them.
        shares_in_double: 1 - beta, the share of a new value in a mean, is computed in double
            precision and then rounded, where others round beta first.
        float32_starts: the number that a slot starts with is rounded to float32, whatever the dtype
            of the weight.
        global_clip_makes_dense: slices leave `global_clipnorm` as a dense gradient.
        arguments: further keywords of the constructor.
        defaults: keywords that stand in the config, with their defaults; `keras3.NewerEngine` says
            what they do.
        ignored: keywords that are taken and have no effect.
        reads_decay: a `decay` that was positive at construction may be set later.
        unknown_variable: the error about a variable that was not there at the first step.
        iterations_name, slot_name: patterns of the names of weights.
    """

    name: str
    engine: Literal["legacy", "newer"]
    clips: tuple[str, ...]
    clip_functions: Literal["tf2.3", "tf2.21"] = "tf2.21"
    only_first: bool = False
    excluding: tuple[tuple[str, str], ...] = ()
    clips_in_apply: bool = True
    clips_each_replica: bool = False
    zero_switches_off: bool = False
    epsilon_place: Literal["outside", "inside"] = "outside"
    sums_duplicates: bool = True
    shares_in_double: bool = False
    float32_starts: bool = False
    global_clip_makes_dense: bool = False
    arguments: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    reads_decay: bool = False
    unknown_variable: type[Exception] = KeyError
    iterations_name: str = "{optimizer}iter"
    slot_name: str = "{optimizer}{variable}/{slot}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles name the row, as there is one of each."""
        return version_of, (self.name,)


# Arguments of the rewrite and of Keras 3 beside limits.
_NEWER_DEFAULTS = {
    "weight_decay": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
}

_ROWS = (
    Version(
        "tf2.3",
        "legacy",
        ("clipnorm", "clipvalue"),
        clip_functions="tf2.3",
        clips_in_apply=False,
        arguments=("lr", "decay"),
        reads_decay=True,
    ),
    Version(
        "legacy",
        "legacy",
        ("clipvalue", "clipnorm", "global_clipnorm"),
        excluding=(("clipnorm", "global_clipnorm"),),
        arguments=("lr", "decay", "gradient_aggregator", "gradient_transformers"),
    ),
    Version(
        "rewrite",
        "newer",
        ("clipnorm", "global_clipnorm", "clipvalue"),
        only_first=True,
        excluding=(("clipnorm", "global_clipnorm"),),
        zero_switches_off=True,
        epsilon_place="inside",
        shares_in_double=True,
        arguments=("lr",),
        defaults={**_NEWER_DEFAULTS, "jit_compile": False, "is_legacy_optimizer": False},
        ignored=("jit_compile", "is_legacy_optimizer"),
        iterations_name="iteration",
        slot_name="{optimizer}{slot}/{variable}",
    ),
    Version(
        "keras3",
        "newer",
        ("clipnorm", "global_clipnorm", "clipvalue"),
        only_first=True,
        excluding=(
            ("clipnorm", "global_clipnorm"),
            ("clipnorm", "clipvalue"),
            ("global_clipnorm", "clipvalue"),
        ),
        clips_each_replica=True,
        zero_switches_off=True,
        epsilon_place="inside",
        sums_duplicates=False,
        shares_in_double=True,
        float32_starts=True,
        global_clip_makes_dense=True,
        arguments=("decay",),
        defaults={
            **_NEWER_DEFAULTS,
            "loss_scale_factor": None,
            "gradient_accumulation_steps": None,
        },
        unknown_variable=ValueError,
        iterations_name="{optimizer}iteration",
        slot_name="{optimizer}{variable}_{slot}",
    ),
)
VERSIONS: dict[str, Version] = {row.name: row for row in _ROWS}


def version_of(semantics: str) -> Version:
    """Return the row of the table (ValueError for a name that is not in it).

    >>> version_of("tf2.3").clips
    ('clipnorm', 'clipvalue')
    """
    if semantics not in VERSIONS:
        allowed = ", ".join(map(repr, VERSIONS))
        raise ValueError(f"semantics must be one of {allowed}; got {semantics!r}")
    return VERSIONS[semantics]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Declaration:
    """What an optimizer is: its rule, and how its arguments become the fields of the rule.

    Attributes:
        choose_rule: the class of the rule, by the version and the arguments at construction.
        fields: field of the rule -> the argument that gives it. A rule without that field does
            without.
        version_fields: fields of the rule that the version gives.
        shares: field of the rule -> the argument whose rest to 1 it is, where `shares_in_double`.
        step_fields: fields of the rule that change with the count of steps made, for variables of
            one dtype, as the powers of Adam's betas do.
        decays_rate: `decay` of "tf2.3" and "legacy" is of the learning rate. Nadam's is a field of
            its rule instead.
        counted: version -> name of a weight that depends on the count of steps only, which is
            `counted_field` of the rule at the last step, and 1 before.
        argument_fields: fields of the rule that are made of several arguments, by the arguments.
        hyperparameters: arguments that may be Variables or functions; "tf2.3" and "legacy" make
            Variables of numbers.
        nonnegative: arguments that "tf2.3" and "legacy" refuse below 0.
        slots: version -> slot of the rule -> its name there, where it is another.
        unnamed_slots: version -> slots whose variables have the name of the weight alone.
        unused_slots: slots that Keras makes for the weights of a rule and never changes, and their
            value.
        slots_by_variable: slots that are made variable by variable; every other slot is made for all
            variables before the next one.
        decay_arguments: rule -> argument that is the weight decay of its variables in place of
            `weight_decay`.
        only: versions that have the optimizer.
        choose_sparse: how IndexedSlices meet the rule.
        inspect_gradient: refuses a gradient or warns of it; what it returns is shown the new slots
            before they are stored.
        needs_count: `set_weights` refuses a list without the iterations; else "tf2.3" and "legacy"
            put 0 there.
        rebuilds_schedules: `from_config` of "tf2.3" and "legacy" brings schedules back.
    """

    choose_rule: Callable[[Version, Mapping[str, Any]], type[Rule]]
    fields: Mapping[str, str]
    version_fields: Callable[[Version], Mapping[str, Any]] = lambda version: {}
    shares: Mapping[str, str] = dataclasses.field(default_factory=dict)
    step_fields: Callable[[Rule, Any, Any], Shared] = lambda rule, steps, dtype: {}
    decays_rate: bool = True
    counted: Mapping[str, str] = dataclasses.field(default_factory=dict)
    counted_field: str = ""
    argument_fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda arguments: {}
    hyperparameters: tuple[str, ...] = ()
    nonnegative: tuple[str, ...] = ()
    slots: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    unnamed_slots: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    unused_slots: Callable[[Version, Rule], Mapping[str, Any]] = lambda version, rule: {}
    slots_by_variable: Callable[[Version], tuple[str, ...]] = lambda version: ()
    decay_arguments: Mapping[type[Rule], str] = dataclasses.field(default_factory=dict)
    only: tuple[str, ...] = tuple(VERSIONS)
    choose_sparse: Callable[[Version, type[Rule]], pure.Sparse] = lambda version, rule: (
        dense_and_sparse.rows
    )
    inspect_gradient: InspectGradient = lambda engine, rule, v, g: None
    needs_count: bool = True
    rebuilds_schedules: bool = True

    def group_slots(self, version: Version, slots: Iterable[str]) -> list[tuple[str, ...]]:
        """Return the slots in groups, in the order in which they are made."""
        by_variable = self.slots_by_variable(version)
        others = [(slot,) for slot in dict.fromkeys(slots) if slot not in by_variable]
        return [by_variable, *others]
