"""The plan: everything that is fixed before the first batch.

A `Plan` has tables, the features that look up their rows, a number of cores, and a `Policy`: one
named field for each choice of the engine that isn't publicly known. All are frozen dataclasses and
can be keys of a cache.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args, get_type_hints

from .._base.arrays import as_real_numbers
from .._base.options import check_choice, check_count
from ..rules import Rule, StochasticGradientDescent
from ..rules.rule import check_row_local

Combiner = Literal["sum", "mean", "sqrtn"]
Limits = tuple[float | None, float | None]  # (lower, upper); None leaves that side open
NO_LIMITS: Limits = (None, None)

PADDING_ID = 2**31 - 1  # fills up vectors of row ids; past the end of every table
MOST_ROWS = PADDING_ID


class Tag(NamedTuple):
    """An index into the numbers passed with each step.

    Source: `OptimizerDynamicInput.tag` of `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Plan((Table("t", 10, 4, learning_rate=Tag(0)),), ()).tag_count
    1
    """

    number: int


class Levels(NamedTuple):
    """Simulated quantization of what is looked up: see `quantize`.

    Source: `tf.tpu.experimental.embedding.QuantizationConfig`, TensorFlow 2.21 (2026).

    >>> Table("t", 10, 4, levels=Levels(-1.0, 1.0, 256)).levels.num_buckets
    256
    """

    lower: float
    upper: float
    num_buckets: int


@dataclass(frozen=True)
class Table:
    """One embedding table: its size, its rule and what happens around the rule.

    `combiner` joins the rows of a sample; `accumulate` sums all gradients of a row before the rule
    runs once; `step_counter` feeds the rule's field of that name. The rule is lazy unless it says
    otherwise.

    Raises:
        ValueError: rows or a width that aren't integers of at least 1, more bytes than Python has
            addresses (of 32 bits in a browser), a rate that isn't a number, an unknown combiner,
            limits that cross, or a rule that moves every row without `accumulate`.

    Source: `TableDescriptor` and `OptimizationParameters`, TensorFlow 2.21 (2026).

    >>> Table("words", 1000, 16, learning_rate=0.1).combiner
    'mean'
    """

    name: str
    rows: int
    width: int
    rule: Rule = StochasticGradientDescent()  # noqa: RUF009 - frozen
    learning_rate: float | Tag = 0.01
    combiner: Combiner = "mean"
    gradient_limits: Limits = NO_LIMITS
    weight_limits: Limits = NO_LIMITS
    weight_decay: float = 0.0
    weight_decay_times_rate: bool = False
    levels: Levels | None = None
    accumulate: bool = True
    step_counter: Tag | None = None

    def __post_init__(self) -> None:
        check_count(f"the rows of table {self.name!r}", self.rows)
        check_count(f"the width of table {self.name!r}", self.width)
        if self.rows > MOST_ROWS:
            raise ValueError(
                f"table {self.name!r} can have at most {MOST_ROWS} rows, got {self.rows}"
            )
        if (size := 4 * self.rows * self.width) > sys.maxsize:
            raise ValueError(
                f"table {self.name!r} of {self.rows} x {self.width} float32 takes {size} bytes, "
                f"and a Python of {sys.maxsize.bit_length() + 1} bits can hold at most "
                f"{sys.maxsize}: use fewer rows, or 64 bits"
            )
        check_choice(f"the combiner of table {self.name!r}", self.combiner, get_args(Combiner))
        check_limits(f"gradient_limits of table {self.name!r}", self.gradient_limits)
        check_limits(f"weight_limits of table {self.name!r}", self.weight_limits)
        if not isinstance(self.learning_rate, Tag):
            as_real_numbers(self.learning_rate, f"the learning rate of table {self.name!r}")
        check_row_local(self.rule, f"table {self.name!r}")
        if not self.rule.lazy and not self.accumulate:
            raise ValueError(
                f"table {self.name!r}: a rule that moves every row needs accumulate=True"
            )

    @property
    def tags(self) -> tuple[int, ...]:
        """The learning rates it reads, by number."""
        return tuple(
            t.number for t in (self.learning_rate, self.step_counter) if isinstance(t, Tag)
        )


@dataclass(frozen=True)
class Feature:
    """One column of ids: the table it reads, and the shape of one core's samples, after combining.

    With a `sequence_length` the last entry of the shape is that length: ids are not combined but
    stand in a row.

    Raises:
        ValueError: no sizes, or sizes that aren't integers of at least 0.

    Source: `FeatureDescriptor`, TensorFlow 2.21 (2026).

    >>> Feature("history", 0, (32, 5), sequence_length=5).samples
    160
    """

    name: str
    table: int
    shape: tuple[int, ...]
    sequence_length: int = 0

    def __post_init__(self) -> None:
        if not self.shape:
            raise ValueError(
                f"the shape of feature {self.name!r} must have at least one size, the samples of "
                f"one core; got {self.shape}. Pass (1,) for one sample"
            )
        for n in (*self.shape, self.sequence_length):
            check_count(f"each size of feature {self.name!r}", n, 0)

    @property
    def samples(self) -> int:
        """The number of rows that one core gets."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Policy:
    """Choices for what is not publicly known of the engine; each default is the likeliest.

    Attributes:
        out_of_range: what becomes of an id below 0 or not below the number of rows. "raise" names
            table, feature, sample and id; "drop" leaves the lookup out, after the combiner's
            normalizer has counted it; "clamp" takes the nearest row; "wrap" the id modulo the
            number of rows. The engine documents no check; TensorFlow's ops raise on CPU and not on
            GPU.
        zero_normalizer: a sample whose weights sum to 0 with "mean" (whose squares do with
            "sqrtn"). Documented as invalid; "zero" is what SparseCore's preprocessing and
            TensorFlow's CPU lookup give.
        weight_decay_place: "before" the optimizer, based on the old weight, or "after" it, based on
            the new one.
        weight_decay_kind: "subtract" factor * w (the proto refers to TensorFlow's decoupled
            extension) or "multiply" the weight by the factor (the docstring of the SGD class).
        gradient_clip_place: the "sum" of a row is clipped, or each "contribution" to it. That the
            Python layer refuses clipping without accumulation speaks for the sum.
        without_accumulation: with accumulation off the optimizer runs once for each "lookup" of a
            row, in order, or once for each "core" that touched it.

    What is unknown of one optimizer is a field or a note of its rule: `BoundedAdagrad.bounded`,
    `MdlAdagradLight.event_benefit`, `FrequencyEstimator.transformed`, and the docstrings of
    `OnlineYogi`, `Lion` and `Assign`. Unknown too, and the same for everybody here: a core adds its
    lookups in order, and cores are added in turn; limits let NaN pass; replication of hot ids
    changes no number; deduplication data are those of `Lookups`.

    Raises:
        ValueError: a choice that is none of these.

    Source: comments of `tpu_embedding_configuration.proto` and `optimization_parameters.proto`,
    TensorFlow 2.21 (2026).

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
        for name, choices in get_type_hints(Policy).items():
            check_choice(name, getattr(self, name), get_args(choices))


@dataclass(frozen=True)
class Plan:
    """Tables, features in the order of activations and gradients, cores, and how they are run.

    With `pipelined` a lookup runs one update ahead.

    Raises:
        ValueError: a feature of a table that is not there, no core, or tags of learning rates with
            gaps.
        TypeError: a policy that isn't a `Policy`.

    Source: `TPUEmbeddingConfiguration`, TensorFlow 2.21 (2026).

    >>> Plan((Table("t", 10, 4),), (Feature("f", 0, (32,)),), cores=2).activation_shape(0)
    (64, 4)
    """

    tables: tuple[Table, ...]
    features: tuple[Feature, ...]
    cores: int = 1
    pipelined: bool = False
    policy: Policy = dataclasses.field(default_factory=Policy)

    def __post_init__(self) -> None:
        for f in self.features:
            check_count(f"the table of feature {f.name!r}", f.table, 0)
            if f.table >= len(self.tables):
                raise ValueError(
                    f"feature {f.name!r} reads table {f.table}, but there are {len(self.tables)}"
                )
        check_count("cores", self.cores)
        if not isinstance(self.policy, Policy):
            raise TypeError(f"policy must be a gl.tpu.Policy, got {type(self.policy).__name__}")
        used = sorted({n for t in self.tables for n in t.tags})
        if used != list(range(len(used))):
            raise ValueError(
                f"tags of learning rates must be 0, 1, ... without gaps; the tables use {used}"
            )

    @property
    def tag_count(self) -> int:
        """The number of learning rates that a step needs."""
        return len({n for t in self.tables for n in t.tags})

    def features_of(self, table: int) -> tuple[int, ...]:
        """Return the features that read a table, in order."""
        return tuple(k for k, f in enumerate(self.features) if f.table == table)

    def samples_of(self, table: int) -> int:
        """Return the rows that one core gets from a table, all its features together."""
        return sum(self.features[k].samples for k in self.features_of(table))

    def activation_shape(self, feature: int) -> tuple[int, ...]:
        """Return the shape of a feature's activations and gradients.

        The first axis has the samples of all cores.
        """
        f = self.features[feature]
        return (self.cores * f.shape[0], *f.shape[1:], self.tables[f.table].width)


def check_limits(name: str, limits: Limits) -> None:
    """Refuse limits that leave nothing between them."""
    lower, upper = limits
    if lower is not None and upper is not None and lower > upper:
        raise ValueError(f"{name} must be (lower, upper), got {lower} above {upper}")
