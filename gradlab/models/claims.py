"""The comparative sentences of labs, notebooks, exercises and reports, each with the runs that it rests on.

"Best", "lowest" and "faster" are said of shipped runs only by a claim of this table. A claim
computes its sentence from the measured values of at least five seeds, each contestant at a rate
chosen for it on other seeds; `clip.same_rate` says what one rate for all does. Where the test of
`gradlab._base.paired` doesn't tell contestants apart, the sentence says "can't be told apart". When
the recordings change, so do the sentences.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .._base.numbers import percent
from .._base.paired import Comparison, which_hold
from . import asynchrony, char_rnn


@dataclass(frozen=True)
class Claim:
    """A sentence about a comparison of runs.

    Attributes:
        id: dotted, such as "clip.final_loss".
        samples: returns the measured values by contestant and seed.
        write: turns them into the sentence. It takes every verdict from the comparison.
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


def _clip_names() -> dict[str, float | None]:
    """Return the contestants of the claims on clips: their names in sentences, and their limits."""
    return {"no limit" if limit is None else f"limit {limit:g}": limit for limit in char_rnn.LIMITS}


def _tuned_clips() -> Comparison:
    """Return the final losses of ten runs of each limit at the rate chosen for it."""
    losses = {
        name: char_rnn.final_losses(limit, char_rnn.TUNED[limit])
        for name, limit in _clip_names().items()
    }
    return Comparison("final loss", losses)


def _write_tuned_clips(runs: Comparison) -> str:
    """Say which mean is lowest where each contestant has a rate of its own, and which ones can't be
    told from it.

    Single spoiled runs make a mean unsure. A limit that ended higher in every seed isn't called
    level with the leader for that: it is named by itself.
    """
    leader = runs.leader
    level = runs.level_with_best
    uneven = tuple(
        name for name in level if name != leader and _is_higher_in_every_seed(runs, name)
    )
    alike = tuple(name for name in level if name not in uneven)
    higher = tuple(name for name in runs.values if name not in level)

    sentence = f"In {runs.seeds} runs of each, at the rate that a sweep chose for it, "
    if len(level) == 1:
        sentence += f"{_with_means(runs, level)} ends lowest"
    elif len(alike) == 1:
        sentence += f"the mean of {_with_means(runs, alike)} is lowest"
    else:
        sentence += f"the means of {_with_means(runs, alike)} can't be told apart"
    if higher:
        sentence += f"; {_with_means(runs, higher)} {_end(higher)} higher than {leader}"
    if uneven:
        named = _with_means(runs, uneven)
        sentence += (
            f". {named[0].upper()}{named[1:]} ended higher than {leader} in all {runs.seeds} "
            "seeds, but by "
        )
        sentence += "amounts too uneven for the test of means"
    return sentence + "."


def _is_higher_in_every_seed(runs: Comparison, name: str) -> bool:
    return bool((runs.values[name] > runs.values[runs.leader]).all())


def _end(names: tuple[str, ...]) -> str:
    """Return the verb that goes with the names."""
    return "ends" if len(names) == 1 else "end"


def _with_means(runs: Comparison, names: tuple[str, ...]) -> str:
    """Return names with means and standard errors, as a reader lists them."""
    return listed(
        tuple(f"{name} ({runs.mean(name):.2f} ± {runs.standard_error(name):.2f})" for name in names)
    )


def _clips_at_one_rate() -> Comparison:
    """Return the final losses of ten runs of each limit at one rate."""
    losses = {
        name: char_rnn.final_losses(limit, char_rnn.ONE_RATE)
        for name, limit in _clip_names().items()
    }
    return Comparison("final loss", losses)


