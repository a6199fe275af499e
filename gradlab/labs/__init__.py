"""The labs: each shows itself in a notebook, and draws, saves and describes itself without one."""

import typing

from .._base.suggest import suggesting as _suggesting
from ._lab import Lab as Lab
from ._lab import Target as Target
from ._link import opened as _opened
from ._link import read as _read
from .accumulators import accumulators as accumulators
from .adagrad import adagrad as adagrad
from .adagrad_libraries import adagrad_libraries as adagrad_libraries
from .backup_workers import backup_workers as backup_workers
from .clip_arrows import clip_arrows as clip_arrows
from .clip_libraries import clip_libraries as clip_libraries
from .clipping import clipping as clipping
from .gate_race import gate_race as gate_race
from .optimizers import optimizers as optimizers
from .run_adagrad import run_adagrad as run_adagrad
from .run_layers import run_layers as run_layers
from .run_staleness import run_staleness as run_staleness
from .sparse_accumulators import sparse_accumulators as sparse_accumulators
from .staleness import staleness as staleness
from .staleness_models import staleness_models as staleness_models
from .staleness_phases import staleness_phases as staleness_phases
from .staleness_policies import staleness_policies as staleness_policies
from .staleness_races import staleness_races as staleness_races
from .sync_replicas import sync_replicas as sync_replicas
from .tpu_embedding import tpu_embedding as tpu_embedding
from .tpu_embedding_run import tpu_embedding_run as tpu_embedding_run
from .tpu_engines import tpu_engines as tpu_engines
from .word_rates import word_rates as word_rates

_CATALOGUE: tuple[type[Lab], ...] = (
    clipping,
    clip_arrows,
    clip_libraries,
    gate_race,
    adagrad,
    adagrad_libraries,
    word_rates,
    optimizers,
    staleness,
    staleness_phases,
    staleness_policies,
    staleness_races,
    staleness_models,
    accumulators,
    sparse_accumulators,
    sync_replicas,
    backup_workers,
    tpu_embedding,
    tpu_embedding_run,
    tpu_engines,
    run_layers,
    run_adagrad,
    run_staleness,
)

if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)


def catalogue() -> dict[str, type[Lab]]:
    """Every lab by name.

    >>> "clipping" in catalogue()
    True
    """
    return {lab.__name__: lab for lab in _CATALOGUE}


def from_link(link: str) -> Lab:
    """The lab that a copied link shows, at its settings.

    Raises:
        ValueError: not a link to a lab, a lab or a setting that does not exist, or a value that is not allowed.

    >>> from_link("#gl=1&lab=clip_arrows&method=norm&limit=2").params["method"]
    'norm'
    """
    name, settings = _read(link)
    if name not in catalogue():
        raise ValueError(f"the link names a lab {name!r}; there are {', '.join(catalogue())}")
    return _opened(catalogue()[name], settings)
