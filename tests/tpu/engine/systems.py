"""Small systems, and steps of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradlab import tpu
from gradlab.tpu import Ids, System, TPUEmbeddingConfiguration, initialize_system

GRADIENT = np.ones((2, 1), np.float32)


def system(**changes: Any) -> System:
    """A table "t" of four rows, trained by gradient descent with rate 0.5."""
    config = TPUEmbeddingConfiguration()
    config.ParseFromString(tpu.example_config())
    config.MergeFrom(TPUEmbeddingConfiguration(**changes))
    return initialize_system(config)


def rows(s: System) -> list[float]:
    return s.retrieve(0)[0].ravel().tolist()


def ids(*row: int) -> dict[str, Ids]:
    return {"t": Ids(np.arange(len(row)), list(row))}


def step(s: System, *row: int) -> np.ndarray:
    """One step of a system with one replica; gives what it looked up."""
    s.enqueue(ids(*row))
    got = s.receive_activations(s.receive_deduplication_data())
    s.send_gradients([GRADIENT], [])
    return np.asarray(got[0])
