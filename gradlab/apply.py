"""The ways to use a rule on arrays: dense, rows (duplicates summed once), each occurrence in turn, every row.

Pure functions; `gradlab.in_place` has those that use up the arrays they are given.
"""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from ._steps.apply import dense, each, every_row, rows, sparse

__all__ = ["dense", "each", "every_row", "rows", "sparse"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
