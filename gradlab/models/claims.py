"""The comparative sentences of labs, notebooks, exercises and reports, each with the runs that it rests on.

"Best", "lowest" and "faster" are said of shipped runs only by a claim of this table. A claim computes its sentence from
the measured values of at least five seeds, each contestant at a rate chosen for it on other seeds, and says "can't be
told apart" where the test of `gradlab._base.paired` does not tell them apart. So a sentence can't outlive its data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .._base.paired import Comparison, holding
from . import asynchrony


@dataclass(frozen=True)
class Claim:
    """A sentence about a comparison of runs.

    Attributes:
        id: dotted, such as "clip.final_loss".
        samples: returns the measured values by contestant and seed.
        write: turns them into the sentence; it asks the comparison, and so can't say more than holds.
    """

    id: str
    samples: Callable[[], Comparison]
    write: Callable[[Comparison], str]

    @property
    def sentence(self) -> str:
        """The sentence that holds for the shipped runs."""
        return self.write(self.samples())


def listed(names: tuple[str, ...], conjunction: str = "and") -> str:
    """Write names as a reader lists them.

    >>> listed(("a",)), listed(("a", "b")), listed(("a", "b", "c"), "or")
    ('a', 'a and b', 'a, b, or c')
    """
    if len(names) < 3:
        return f" {conjunction} ".join(names)
    return f"{', '.join(names[:-1])}, {conjunction} {names[-1]}"


def write_policies(runs: Comparison) -> str:
    """Say which policies for stale gradients are best and worst, as far as the runs tell them apart."""
    level = runs.level_with_best
    worst = runs.worst
    means = {name: f"{runs.mean(name):.2f}" for name in runs.values}
    measure = runs.measure.replace("loss ", "", 1)  # "after 200 gradients", "at time 27"
    if runs.best is not None:
        others = [runs.mean(name) for name in runs.values if name != runs.best]
        rest = f"the others end at {min(others):.2f} to {max(others):.2f}"
        return f"“{runs.best}” has the lowest loss {measure}, {means[runs.best]}; {rest}."
    told = [name for name in runs.values if name not in level]
    among = [runs.mean(name) for name in level]
    reach = f"({min(among):.2f} to {max(among):.2f})"
    if not told:
        return f"The {len(level)} policies can't be told apart in {runs.seeds} runs {measure} {reach}."
    if worst is not None and told == [worst]:
        return (
            f"“{worst}” has the highest loss {measure}, {means[worst]}; the others can't be told apart in "
            f"{runs.seeds} runs {reach}."
        )
    quoted = tuple(f"“{name}”" for name in level)
    return f"{listed(quoted)} have the lowest losses {measure} and can't be told apart in {runs.seeds} runs {reach}."


def write_slowdown(runs: Comparison) -> str:
    """Say how many times as many updates delays cost, and which depths the runs can't tell apart."""
    means = {name: runs.mean(name) for name in runs.values}
    least = min(means, key=lambda name: means[name])
    most = max(means, key=lambda name: means[name])
    cost = f"{runs.measure} slow {_layers(least)} {means[least]:.1f} and {_layers(most)} {means[most]:.1f} times"
    group = largest_level_group(runs)
    if not group:
        return f"{cost}; each depth can be told from the others in {runs.seeds} runs."
    return f"{cost}; {listed(group)} can't be told apart in {runs.seeds} runs."


def _layers(count: str) -> str:
    return f"{count} layer" if count == "1" else f"{count} layers"


def write_methods(runs: Comparison) -> str:
    """Say how much delays slow gradient descent, and which methods they slow more."""
    plain = "gradient descent"
    others = [name for name in runs.values if name != plain]
    holds = holding([runs.difference(name, plain) for name in others])
    parts = []
    for name, told in zip(others, holds, strict=True):
        if told:
            parts.append(f"{name} {runs.mean(name):.1f} times")
        else:
            parts.append(f"{name} can't be told apart from {plain}")
    start = f"{runs.measure} slow {plain} {runs.mean(plain):.1f} times"
    return f"{start}, {listed(tuple(parts))} in {runs.seeds} runs."


def largest_level_group(runs: Comparison) -> tuple[str, ...]:
    """Return the largest group of contestants of which no two can be told apart; empty if all pairs can.

    Of groups of one size it is the last one, such as the deepest networks.
    """
    told = runs.pairs_told_apart()
    names = tuple(runs.values)
    for size in range(len(names), 1, -1):
        for group in reversed(list(itertools.combinations(names, size))):
            if not told & set(itertools.combinations(group, 2)):
                return group
    return ()


def write_backup(runs: Comparison) -> str:
    """Say what one and two backup workers save, and which numbers of gradients can't be told from the fastest."""
    everybody = "16"
    holds = holding([runs.difference(everybody, k) for k in ("15", "14")])
    parts = []
    for name, k, told in zip(("one backup worker", "two"), ("15", "14"), holds, strict=True):
        ratio = runs.mean(everybody) / runs.mean(k)
        parts.append(f"{ratio:.2f} times as fast with {name}" if told else f"{name} can't be told apart from none")
    level = runs.level_with_best
    if len(level) == 1:
        end = f"waiting for {level[0]} is fastest"
    else:
        end = f"waiting for {listed(level, 'or')} of 16 can't be told apart"
    return f"Training to 80% accuracy, against none of 16: {listed(tuple(parts))}; {end} in {runs.seeds} runs."


def _policies(ending: str, straggler: float, criterion: str) -> Claim:
    return Claim(f"staleness.{ending}", partial(asynchrony.compare_policies, straggler, criterion), write_policies)


CLAIMS: dict[str, Claim] = {
    claim.id: claim
    for claim in (
        _policies("per_gradient", 3.0, "gradients"),
        _policies("per_time", 3.0, "time"),
        _policies("per_gradient.no_straggler", 1.0, "gradients"),
        _policies("per_time.no_straggler", 1.0, "time"),
        *(
            Claim(f"depth.slowdown.{delay}", partial(asynchrony.compare_depths, delay), write_slowdown)
            for delay in asynchrony.DELAYS
            if delay
        ),
        *(
            Claim(f"methods.slowdown.{delay}", partial(asynchrony.compare_methods, delay), write_methods)
            for delay in asynchrony.DELAYS
            if delay
        ),
        Claim("backup.time_to_goal", asynchrony.compare_backup, write_backup),
    )
}


def sentence(claim: str) -> str:
    """Return the sentence of a claim by its id.

    Raises:
        KeyError: there is no such claim.
    """
    return CLAIMS[claim].sentence
