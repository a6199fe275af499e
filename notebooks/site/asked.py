"""Questions that answer without a kernel: multiple choice and predictions as data for `static/asked.js`.

What is said of a guess is written once, in Python, as conditions on the guess; here it becomes a tree that the script
walks. A condition that no tree can hold is an error of the build.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from gradlab._base.numbers import number
from gradlab.exercises.catalog import EXERCISES, PREDICTIONS
from gradlab.exercises.prediction import Prediction
from gradlab.exercises.questions import Choice

Tree = Any

_CALL = re.compile(r"^gl\.exercises\.(choose|predict|check)\(\s*\"([\w.]+)\"", re.MULTILINE)
_SIGNS = {ast.Lt: "<", ast.Gt: ">", ast.NotEq: "!=", ast.Sub: "-", ast.Mult: "*"}
_NAMED = {"max", "min", "ptp", "diff", "argmin"}


def asked(source: str) -> tuple[str, str]:
    """How a cell asks, "choose", "predict" or "check", and the name of the question; empty for any other cell.

    >>> asked('gl.exercises.choose("clipping.direction")')
    ('choose', 'clipping.direction')
    """
    found = _CALL.search(source)
    return (found[1], found[2]) if found else ("", "")


def element(way: str, name: str, fallback: str) -> str:
    """The question as an element, with what stands there where no script runs."""
    data = choice(EXERCISES[name]) if way == "choose" else prediction(PREDICTIONS[name]())
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="asked" data-name="{escape(name)}"><script type="application/json">{text}</script>'
        f"<noscript>{fallback}</noscript></div>"
    )


def choice(question: Any) -> dict[str, Any]:
    """The letters of a multiple-choice question, and what each is told."""
    assert isinstance(question, Choice)
    told = {letter: question(letter) for letter in question.letters}
    return {"question": question.question, "options": {k: [answer.right, repr(answer)] for k, answer in told.items()}}


def prediction(question: Prediction) -> dict[str, Any]:
    """The axes of a prediction, where its handles start, its result, and what is said of a guess."""
    places = np.asarray(question.at, float)
    truth = np.atleast_1d(question.truth(places)).astype(float)
    x = question.x
    return {
        "question": question.question, "label": question.label, "unit": question.y.unit, "y": _axis(question.y),
        "x": x and _axis(x) | {"at": places.tolist(), "places": question._places()},
        "step": question.step, "start": [float(handle.value) for handle in question._handles()],
        "truth": truth.tolist(), "curve": question._curve().tolist(), "said": said(type(question)),
    }  # fmt: skip


def _axis(quantity: Any) -> dict[str, Any]:
    """An axis: its name, its ends, and its ticks with what stands at them."""
    if quantity.scale == "log":
        first, last = (int(np.ceil(np.log10(quantity.low) - 1e-9)), int(np.floor(np.log10(quantity.high) + 1e-9)))
        ticks: Any = quantity.ticks or [10.0**k for k in range(first, last + 1)]
    else:
        ticks = quantity.ticks or np.linspace(quantity.low, quantity.high, 6)
    return {
        "name": quantity.label, "low": quantity.low, "high": quantity.high, "log": quantity.scale == "log",
        "ticks": [[float(tick), number(float(tick))] for tick in ticks],
    }  # fmt: skip


def said(kind: type[Prediction]) -> list[Tree]:
    """What a prediction says of a guess, as pairs of a condition and a text; the last has no condition.

    >>> said(PREDICTIONS["adagrad.rare"])[0][0]
    ['<', ['at', ['guess'], 0], 2]
    """
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(kind.said))).body
    assert isinstance(function, ast.FunctionDef)
    return list(_pairs(function.body))


def _pairs(statements: list[ast.stmt]) -> Iterator[Tree]:
    for statement in statements:
        match statement:
            case ast.If(test=test, body=[ast.Return(value=ast.Constant(value=text))], orelse=[]):
                yield [_tree(test), text]
            case ast.Return(value=ast.Constant(value=text)):
                yield [None, text]
            case _:
                raise ValueError(f"asked.js cannot say this: {ast.unparse(statement)}")


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return -value  # type: ignore[operator]
        case ast.Name(id="guess" | "truth" as name):
            return [name]
        case ast.Subscript(value=value, slice=index):
            return ["at", _tree(value), _tree(index)]
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return [_SIGNS[type(sign)], _tree(left), _tree(right)]
        case ast.BinOp(left=left, op=sign, right=right):
            return [_SIGNS[type(sign)], _tree(left), _tree(right)]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=args) if name in _NAMED:
            return [name, *map(_tree, args)]
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _NAMED:
            return [name, _tree(value)]
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=args):
            return [name, ["list", *map(_tree, args)]]
    raise ValueError(f"asked.js cannot work this out: {ast.unparse(node)}")
