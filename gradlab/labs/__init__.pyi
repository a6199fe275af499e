"""Every public name and the module it lives in; the labs in the order of the course.

Type checkers and editors read this file, and so does `__init__.py`, which loads a lab when it is first used.
"""

# ruff: noqa: I001  (the order is that of the course)

from collections.abc import Callable

from ._descent.lab import descent as descent
from ._clipping.lab import clipping as clipping
from ._clip_arrows.lab import clip_arrows as clip_arrows
from ._clip_libraries.lab import clip_libraries as clip_libraries
from ._gate_race.lab import gate_race as gate_race
from ._adagrad.lab import adagrad as adagrad
from ._adagrad_libraries.lab import adagrad_libraries as adagrad_libraries
from ._word_rates.lab import word_rates as word_rates
from ._optimizers.lab import optimizers as optimizers
from ._staleness.lab import staleness as staleness
from ._staleness_phases.lab import staleness_phases as staleness_phases
from ._stale_training.lab import staleness_policies as staleness_policies
from ._staleness_races.lab import staleness_races as staleness_races
from ._stale_training.lab import staleness_models as staleness_models
from ._accumulators.lab import accumulators as accumulators
from ._accumulators.lab import sparse_accumulators as sparse_accumulators
from ._sync_replicas.lab import sync_replicas as sync_replicas
from ._sync_replicas.lab import backup_workers as backup_workers
from ._tpu_embedding.lab import tpu_embedding as tpu_embedding
from ._tpu_embedding_run.lab import tpu_embedding_run as tpu_embedding_run
from ._tpu_engines.lab import tpu_engines as tpu_engines
from ._run_layers.lab import run_layers as run_layers
from ._run_adagrad.lab import run_adagrad as run_adagrad
from ._run_staleness.lab import run_staleness as run_staleness
from ._compare import compare as compare

from ._lab import Lab as Lab
from ._lab import Target as Target
from ._lab import about as about
from ._lab import glance as glance
from .placement_picture import PlacementPicture as PlacementPicture

def catalog() -> dict[str, Callable[..., Lab]]: ...
def from_link(link: str) -> Lab: ...
