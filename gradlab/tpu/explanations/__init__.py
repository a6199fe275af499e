"""Why a row moved (`explain`, `Explanation`), and which traps a step is in (`explain_missing`, in `traps`)."""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public

__all__: list[str] = []  # what users need of it is in `gl.tpu`

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
