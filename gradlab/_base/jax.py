"""JAX for the files that compute with it, imported when one of them is first used.

Everything else works without JAX; what does not says so here, in one sentence.
"""

from .extras import need

need("jax", "this part of gradlab")

import jax as jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp"]
