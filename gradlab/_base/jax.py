"""JAX for the modules that need it; if it is missing, the ImportError says how to install it.

All other modules work without JAX.
"""

from .extras import need

need("jax", "this part of gradlab")

import jax as jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp"]