def _write_clips_at_one_rate(runs: Comparison) -> str:
    """Say which limits end lower than no limit at the same rate, which higher, and which can't be
    told from it.
    """
    limited = tuple(name for name in runs.values if name != "no limit")
    holds = which_hold([runs.difference("no limit", name) for name in limited])
    differs = dict(zip(limited, holds, strict=True))
    lower = tuple(
        name for name in limited if differs[name] and runs.mean(name) < runs.mean("no limit")
    )
    higher = tuple(name for name in limited if differs[name] and name not in lower)
    alike = tuple(name for name in limited if not differs[name])
    no_limit = _with_means(runs, ("no limit",))
    parts = []
    if lower:
        parts.append(f"{_with_means(runs, lower)} {_end(lower)} lower than {no_limit}")
    if higher:
        parts.append(f"{_with_means(runs, higher)} {_end(higher)} higher than {no_limit}")
    if alike:
        parts.append(f"{_with_means(runs, alike)} can't be told apart from {no_limit}")
    return f"In {runs.seeds} runs of each at one rate, {char_rnn.ONE_RATE:g}, {'; '.join(parts)}."


_SELDOM_AND_OFTEN = (1.0, 0.3, 0.1)  # limits


def _shares_fired() -> dict[str, float]:
    """Return on what share of the steps of a recorded run a limit fired, each at the rate chosen
    for it.
    """
    runs = char_rnn.tuned()
    return {
        f"limit {limit:g} at rate {char_rnn.TUNED[limit]:g}": runs[limit]
        .what_if(clip_global_norm=limit)
        .fraction_fired
        for limit in _SELDOM_AND_OFTEN
    }


def _seldom_and_often() -> Comparison:
    """Return the final losses of a limit that fires on few steps and of two that fire on all."""
    losses = [char_rnn.final_losses(limit, char_rnn.TUNED[limit]) for limit in _SELDOM_AND_OFTEN]
    return Comparison("final loss", dict(zip(_shares_fired(), losses, strict=True)))


def _write_seldom_and_often(runs: Comparison) -> str:
    """Say which of the limits end lower, and on what share of the steps each fires."""
    fired = _shares_fired()
    named = {
        name: f"{name} (fires on {percent(fired[name])} of the steps of a run)"
        for name in runs.values
    }
    level = runs.level_with_best
    apart = tuple(named[name] for name in runs.values if name not in level)
    start = f"In {runs.seeds} runs of each, "
    if not apart:
        means = ", ".join(
            f"{runs.mean(name):.2f} ± {runs.standard_error(name):.2f}" for name in level
        )
        return f"{start}{listed(tuple(named.values()))} can't be told apart: final losses {means}."
    # Contestants are compared with the leader alone, so nothing is said of the others against each
    # other.
    alike = tuple(named[name] for name in level if name != runs.leader)
    sentence = f"{start}{listed(apart)} {_end(apart)} higher than {named[runs.leader]}"
    if alike:
        sentence += f"; {listed(alike)} can't be told apart from it"
    return sentence + "."


def write_policies(runs: Comparison) -> str:
    """Say which policies for stale gradients are best and worst, as far as the runs tell them apart."""
    level = runs.level_with_best
    worst = runs.worst
    means = {name: f"{runs.mean(name):.2f}" for name in runs.values}
    if runs.best is not None:
        others = [runs.mean(name) for name in runs.values if name != runs.best]
        rest = f"the others end at {min(others):.2f} to {max(others):.2f}"
        return f"“{runs.best}” has the lowest mean {runs.measure}, {means[runs.best]}; {rest}."
    apart = [name for name in runs.values if name not in level]
    among = [runs.mean(name) for name in level]
    reach = f"({min(among):.2f} to {max(among):.2f})"
    if not apart:
        return (
            f"The {len(level)} policies can't be told apart by {runs.measure} in {runs.seeds} "
            f"runs {reach}."
        )
    if worst is not None and apart == [worst]:
        return (
            f"“{worst}” has the highest mean {runs.measure}, {means[worst]}; the others can't be "
            f"told apart in {runs.seeds} runs {reach}."
        )
    # Policies are compared with the leader alone, so the others aren't said to be higher than all
    # of these.
    alike = listed(tuple(f"“{name}”" for name in level if name != runs.leader))
    return (
        f"“{runs.leader}” has the lowest mean {runs.measure}, {means[runs.leader]}; {alike} can't "
        f"be told apart from it in {runs.seeds} runs, and the others end higher than it."
    )


