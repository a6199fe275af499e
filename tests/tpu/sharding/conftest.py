"""Programs without XLA's optimizations: they compile in a third of the time, and the last bit has no reason to differ.

An optimized program fuses a multiplication with the addition after it, or not, by the shapes that it has; so a pending
update on four devices may differ from that on one by a last bit. Optimized steps on meshes are compared in
`tests/tpu/engine/test_system.py` and `tests/tpu/experimental/embedding/test_embedding.py`.
"""

from collections.abc import Iterator

import jax
import pytest

from tests import programs


@pytest.fixture(scope="module", autouse=True)
def without_optimizations() -> Iterator[None]:
    """For the programs of one file; none of them is left to others."""
    jax.clear_caches()
    with programs.quick():
        yield
    jax.clear_caches()
