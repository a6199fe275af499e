"""The labs: each shows itself in a notebook, and draws, saves and describes itself without one."""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from ._accumulators import accumulators, sparse_accumulators
from ._adagrad import adagrad
from ._adagrad_libraries import adagrad_libraries
from ._clip_arrows import clip_arrows
from ._clip_libraries import clip_libraries
from ._clipping import clipping
from ._compare import compare
from ._descent import descent
from ._gate_race import gate_race
from ._lab import Lab, Target
from ._lab import opened as _opened
from ._lab import read as _read
from ._optimizers import optimizers
from ._run_adagrad import run_adagrad
from ._run_layers import run_layers
from ._run_staleness import run_staleness
from ._staleness import staleness
from ._staleness_effects import staleness_models, staleness_policies
from ._staleness_phases import staleness_phases
from ._staleness_races import staleness_races
from ._sync_replicas import backup_workers, sync_replicas
from ._tpu_embedding import tpu_embedding
from ._tpu_embedding_run import tpu_embedding_run
from ._tpu_engines import tpu_engines
from ._word_rates import word_rates

_CATALOG: tuple[type[Lab], ...] = (  # in the order of the course
    descent, clipping, clip_arrows, clip_libraries, gate_race, adagrad, adagrad_libraries, word_rates, optimizers,
    staleness, staleness_phases, staleness_policies, staleness_races, staleness_models, accumulators,
    sparse_accumulators, sync_replicas, backup_workers, tpu_embedding, tpu_embedding_run, tpu_engines, run_layers,
    run_adagrad, run_staleness, compare,
)  # fmt: skip

__all__ = [
    "Lab", "Target", "accumulators", "adagrad", "adagrad_libraries", "backup_workers", "catalog", "catalogue",
    "clip_arrows", "clip_libraries", "clipping", "compare", "descent", "from_link", "gate_race", "optimizers",
    "run_adagrad", "run_layers", "run_staleness", "sparse_accumulators", "staleness", "staleness_models",
    "staleness_phases", "staleness_policies", "staleness_races", "sync_replicas", "tpu_embedding", "tpu_embedding_run",
    "tpu_engines", "word_rates",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)


def catalog() -> dict[str, type[Lab]]:
    """Every lab by name.

    >>> "clipping" in catalog()
    True
    """
    return {lab.__name__: lab for lab in _CATALOG}


catalogue = catalog  # as it was called at first


def from_link(link: str) -> Lab:
    """The lab that a copied link shows, at its settings.

    Raises:
        ValueError: not a link to a lab, a lab or a setting that does not exist, or a value that is not allowed.

    >>> from_link("#gl=1&lab=clip_arrows&method=norm&limit=2").params["method"]
    'norm'
    """
    name, settings = _read(link)
    if name not in catalog():
        raise ValueError(f"the link names a lab {name!r}; there are {', '.join(catalog())}")
    return _opened(catalog()[name], settings)
