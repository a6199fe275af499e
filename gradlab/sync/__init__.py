"""Synchronous training with backup workers, on the conditional accumulators."""

from .optimizer import SyncReplicasOptimizer as SyncReplicasOptimizer
from .rounds import Push as Push
from .rounds import Update as Update
from .why import Waiting as Waiting
