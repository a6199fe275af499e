"""Which Keras is meant: how its versions differ, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

Name = Literal["tf2.3", "legacy", "rewrite", "keras3"]

# Arguments of the rewrite and of Keras 3 beside limits, with their defaults.
_MORE = {
    "weight_decay": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
}


@dataclasses.dataclass(frozen=True)
class Semantics:
    """One version's answers wherever the versions differ.

    Attributes:
        clips: clip arguments in the order in which they act; others do not exist.
        only_first: a second limit is ignored. excluding: pairs of limits that may not both be given.
        clip_functions: whose clip functions, the `semantics` that they take.
        clips_in_apply: `apply_gradients` clips. clips_each_replica: before the sum over replicas, not after it.
        zero_switches_off: a limit of 0 or less means no clipping.
        lazy: weights and hyperparameters come into being at the first use, and more variables may come later.
        epsilon_place: of Adagrad's epsilon. sums_duplicates: Adagrad adds slices of one row before it squares them.
        global_clip_makes_dense: slices leave `global_clipnorm` as a dense gradient.
        arguments: further keywords of the constructor.
        defaults: keywords that stand in the config, with their defaults; `built.Built` says what they do.
        ignored: keywords that are taken and have no effect.
    """

    name: str
    clips: tuple[str, ...]
    clip_functions: Literal["tf2.3", "tf2.21"] = "tf2.21"
    only_first: bool = False
    excluding: tuple[tuple[str, str], ...] = ()
    clips_in_apply: bool = True
    clips_each_replica: bool = False
    zero_switches_off: bool = False
    lazy: bool = True
    epsilon_place: Literal["outside", "inside"] = "outside"
    sums_duplicates: bool = True
    global_clip_makes_dense: bool = False
    arguments: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    iterations_name: str = "{optimizer}iter"
    slot_name: str = "{optimizer}{variable}/{slot}"


_TABLE = (
    Semantics(
        "tf2.3", ("clipnorm", "clipvalue"), clip_functions="tf2.3", clips_in_apply=False, arguments=("lr", "decay")
    ),
    Semantics(
        "legacy",
        ("clipvalue", "clipnorm", "global_clipnorm"),
        excluding=(("clipnorm", "global_clipnorm"),),
        arguments=("lr", "decay", "gradient_aggregator", "gradient_transformers"),
    ),
    Semantics(
        "rewrite",
        ("clipnorm", "global_clipnorm", "clipvalue"),
        only_first=True,
        excluding=(("clipnorm", "global_clipnorm"),),
        zero_switches_off=True,
        lazy=False,
        epsilon_place="inside",
        arguments=("lr",),
        defaults={**_MORE, "jit_compile": False, "is_legacy_optimizer": False},
        ignored=("jit_compile", "is_legacy_optimizer"),
        iterations_name="iteration",
        slot_name="{optimizer}{slot}/{variable}",
    ),
    Semantics(
        "keras3",
        ("clipnorm", "global_clipnorm", "clipvalue"),
        only_first=True,
        excluding=(("clipnorm", "global_clipnorm"), ("clipnorm", "clipvalue"), ("global_clipnorm", "clipvalue")),
        clips_each_replica=True,
        zero_switches_off=True,
        lazy=False,
        epsilon_place="inside",
        sums_duplicates=False,
        global_clip_makes_dense=True,
        arguments=("decay",),
        defaults={**_MORE, "loss_scale_factor": None, "gradient_accumulation_steps": None},
        iterations_name="{optimizer}iteration",
        slot_name="{optimizer}{variable}_{slot}",
    ),
)
SEMANTICS: dict[str, Semantics] = {s.name: s for s in _TABLE}
CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")


def semantics(name: str) -> Semantics:
    """The row of the table (ValueError for a name that is not in it).

    >>> semantics("tf2.3").clips
    ('clipnorm', 'clipvalue')
    """
    if name not in SEMANTICS:
        raise ValueError(f"semantics must be one of {', '.join(map(repr, SEMANTICS))}; got {name!r}")
    return SEMANTICS[name]
