"""The ways to use a rule on arrays: `dense` for an array, three for IndexedSlices.

| way         | a row named twice       | rows not named          | used by                                           |
|-------------|-------------------------|-------------------------|---------------------------------------------------|
| `rows`      | moves once, by the sum  | keep weights and slots  | lazy rules: most of `gl.train`, `gl.tpu`          |
| `each`      | moves twice, in order   | keep weights and slots  | gradient descent; TPU tables that sum no slices   |
| `every_row` | moves once, by the sum  | move by a gradient of 0 | rules with `lazy=False`: `AdamOptimizer`          |

`sparse` is `rows` for a lazy rule and `every_row` for one that is not.

Pure functions; `gradlab.in_place` has those that use up the arrays they are given.
"""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from ._steps.apply import dense, each, every_row, rows, sparse

__all__ = ["dense", "each", "every_row", "rows", "sparse"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
