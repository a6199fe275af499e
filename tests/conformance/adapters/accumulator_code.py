"""Observations that are code: calls of accumulators with other people's abbreviations, and a remark behind some.

a=CA(f32,[1]); b=CA(f32,[1],SUM); a.apply_grad([3.0])          apply_grad([1]) (python int)
eager ConditionalAccumulator(tf.int32,[1],shared_name=..)      shape=[-1]
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradlab as gl

from .. import decode
from ..scenarios import Unsupported

REMARK = re.compile(r"(?<=[\w\])'\"])\s+\([^()]*\)\s*$")  # words in brackets behind a call, not its arguments
MODE = re.compile(r"^\s*(eager|graph)(?:\s+mode)?\s*:?\s+", re.IGNORECASE)
PARAMETERS = ("dtype", "shape", "shared_name", "name", "reduction_type")
METHODS = ("apply_grad", "take_grad", "num_accumulated", "set_global_step", "apply_indexed_slices_grad")
ALLOWED = (
    *(ast.Module, ast.Expr, ast.Assign, ast.Delete, ast.expr_context, ast.Name, ast.Attribute, ast.Call, ast.keyword),
    *(ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.BinOp, ast.operator, ast.Subscript),
    *(ast.Compare, ast.Is, ast.IsNot, ast.Eq),
)
_unique = itertools.count()


class DTypes:
    """`tf.float32` and all its kin, and what else of TensorFlow the observations call."""

    IndexedSlices = staticmethod(gl.IndexedSlices)

    def __getattr__(self, name: str) -> Any:
        try:
            return np.dtype(str) if name == "string" else decode.dtype(name)
        except TypeError:
            raise Unsupported(f"tf.{name}") from None

    @staticmethod
    def constant(x: Any, dtype: Any = np.float32) -> Any:
        return tensor(x, dtype)


def tensor(x: Any, dtype: Any = np.float32) -> Any:
    """An array of JAX, which has its dtype for good, as a NumPy array in TensorFlow has not."""
    import jax

    with jax.enable_x64(True):
        return jax.numpy.asarray(x, dtype)


def slices(values: Any, indices: list[int], dense_shape: list[int] | None) -> Any:
    return gl.IndexedSlices(np.float32(values), np.int64(indices), dense_shape)


TF = DTypes()
FLOATS = (("f", "float", 16), ("f", "float", 32), ("f", "float", 64), ("bf", "bfloat", 16))
NAMES = {
    **{name: getattr(TF, name) for name in ("int32", "int64", "uint8", "complex64", "string")},
    **{f"{kind}{bits}": getattr(TF, f"{name}{bits}") for kind, name, bits in FLOATS},
    **dict(tf=TF, boolean=TF.bool, tensor=tensor, slices=slices, SUM="SUM", MEAN="MEAN", inf=np.inf, nan=np.nan),
    "np": SimpleNamespace(array=np.array, float16=np.float16, float32=np.float32, float64=np.float64),
}


class World:
    """The names that one observation leaves to the next, and the accumulator that is meant where none is named."""

    def __init__(self, mode: str) -> None:
        self.mode, self.graph = mode, gl.Graph()
        self.last: Any = lambda: None  # a weak reference: `del a` must delete it
        self.default_dtype = np.dtype(np.float32)
        self.names: dict[str, Any] = {**NAMES, "raw_ops": SimpleNamespace(ConditionalAccumulator=self.make_raw)}
        self.names.update(dict.fromkeys(("CA", "ConditionalAccumulator"), self.maker(gl.ConditionalAccumulator)))
        sparse = self.maker(gl.SparseConditionalAccumulator)
        self.names.update(dict.fromkeys(("SCA", "SparseConditionalAccumulator"), sparse))

    def maker(self, kind: Any) -> Any:
        """The constructor by its place or by what the argument is; what is left open is a float32 of one entry."""

        def make(*given: Any, **named: Any) -> Any:
            if self.mode == "eager" and kind is gl.SparseConditionalAccumulator:
                raise RuntimeError("TensorFlow has these in graphs only")
            words = [x for x in given if isinstance(x, str) and x in ("SUM", "MEAN")]
            placed = [x for x in given if x is not ... and not (isinstance(x, str) and x in ("SUM", "MEAN"))]
            arguments = {"dtype": self.default_dtype, "shape": [1], **named}
            arguments |= dict(zip(PARAMETERS, placed, strict=False)) | dict(
                zip(["reduction_type"], words, strict=False)
            )
            if arguments.get("shared_name") is ...:
                arguments["shared_name"] = f"some_name_{next(_unique)}"
            made = kind(**arguments, strict="tf")
            self.last = weakref.ref(made)
            return made

        return make

    def make_raw(self, *_: Any, **__: Any) -> Any:
        return gl.raw_ops.ConditionalAccumulator(dtype=np.dtype(np.float32), shape=[1])

    def run(self, text: str) -> Any:
        """Run the statements; the value of the last one if it is an expression."""
        if found := MODE.match(text):
            self.mode, text = found[1].lower(), text[found.end() :]
        with self.graph.as_default() if self.mode == "graph" else contextlib.nullcontext():
            value = None
            for part in text.split(";"):
                value = self._statement(*parsed(part))
            return value

    def _statement(self, tree: ast.Module, remark: str) -> Any:
        if found := re.search(r"\b(float16|float32|float64|bfloat16)\b accumulator", remark):
            self.default_dtype = decode.dtype(found[1])
        (node,) = tree.body
        self._bind(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in PARAMETERS:
            return self.names["CA"](**{node.targets[0].id: self._value(node.value)})
        if isinstance(node, ast.Expr):
            return self._value(node.value)
        exec(compile(tree, "observation", "exec"), self._space())
        return None

    def it(self) -> Any:
        """The accumulator that is meant where none is named: the last one, or a first one."""
        acc = self.last()
        if acc is None:
            acc = self.names["it"] = self.names["CA"]()
        return acc

    def _bind(self, tree: ast.Module) -> None:
        """Methods called without an accumulator are its."""
        if {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(METHODS):
            acc = self.it()
            self.names.update({m: getattr(acc, m) for m in METHODS if hasattr(acc, m)})

    def _value(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "observation", "eval"), self._space())

    def _space(self) -> dict[str, Any]:
        self.names["__builtins__"] = {}
        return self.names


def parsed(part: str) -> tuple[ast.Module, str]:
    """One statement, and the words behind it, which say what is meant or nothing."""
    text = re.sub(r"\.\.+", "...", part.strip())
    words = REMARK.sub("", text).split(" ")
    for end in range(len(words), 0, -1):
        try:
            tree = ast.parse(" ".join(words[:end]))
        except SyntaxError:
            continue
        if len(tree.body) == 1 and _is_plain(tree):
            return tree, text[len(" ".join(words[:end])) :]
    raise Unsupported(f"observation {part.strip()!r}")


def _is_plain(tree: ast.Module) -> bool:
    nodes = list(ast.walk(tree))
    bare = isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant | ast.BinOp)
    private = any(isinstance(n, ast.Attribute) and n.attr.startswith("_") for n in nodes)
    return all(isinstance(n, ALLOWED) for n in nodes) and not private and not bare
