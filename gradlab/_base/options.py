"""Checks of arguments: a choice among words, a count, `semantics` and `strict`.

`semantics` chooses between TensorFlow 2.3 and 2.21 where they differ:

| function            | case                       | "tf2.21"                | "tf2.3"        |
|---------------------|----------------------------|-------------------------|----------------|
| clip_by_value       | a bound is NaN             | every entry becomes NaN | it is ignored  |
| clip_by_norm        | clip_norm is negative      | entries become 0        | signs flip     |
|                     | clip_norm of another dtype | it is cast              | DTypeError     |
|                     | an axis is named twice     | InvalidArgumentError    | it counts once |
| clip_by_global_norm | use_norm of another dtype  | it is cast              | DTypeError     |
| schedules.serialize | any schedule               | with module and         | without these  |
|                     |                            | registered_name         |                |
|                     | a CosineDecay with warmup  | it is in the config     | ValueError     |

The clips of `gl.optax` pass it on to these. Versions of Keras are another `semantics`, with its own
table: `gl.keras.VERSIONS` in `keras/versions.py`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..errors import InvalidArgumentError

Semantics = Literal["tf2.21", "tf2.3"]


def is_old(semantics: str) -> bool:
    """Tell whether `semantics` is TensorFlow 2.3's; ValueError for any other than the two."""
    if semantics not in ("tf2.21", "tf2.3"):
        raise ValueError(f'semantics must be "tf2.21" or "tf2.3", got {semantics!r}')
    return semantics == "tf2.3"


def check_choice(name: str, given: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a value that isn't one of the allowed words (ValueError)."""
    if given not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {given!r}")


def check_count(name: str, given: Any, least: int = 1) -> None:
    """Refuse a value that isn't an integer of at least `least` (InvalidArgumentError)."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise InvalidArgumentError(f"{name} must be an integer of at least {least}, got {given!r}")


def is_strict(strict: Any) -> bool:
    """Tell whether an argument `strict`, None or "tf", asks for TensorFlow's traps (ValueError)."""
    if strict not in (None, "tf"):
        raise ValueError(f'strict must be None or "tf", got {strict!r}')
    return bool(strict == "tf")
