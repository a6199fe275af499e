"""Undocumented behavior of the TPU embedding engine, as choices with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._base.options import check_choice

_CHOICES = {
    "out_of_range": ("raise", "drop", "clamp", "wrap"),
    "zero_normalizer": ("zero", "raise"),
    "weight_decay_place": ("before", "after"),
    "weight_decay_kind": ("subtract", "multiply"),
    "gradient_clip_place": ("sum", "contribution"),
    "without_accumulation": ("lookup", "core"),
}


@dataclass(frozen=True)
class Policy:
    """Choices for what is not publicly known of the engine; each default is the likeliest.

    out_of_range: what becomes of an id below 0 or not below the number of rows. "raise" names table, feature, sample
        and id; "drop" leaves the lookup out, after the combiner's normalizer has counted it; "clamp" takes the nearest
        row; "wrap" the id modulo the number of rows. The engine documents no check; TensorFlow's ops raise on CPU and
        not on GPU.
    zero_normalizer: a sample whose weights sum to 0 with "mean" (whose squares do with "sqrtn"). Documented as
        invalid; "zero" is what SparseCore's preprocessing and TensorFlow's CPU lookup give.
    weight_decay_place: "before" the optimizer, based on the old weight, or "after" it, based on the new one.
    weight_decay_kind: "subtract" factor * w (the proto refers to TensorFlow's decoupled extension) or "multiply" the
        weight by the factor (the docstring of the SGD class).
    gradient_clip_place: the "sum" of a row is clipped, or each "contribution" to it. That the Python layer refuses
        clipping without accumulation speaks for the sum.
    without_accumulation: with accumulation off the optimizer runs once for each "lookup" of a row, in order, or once
        for each "core" that touched it.

    What is unknown of one optimizer is a field or a note of its rule: `BoundedAdagrad.bounded`,
    `MdlAdagradLight.event_benefit`, `FrequencyEstimator.transformed`, and the docstrings of `OnlineYogi`, `Lion` and
    `Assign`. Unknown too, and the same for everybody here: a core adds its lookups in order, and cores are added in
    turn; limits let NaN pass; replication of hot ids changes no number; deduplication data are those of `Lookups`.

    Raises:
        ValueError: a choice that is none of these.

    Source: comments of `tpu_embedding_configuration.proto` and `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Policy(out_of_range="clamp").out_of_range
    'clamp'
    """

    out_of_range: Literal["raise", "drop", "clamp", "wrap"] = "raise"
    zero_normalizer: Literal["zero", "raise"] = "zero"
    weight_decay_place: Literal["before", "after"] = "before"
    weight_decay_kind: Literal["subtract", "multiply"] = "subtract"
    gradient_clip_place: Literal["sum", "contribution"] = "sum"
    without_accumulation: Literal["lookup", "core"] = "lookup"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            check_choice(name, getattr(self, name), allowed)
