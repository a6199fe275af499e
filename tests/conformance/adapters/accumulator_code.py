"""Observations that are code: calls of accumulators with other people's abbreviations, and remarks
around them.

a=CA(f32,[1]); b=CA(f32,[1],SUM); a.apply_grad([3.0])            apply_grad([1]) (python int)
eager ConditionalAccumulator(tf.int32,[1],shared_name=..)        shape=[-1]
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from typing import Any

import gradlab as gl
from tests.conformance import decode
from tests.conformance.adapters.accumulator_names import PARAMETERS, Maker, names
from tests.conformance.scenarios import Unsupported

# Words in brackets behind a call, not its arguments.
REMARK = re.compile(r"(?<=[\w\])'\"])\s+\([^()]*\)\s*$")
MODE = re.compile(r"^\s*(eager|graph)\b(?:\s+mode)?\s*:?\s+", re.IGNORECASE)
LEAD = re.compile(r"^[^()='\"]*:\s+")  # words before a colon
FETCH = re.compile(r"\.numpy\(\)|\b(?:sess|session|s)\d?\.run(?=\()")  # values are there at once
# What stands between statements: a semicolon, or a comma, "then" or "and" before what begins like
# one.
BETWEEN = re.compile(
    r"\s*(?:;|,?\s+then\b|,?\s+and\b|,)\s*(?=(?:del\s|\w+\s*=[^=]|\w+(?:\.\w+)*\())"
)
METHODS = (
    "apply_grad",
    "take_grad",
    "num_accumulated",
    "set_global_step",
    "apply_indexed_slices_grad",
)
ALLOWED = (
    *(
        ast.Module,
        ast.Expr,
        ast.Assign,
        ast.Delete,
        ast.expr_context,
        ast.Name,
        ast.Attribute,
        ast.Call,
        ast.keyword,
    ),
    *(
        ast.Constant,
        ast.List,
        ast.Tuple,
        ast.Dict,
        ast.UnaryOp,
        ast.USub,
        ast.BinOp,
        ast.operator,
        ast.Subscript,
    ),
    *(ast.Compare, ast.cmpop),
)


class World:
    """The names that one observation leaves to the next, and the accumulator that is meant where
    none is named.
    """

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
                try:
                    value = self._statement(node, remark)
                except NameError as unknown:
                    raise Unsupported(f"observation {text!r}: {unknown}") from unknown
            return value

    def _statement(self, node: ast.stmt, remark: str) -> Any:
        if found := re.search(r"\b(float16|float32|float64|bfloat16)\b accumulator", remark):
            self.make.dtype = decode.dtype(found[1])
        if {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & set(METHODS):
            self.names.update({m: functools.partial(_call, self.it(), m) for m in METHODS})
        space = {"__builtins__": {}}
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in PARAMETERS
        ):
            return self.make.dense(
                **{node.targets[0].id: _value(node.value, {**space, **self.names})}
            )
        if isinstance(node, ast.Expr):
            return _value(node.value, {**space, **self.names})
        self.names["__builtins__"] = {}
        exec(compile(ast.Module([node], []), "observation", "exec"), self.names)
        return None


def _call(acc: Any, method: str, *given: Any, **named: Any) -> Any:
    return getattr(acc, method)(*given, **named)


def _value(node: ast.expr, space: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "observation", "eval"), space)


def statements(text: str) -> list[tuple[ast.stmt, str]]:
    """Each with the words behind it, which say what is meant or nothing."""
    text = FETCH.sub("", re.sub(r"\.\.+", "...", text.strip()))
    for whole in (True, False):
        for parts in (text.split(";"), _split(text)):
            found = [parsed(part.strip(), whole) for part in parts]
            if all(found):
                return [statement for statement in found if statement]
    raise Unsupported(f"observation {text!r}")


def _split(text: str) -> list[str]:
    """At what is between statements and not inside brackets."""
    starts, parts = 0, []
    for match in BETWEEN.finditer(text):
        before = text[: match.start()]
        if sum(map(before.count, "([{")) == sum(map(before.count, ")]}")):
            parts.append(text[starts : match.start()])
            starts = match.end()
    return [*parts, text[starts:]]


def parsed(text: str, whole: bool) -> tuple[ast.stmt, str] | None:
    """The one statement that this is, or that it begins with or has behind a colon."""
    words = REMARK.sub("", text).split(" ")
    for end in range(len(words), 0, -1):
        code = " ".join(words[:end])
        node = _statement(code)
        if node is not None:
            return node, text[len(code) :]
        if whole:
            return None
    lead = LEAD.match(text)
    return parsed(text[lead.end() :], whole) if lead else None


def _statement(code: str) -> ast.stmt | None:
    try:
        (node,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return None
    return node if _is_plain(node) else None


def _is_plain(node: ast.stmt) -> bool:
    """Only what observations need; words alone are none, and `a = f(), g()` is two statements."""
    nodes = list(ast.walk(node))
    if not all(isinstance(n, ALLOWED) for n in nodes):
        return False
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Tuple)
    ):
        return False
    says = any(
        isinstance(n, ast.Call | ast.Attribute | ast.Assign | ast.Delete | ast.Compare)
        for n in nodes
    )
    private = any(isinstance(n, ast.Attribute) and n.attr.startswith("_") for n in nodes)
    return (says or isinstance(nodes[1], ast.Name)) and not private
