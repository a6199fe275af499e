"""Real runs: two towers over words, a recommender; and small ones with everything inside kept, for pictures."""

from typing import TYPE_CHECKING

from ..._base.suggest import only_modules as _only_modules

if TYPE_CHECKING:
    from . import documentation as documentation
    from . import recommender as recommender
    from . import traces as traces
    from . import two_tower as two_tower
else:
    __getattr__, __dir__ = _only_modules(__name__)

__all__ = ["documentation", "recommender", "traces", "two_tower"]
