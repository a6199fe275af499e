"""Who has done what of the step in progress: the order that operations must come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..._base.errors import FailedPreconditionError, InvalidArgumentError
from ..batch import Ids
from ..lookup import Dedup
from ..proto import TPUEmbeddingConfiguration

ORDER = "each step is: enqueue once for each core, receive deduplication data, receive activations, send gradients"
TRAIN, INFERENCE, BACKWARD = "train", "inference", "backward_pass_only"
Given = Mapping[str, Ids]  # of one core, by feature
_MODES = {"train": TRAIN, "training": TRAIN, INFERENCE: INFERENCE, BACKWARD: BACKWARD}


class Stage(Enum):
    """How far a replica is; in words, what it has done."""

    NOTHING = "received nothing"
    DEDUPLICATED = "received deduplication data, but no activations"
    ACTIVATED = "received activations, and owes gradients"
    DONE = "done all it has to"


@dataclass
class Step:
    """One step: the ids of each core, what was handed out, and what came back."""

    replicas: int
    mode: str = ""
    combiners: tuple[str, ...] = ()
    cores: dict[int, Given] = field(default_factory=dict)
    batch: Any = None
    activations: Sequence[Any] = ()
    stages: list[Stage] = field(default_factory=list)
    handed: dict[int, Dedup] = field(default_factory=dict)
    sent: dict[int, tuple[Sequence[Any], Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = self.stages or [Stage.NOTHING] * self.replicas

    def agree(self, mode: str, combiners: tuple[str, ...]) -> None:
        """Refuse a core whose mode or combiners are not those of the others in this step."""
        if self.cores and (mode, combiners) != (self.mode, self.combiners):
            raise InvalidArgumentError(
                f"all cores of a step have one mode and one list of combiners; got {mode!r} and {list(combiners)}, "
                f"but core {min(self.cores)} has {self.mode!r} and {list(self.combiners)}"
            )

    def put(self, mode: str, combiners: tuple[str, ...], ids: Mapping[int, Given], batch: Any) -> None:
        """The ids of some cores, and the batch of all if these were the last."""
        self.mode, self.combiners, self.batch = mode, combiners, batch
        self.cores.update(ids)

    def expect(self, replica: int, stage: Stage, what: str) -> None:
        """Refuse what comes out of its order."""
        found = self.stages[replica]
        if found is not stage:
            raise FailedPreconditionError(f"cannot {what}: replica {replica} has {found.value} in this step; {ORDER}")

    def missing_cores(self, cores: int) -> list[int]:
        """The cores that have not enqueued."""
        return [k for k in range(cores) if k not in self.cores]

    def missing_replicas(self) -> list[int]:
        """The replicas that are not done."""
        return [k for k, stage in enumerate(self.stages) if stage is not Stage.DONE]


def configured_mode(config: TPUEmbeddingConfiguration) -> str:
    """What the batches of a configuration are for."""
    modes = {TPUEmbeddingConfiguration.TRAINING: TRAIN, TPUEmbeddingConfiguration.INFERENCE: INFERENCE}
    return modes.get(config.mode, BACKWARD)


def mode_of(override: Any, configured: str) -> str:
    """What a batch is for: the configuration's mode, or what `mode_override` says instead.

    Raises:
        InvalidArgumentError: an unknown mode.

    >>> mode_of("training", "inference"), mode_of("", "inference")
    ('train', 'inference')
    """
    given = override.decode() if isinstance(override, bytes) else str(override)
    if given in ("", "unspecified"):
        return configured
    if given not in _MODES:
        allowed = ", ".join(map(repr, ("", "unspecified", *_MODES)))
        raise InvalidArgumentError(f"mode_override must be one of {allowed}; got {given!r}")
    return _MODES[given]
