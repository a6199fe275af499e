"""JAX programs compiled in less time, where no digit is lost by it or no test asks for the last ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests import parts

LOOPS_BY_MLIR = "xla_cpu_use_fusion_emitters"

# Files of tests that ask what a program computes, and not for its last digits.
# A program that they share with other tests stays as it was compiled first: none of those may ask for last digits.
QUICK = (
    "tests/clip/test_per_example", "tests/labs/", "tests/models/", "tests/optax/test_rule_in_chains",
    "tests/optax/test_stale", "tests/record/analysis/test_noise", "tests/record/attach/test_optax",
    "tests/record/test_per_step",
    "tests/record/test_recorder", "tests/record/test_traced", "tests/record/test_updates",
    "tests/report/test_skipped", "tests/tpu/explanations/test_traps", "tests/tpu/experimental/embedding/",
    "tests/tpu/test_lookup_sparse", "tests/tpu/training/", "tests/workers/test_diagram", "tests/workers/test_problems",
    "tests/workers/test_reader",
)  # fmt: skip

# Where just one operation of a program computes, and others move numbers, no two can be made into one: its digits are
# the same however it is compiled.
MOVES = {
    "constant", "iota", "broadcast_in_dim", "reshape", "slice", "dynamic_slice", "pad", "gather", "concatenate",
    "transpose", "reverse", "convert",
}  # fmt: skip
COMPUTES = {
    "add", "subtract", "multiply", "divide", "sqrt", "abs", "negate", "maximum", "minimum", "compare", "select", "and",
    "or", "xor", "not",
}  # fmt: skip
FRAME = {"builtin.module", "func.func", "func.return", "func.call"}


def are_quick(file: Path) -> bool:
    """Tell whether tests in a file may have programs that are compiled quickly."""
    return file.is_relative_to(parts.ROOT) and file.relative_to(parts.ROOT).as_posix().startswith(QUICK)


def every(_: Any) -> bool:
    """Take every program."""
    return True


def keeps_digits(program: Any) -> bool:
    """Tell whether a program (a module of MLIR) gives the same digits however it is compiled."""
    from jax._src.lib.mlir import ir

    names: set[str] = set()
    computing = 0

    def note(operation: Any) -> Any:
        nonlocal computing
        name = operation.name.removeprefix("stablehlo.")
        names.add(name)
        computing += name in COMPUTES and any(_is_float(value.type) for value in operation.operands)
        return ir.WalkResult.ADVANCE

    program.operation.walk(note)
    few = computing <= 1 and names <= FRAME | MOVES | COMPUTES
    return few and "complex<" not in str(program)  # one product of these is four, and two sums


def _is_float(kind: Any) -> bool:
    from jax._src.lib.mlir import ir

    return isinstance(kind, ir.ShapedType) and isinstance(kind.element_type, ir.FloatType)


@contextmanager
def quick(ones: Callable[[Any], bool] = every) -> Iterator[None]:
    """For programs that are `ones`, leave out what makes them fast and, where XLA still can, write loops without MLIR.

    All programs share a context of MLIR: to make one takes as long as to compile a small program.
    """
    from jax._src import compiler
    from jax._src.interpreters import mlir

    def compiled(backend: Any, program: Any, devices: Any, options: Any, *others: Any, **more: Any) -> Any:
        if not options.env_option_overrides and ones(program):  # one that is given options keeps to them
            options.executable_build_options.debug_options.xla_backend_optimization_level = 0
            if _is_known(LOOPS_BY_MLIR):
                options.env_option_overrides = [(LOOPS_BY_MLIR, False)]
        return compile_fully(backend, program, devices, options, *others, **more)

    with pytest.MonkeyPatch.context() as patch:
        compile_fully = compiler.compile_or_get_cached
        patch.setattr(compiler, "compile_or_get_cached", compiled)
        if not isinstance(mlir.make_ir_context, partial):  # else one within another has done so
            patch.setattr(mlir, "make_ir_context", partial(_made_once, mlir.make_ir_context))
        yield


@cache
def _made_once(make: Callable[[], Any]) -> Any:
    return make()


@cache
def _is_known(option: str) -> bool:
    """Tell whether XLA has this option still."""
    import jax

    try:
        jax.jit(lambda x: x, compiler_options={option: False})(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True
