"""Lines that a training loop prints: torchtitan, Megatron-LM and Megatron-DeepSpeed, llm.c, your own.

A line counts if it has a norm with a number behind it. Its step and loss stand on the same line, in
any order: "step: 14  loss:  3.24  grad_norm:  0.83", "iteration 122/ 250000 | lm loss: 2.5E+00 | grad
norm: 0.231", "step 10 | loss: 6.5 | norm: 1.2", "iter 100: loss 3.2, norm 1.1".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...errors import InvalidArgumentError
from .lines import numbered_lines
from .table import LogTable, Rows, refuse_without_norm

_NUMBER = r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|nan|inf(?:inity)?))(?![\w.])"
# Spaces are limited, or a line full of them would take time that grows with their square.
_BETWEEN = r"[\"']?\s{0,20}[:=]?\s{0,20}[\"']?"
# "params norm" and "layer norm" are others; a bare "norm" begins a field.
_NORM = re.compile(
    r"(?:(?<![a-z_])(?:total[ _])?(?:grad(?:ient)?s?[ _-]?norm|global[ _-](?:grad[ _-])?norm|gnorm)"
    r"|(?:^|[|,;])\s{0,20}norm)" + _BETWEEN + _NUMBER,
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"(?<![a-z_])(?<!val )(?<!eval )(?<!test )(?:lm |train |train_)?loss" + _BETWEEN + _NUMBER,
    re.IGNORECASE,
)
_STEP = re.compile(
    r"(?<![a-z_])(?:global[ _]?)?(?:step|iteration|iter)s?" + _BETWEEN + r"(\d+)(?![\d.]*\.\d)",
    re.IGNORECASE,
)
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_MOST_LETTERS = 10_000  # of a line that is looked at: regular expressions take their time


class Tool(NamedTuple):
    """A program that prints such lines: how it is told by them, and what its numbers are."""

    name: str
    sign: str
    notes: tuple[str, ...]


_MEAN_LOSS = "The loss is the mean over the steps since the line before."
TOOLS = (
    Tool(
        "torchtitan",
        "grad_norm: ",
        ("The norm is of the logged step, before the clip by training.max_norm.",),
    ),
    Tool(
        "Megatron-LM or Megatron-DeepSpeed",
        "consumed samples",
        (
            "The norm is of the logged step, over all ranks, divided by the loss scale, before the "
            "clip by --clip-grad.",
            _MEAN_LOSS,
        ),
    ),
    Tool(
        "llm.c or nanoGPT, or a loop like theirs",
        "norm",
        ("The norm is what the loop prints: clip_grad_norm_ returns the one before the clip.",),
    ),
)


class _Patterns(NamedTuple):
    norm: re.Pattern[str]
    loss: re.Pattern[str]
    step: re.Pattern[str]


def _patterns(columns: Mapping[str, str] | None) -> _Patterns:
    """The patterns, of which `columns` has others for its words."""
    given = columns or {}
    own = {
        role: re.compile(r"(?<!\w)" + re.escape(word) + _BETWEEN + _NUMBER)
        for role, word in given.items()
    }
    return _Patterns(own.get("norm", _NORM), own.get("loss", _LOSS), own.get("step", _STEP))


def is_log(head: str) -> bool:
    """Tell whether some line of a text has a norm with a number behind it."""
    lines = [_COLORS.sub("", line)[:_MOST_LETTERS] for line in head.splitlines() if "norm" in line]
    return any(_NORM.search(line) for line in lines)


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read the file."""
    patterns = _patterns(columns)
    word = (columns or {}).get("norm", "norm")
    rows = Rows()
    tool = TOOLS[-1]
    counts_steps: bool | None = None
    cut_off = False
    for number, line, is_whole in numbered_lines(path):
        if word not in line:
            continue
        if "\x1b" in line:
            line = _COLORS.sub("", line)
        line = line[:_MOST_LETTERS]
        norm = patterns.norm.search(line)
        if norm is None:
            continue
        step = patterns.step.search(line)
        loss = patterns.loss.search(line)
        if counts_steps is None:
            counts_steps = step is None
            tool = next(tool for tool in TOOLS if tool.sign in line or tool is TOOLS[-1])
        if not is_whole and norm.end() == len(line):
            cut_off = True
            break
        if step is None and not counts_steps:
            raise InvalidArgumentError(
                f"line {number} of {path} has a norm and no step, which earlier lines have. Remove "
                'it, or pass the word before the step: columns={"step": ...}'
            )
        rows.add(
            f"line {number} of {path}",
            None if step is None else step[1],
            norm[1],
            None if loss is None else loss[1],
            counted_steps=counts_steps,
        )
    if not len(rows):
        refuse_without_norm(path, [], columns)
    notes = list(tool.notes)
    if counts_steps:
        notes.append("The log has no steps; its lines are counted from 0.")
    if cut_off:
        notes.append("The last line was cut off, as while it is written, and left out.")
    return rows.finish(tool.name, notes)
