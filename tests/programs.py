"""JAX programs compiled in a third of the time, for tests that ask what they compute and not their last digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LOOPS_BY_MLIR = "xla_cpu_use_fusion_emitters"


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