def write_slowdown(runs: Comparison, delay: int) -> str:
    """Say how many times as many updates delays cost, and which depths the runs can't tell apart."""
    means = {name: runs.mean(name) for name in runs.values}
    least = min(means, key=lambda name: means[name])
    most = max(means, key=lambda name: means[name])
    cost = (
        f"Delays up to {delay} slow {_layers(least)} {means[least]:.1f} and {_layers(most)} "
        f"{means[most]:.1f} times"
    )
    group = largest_level_group(runs)
    if not group:
        return f"{cost}; every depth can be told from the others in {runs.seeds} runs."
    return f"{cost}; {listed(group)} can't be told apart in {runs.seeds} runs."


def _layers(count: str) -> str:
    return f"{count} layer" if count == "1" else f"{count} layers"


def write_methods(runs: Comparison, delay: int) -> str:
    """Say how much delays slow gradient descent and the other methods, and which of these can't be told from it."""
    plain = "gradient descent"
    others = [name for name in runs.values if name != plain]
    holds = which_hold([runs.difference(name, plain) for name in others])
    differ = tuple(
        f"{name} {runs.mean(name):.1f} times"
        for name, apart in zip(others, holds, strict=True)
        if apart
    )
    alike = tuple(name for name, apart in zip(others, holds, strict=True) if not apart)
    times = f"{plain} needs {runs.mean(plain):.1f} times as many updates"
    sentence = f"In {runs.seeds} runs with delays up to {delay}, {listed((times, *differ))}"
    if alike:
        sentence += f"; {listed(alike)} can't be told apart from {plain}"
    return sentence + "."


def largest_level_group(runs: Comparison) -> tuple[str, ...]:
    """Return the largest group of contestants of which no two can be told apart; empty if all pairs can.

    Of several groups of that size it is the last one, such as the deepest networks.
    """
    apart = runs.pairs_told_apart()
    names = tuple(runs.values)
    for size in range(len(names), 1, -1):
        for group in reversed(list(itertools.combinations(names, size))):
            if not apart & set(itertools.combinations(group, 2)):
                return group
    return ()


def write_backup(runs: Comparison) -> str:
    """Say what one and two backup workers save, and which numbers of gradients can't be told from the fastest."""
    no_backup = str(asynchrony.BACKUP_WORKERS)
    holds = which_hold([runs.difference(no_backup, k) for k in ("15", "14")])
    parts = []
    for backups, k, differs in zip(("one backup worker", "two"), ("15", "14"), holds, strict=True):
        ratio = runs.mean(no_backup) / runs.mean(k)
        if differs:
            parts.append(
                f"{backups} {'makes' if k == '15' else 'make'} it {ratio:.2f} times as fast as none"
            )
        else:
            parts.append(f"{backups} can't be told apart from none")
    level = runs.level_with_best
    if len(level) == 1:
        end = f"waiting for {level[0]} of {no_backup} workers is fastest"
    else:
        end = f"waiting for {listed(level, 'or')} of {no_backup} workers can't be told apart"
    return (
        f"Training to {percent(asynchrony.BACKUP_GOAL)} accuracy: {listed(tuple(parts))}; {end} "
        f"in {runs.seeds} runs."
    )


def _policies(ending: str, straggler: float, criterion: str) -> Claim:
    return Claim(
        f"staleness.{ending}",
        partial(asynchrony.compare_policies, straggler, criterion),
        write_policies,
    )


CLAIMS: dict[str, Claim] = {
    claim.id: claim
    for claim in (
        Claim("clip.final_loss", _tuned_clips, _write_tuned_clips),
        Claim("clip.same_rate", _clips_at_one_rate, _write_clips_at_one_rate),
        Claim("clip.how_often", _seldom_and_often, _write_seldom_and_often),
        _policies("per_gradient", 3.0, "gradients"),
        _policies("per_time", 3.0, "time"),
        _policies("per_gradient.no_straggler", 1.0, "gradients"),
        _policies("per_time.no_straggler", 1.0, "time"),
        *(
            Claim(
                f"depth.slowdown.{delay}",
                partial(asynchrony.compare_depths, delay),
                partial(write_slowdown, delay=delay),
            )
            for delay in asynchrony.DELAYS
            if delay
        ),
        *(
            Claim(
                f"methods.slowdown.{delay}",
                partial(asynchrony.compare_methods, delay),
                partial(write_methods, delay=delay),
            )
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
