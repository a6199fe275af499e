"""The labs: each shows itself in a notebook, and draws, saves and describes itself without one."""

from typing import TYPE_CHECKING, Any

from .._base.loading import loaded as _loaded
from .._base.suggest import only_public as _only_public
from ._lab import Lab, Target
from ._lab import opened as _opened
from ._lab import read as _read

# Where each lab lives, in the order of the course. One is loaded when it is first used: all of them take as long as the
# first picture of one.
_HOMES = {
    "descent": "_descent.lab",
    "clipping": "_clipping.lab",
    "clip_arrows": "_clip_arrows.lab",
    "clip_libraries": "_clip_libraries.lab",
    "gate_race": "_gate_race.lab",
    "adagrad": "_adagrad.lab",
    "adagrad_libraries": "_adagrad_libraries.lab",
    "word_rates": "_word_rates.lab",
    "optimizers": "_optimizers.lab",
    "staleness": "_staleness.lab",
    "staleness_phases": "_staleness_phases.lab",
    "staleness_policies": "_staleness_effects.lab",
    "staleness_races": "_staleness_races.lab",
    "staleness_models": "_staleness_effects.lab",
    "accumulators": "_accumulators.lab",
    "sparse_accumulators": "_accumulators.lab",
    "sync_replicas": "_sync_replicas.lab",
    "backup_workers": "_sync_replicas.lab",
    "tpu_embedding": "_tpu_embedding",
    "tpu_embedding_run": "_tpu_embedding_run.lab",
    "tpu_engines": "_tpu_engines.lab",
    "run_layers": "_run_layers.lab",
    "run_adagrad": "_run_adagrad.lab",
    "run_staleness": "_run_staleness.lab",
    "compare": "_compare",
}

__all__ = ["Lab", "PlacementPicture", "Target", "catalog", "from_link", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name: str) -> Any:
        home = "placement_picture" if name == "PlacementPicture" else _HOMES.get(name)
        if home is None:
            return _unknown(name)
        value = globals()[name] = getattr(_loaded(f".{home}", __name__), name)
        return value


def catalog() -> dict[str, type[Lab]]:
    """Every lab by name.

    >>> "clipping" in catalog()
    True
    """
    return {name: getattr(_loaded(f".{home}", __name__), name) for name, home in _HOMES.items()}


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
