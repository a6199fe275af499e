"""JAX programs compiled in a third of the time, for tests that ask what they compute and not their last digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import parts

LOOPS_BY_MLIR = "xla_cpu_use_fusion_emitters"

# Files of tests that ask what a program computes, and not for its last digits.
# A program that they share with other tests stays as it was compiled first: none of those may ask for last digits.
QUICK = (
    "tests/clip/test_per_example", "tests/labs/", "tests/models/", "tests/optax/test_loops", "tests/optax/test_modules",
    "tests/optax/test_recording", "tests/optax/test_rule_in_chains", "tests/optax/test_stale", "tests/record/test_each",
    "tests/record/test_noise", "tests/record/test_recorder", "tests/record/test_updates", "tests/report/test_skipped",
    "tests/tpu/explanations/test_traps", "tests/tpu/mid_level/", "tests/tpu/sharding/test_layouts",
    "tests/tpu/test_lookup_sparse", "tests/tpu/training/", "tests/workers/test_diagram", "tests/workers/test_problems",
    "tests/workers/test_reader",
)  # fmt: skip


def are_quick(file: Path) -> bool:
    """Tell whether tests in a file may have programs that are compiled quickly."""
    return file.is_relative_to(parts.ROOT) and file.relative_to(parts.ROOT).as_posix().startswith(QUICK)


@contextmanager
def quick() -> Iterator[None]:
    """Leave out what makes programs fast and, where XLA still can, write loops without MLIR."""
    import jax

    with pytest.MonkeyPatch.context() as patch:
        if _is_known(LOOPS_BY_MLIR):
            from jax._src import compiler  # a flag is read once, and XLA_FLAGS are of TensorFlow too

            patch.setattr(compiler, "get_compile_options", _without(LOOPS_BY_MLIR, compiler.get_compile_options))
        before = jax.config.read("jax_disable_most_optimizations")
        jax.config.update("jax_disable_most_optimizations", True)
        try:
            yield
        finally:
            jax.config.update("jax_disable_most_optimizations", before)


@cache
def _is_known(option: str) -> bool:
    """Tell whether XLA has this option still."""
    import jax

    try:
        jax.jit(lambda x: x, compiler_options={option: False})(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True


def _without(option: str, given: Callable[..., Any]) -> Callable[..., Any]:
    """Compile options as they are `given`, with one turned off."""

    def options(*args: Any, env_options_overrides: Any = None, **kwargs: Any) -> Any:
        return given(*args, env_options_overrides={option: False, **(env_options_overrides or {})}, **kwargs)

    return options
