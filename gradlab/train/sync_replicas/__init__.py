"""Synchronous training with backup workers, on the conditional accumulators."""

from .exchange import Waiting as Waiting
from .optimizer import SyncReplicasOptimizer as SyncReplicasOptimizer
from .rounds import Push as Push
from .rounds import Update as Update
