"""Observations that are code: calls of accumulators with other people's abbreviations, and remarks around them.

a=CA(f32,[1]); b=CA(f32,[1],SUM); a.apply_grad([3.0])            apply_grad([1]) (python int)
eager ConditionalAccumulator(tf.int32,[1],shared_name=..)        shape=[-1]
"""

from __future__ import annotations

import ast
import contextlib
import re
from typing import Any

import gradlab as gl

from .. import decode
from ..scenarios import Unsupported
from .accumulator_names import PARAMETERS, Maker, names

REMARK = re.compile(r"(?<=[\w\])'\"])\s+\([^()]*\)\s*$")  # words in brackets behind a call, not its arguments
MODE = re.compile(r"^\s*(eager|graph)\b(?:\s+mode)?\s*:?\s+", re.IGNORECASE)
LEAD = re.compile(r"^[^()='\"]*:\s+")  # words before a colon
FETCH = re.compile(r"\.numpy\(\)|\b(?:sess|session|s)\d?\.run(?=\()")  # values are there at once
# What stands between statements: a semicolon, or a comma, "then" or "and" before what begins like one.
BETWEEN = re.compile(r"\s*(?:;|,?\s+then\b|,?\s+and\b|,)\s*(?=(?:del\s|\w+\s*=[^=]|\w+(?:\.\w+)*\())")
METHODS = ("apply_grad", "take_grad", "num_accumulated", "set_global_step", "apply_indexed_slices_grad")
ALLOWED = (
    *(ast.Module, ast.Expr, ast.Assign, ast.Delete, ast.expr_context, ast.Name, ast.Attribute, ast.Call, ast.keyword),
    *(ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.BinOp, ast.operator, ast.Subscript),
    *(ast.Compare, ast.cmpop),
)


class World:
    """The names that one observation leaves to the next, and the accumulator that is meant where none is named."""

    def __init__(self, mode: str) -> None:
        self.make, self.graph = Maker(), gl.Graph()
        self.make.mode = mode
        self.names = names(self.make)

    def it(self) -> Any:
        """The accumulator that is meant where none is named: the last one, or a first one."""
        acc = self.make.last()
        if acc is None:
            acc = self.names["it"] = self.make.dense()
        return acc

    def run(self, text: str) -> Any:
        """Run the statements; the value of the last one if it is an expression."""
        if found := MODE.match(text):
            self.make.mode, text = found[1].lower(), text[found.end() :]
        with self.graph.as_default() if self.make.mode == "graph" else contextlib.nullcontext():
            value = None
            for node, remark in statements(text):
                value = self._statement(node, remark)
            return value

    def _statement(self, node: ast.stmt, remark: str) -> Any:
        if found := re.search(r"\b(float16|float32|float64|bfloat16)\b accumulator", remark):
            self.make.dtype = decode.dtype(found[1])
        if {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & set(METHODS):
            acc = self.it()
            self.names.update({m: getattr(acc, m) for m in METHODS if hasattr(acc, m)})
        space = {"__builtins__": {}}
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in PARAMETERS:
            return self.make.dense(**{node.targets[0].id: _value(node.value, {**space, **self.names})})
        if isinstance(node, ast.Expr):
            return _value(node.value, {**space, **self.names})
        self.names["__builtins__"] = {}
        exec(compile(ast.Module([node], []), "observation", "exec"), self.names)
        return None


def _value(node: ast.expr, space: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "observation", "eval"), space)


def statements(text: str) -> list[tuple[ast.stmt, str]]:
    """Each with the words behind it, which say what is meant or nothing."""
    text = FETCH.sub("", re.sub(r"\.\.+", "...", text.strip()))
    for attempt in (text.split(";"), BETWEEN.split(text)):
        found = [parsed(part) for part in attempt]
        if all(found):
            return found
    raise Unsupported(f"observation {text!r}")


def parsed(part: str) -> tuple[ast.stmt, str] | None:
    """The longest beginning that is one statement, or what is behind a colon."""
    text = part.strip()
    words = REMARK.sub("", text).split(" ")
    for end in range(len(words), 0, -1):
        code = " ".join(words[:end])
        try:
            tree = ast.parse(code)
        except SyntaxError:
            continue
        rest = text[len(code) :]
        if len(tree.body) == 1 and _is_plain(tree) and not BETWEEN.match(rest):
            return tree.body[0], rest
    return parsed(text[lead.end() :]) if (lead := LEAD.match(text)) else None


def _is_plain(tree: ast.Module) -> bool:
    nodes = list(ast.walk(tree))
    bare = isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant | ast.BinOp)
    private = any(isinstance(n, ast.Attribute) and n.attr.startswith("_") for n in nodes)
    return all(isinstance(n, ALLOWED) for n in nodes) and not private and not bare
