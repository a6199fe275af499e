"""Types that everything speaks of."""

from __future__ import annotations

from typing import Any

Array = Any
