"""Contributions to a row: every lookup with its argument, its weight, and the gradient it passes back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..._base.arrays import flush
from ..._base.indices import ranks
from ..batch import rows_of
from ..ids import Ids
from ..plan import Feature, Plan
from ..step_record import Sent

Fate = Literal["looked up", "truncated", "dropped"]


@dataclass(frozen=True, eq=False)
class Contribution:
    """One lookup of a row, and what it adds to the row's gradient: gain * gradient of its sample.

    Attributes:
        core, feature, sample: where it was looked up. position: its place in the list of ids of the sample.
        given_id, given_weight: as they came in, before the policy and the combiner; None where they were not kept.
        gain: the weight after the combiner. gradient: of the sample's activation, (width,). product: gain * gradient.
        joined: how many equal ids of the sample the engine made one lookup of.

    Not in TensorFlow.

    >>> Contribution(0, "f", 2, 0, 7, 1.0, 0.5, np.float32([2.0]), np.float32([1.0])).product.tolist()
    [1.0]
    """

    core: int
    feature: str
    sample: int
    position: int | None
    given_id: int | None
    given_weight: float | None
    gain: float
    gradient: np.ndarray
    product: np.ndarray
    joined: int = 1


class Given(NamedTuple):
    """An id as it came in, the row that it names or would name if it were not dropped, and what became of it."""

    core: int
    feature: str
    sample: int
    position: int
    id: int
    weight: float
    row: int
    fate: Fate


class _Output(NamedTuple):
    """A row of activations, in the terms of the plan; samples count places of sequences too."""

    core: int
    feature: int
    sample: int


def contributions(plan: Plan, table: int, row: int, sent: Sent) -> tuple[Contribution, ...]:
    """All lookups of a row, core after core, in the order in which they are added."""
    asked: dict[_Output, list[Given]] = defaultdict(list)
    numbers = {f.name: k for k, f in enumerate(plan.features)}
    for one in given(plan, table, row, sent):
        if one.fate == "looked up":
            length = plan.features[k := numbers[one.feature]].sequence_length
            asked[_Output(one.core, k, one.sample * length + one.position if length else one.sample)].append(one)
    found, left = list(_lookups(plan, table, row, sent)), Counter[_Output]()
    left.update(output for output, _ in found)
    gradients, made = [np.asarray(g, np.float32) for g in sent.gradients], []
    for output, gain in found:
        entries, left[output] = asked[output], left[output] - 1
        own = [entries.pop(0)] if entries and left[output] else entries
        feature = plan.features[output.feature]
        gradient = gradients[output.feature].reshape(plan.cores, feature.samples, -1)[output.core, output.sample]
        made.append(_contribution(feature, output, gain, gradient, own))
    return tuple(made)


def _lookups(plan: Plan, table: int, row: int, sent: Sent) -> Iterator[tuple[_Output, np.float32]]:
    """The destination of a row, and its gain there."""
    features = plan.features_of(table)
    ends = np.cumsum([plan.features[k].samples for k in features])
    shares = (np.asarray(x).reshape(plan.cores, -1) for x in sent.lookups(plan).tables[table])
    for core, (unique, inverse, samples, weights) in enumerate(zip(*shares, strict=True)):
        places = np.append(unique == row, False)[np.minimum(inverse, unique.size)]
        for at in np.flatnonzero(places):
            n = int(np.searchsorted(ends, samples[at], side="right"))
            yield _Output(core, features[n], int(samples[at]) - int(ends[n - 1] if n else 0)), weights[at]


def _contribution(
    feature: Feature, output: _Output, gain: np.float32, gradient: np.ndarray, own: Sequence[Given]
) -> Contribution:
    length, first = feature.sequence_length, own[0] if own else None
    sample, place = divmod(output.sample, length) if length else (output.sample, None)
    return Contribution(
        output.core,
        feature.name,
        sample,
        first.position if first else place,
        first.id if first else None,
        float(sum(one.weight for one in own)) if own else None,
        float(gain),
        gradient,
        flush(flush(gradient.copy()) * gain),
        max(len(own), 1),
    )


def given(plan: Plan, table: int, row: int | None, sent: Sent) -> Iterator[Given]:
    """The ids that name a row, looked up or not; of all rows where row is None. Nothing where ids were not kept."""
    policy = plan.policy
    for core, ids in enumerate(sent.cores()):
        for k in plan.features_of(table):
            feature = plan.features[k]
            if (one := ids.get(feature.name)) is None:
                continue
            samples, numbers, weights, places = _vectors(one, feature.sequence_length)
            rows, inside = rows_of(feature, plan.tables[table], samples, numbers, policy)
            would = np.where(inside, rows, np.clip(numbers, 0, plan.tables[table].rows - 1))
            for at in np.flatnonzero((would == row) if row is not None else np.ones(would.size, bool)):
                cut = feature.sequence_length and places[at] >= feature.sequence_length
                fate: Fate = "dropped" if not inside[at] else "truncated" if cut else "looked up"
                where = (int(samples[at]), int(places[at]), int(numbers[at]), float(weights[at]), int(would[at]))
                yield Given(core, feature.name, *where, fate)


def _vectors(ids: Ids, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sample, id, weight and position of each."""
    samples, numbers = np.asarray(ids.samples, np.int64), np.asarray(ids.ids)
    weights = np.ones(numbers.size, np.float32) if ids.weights is None else np.asarray(ids.weights, np.float32)
    places = getattr(ids, "places", None)
    if not length or places is None:
        places = ranks(samples)
    return samples, numbers, weights, np.asarray(places, np.int64)
