"""Synchronous training with backup workers, on the conditional accumulators.

From the inside out: `tokens.py` and `rounds.py` decide, without locks; `exchange.py` has the lock
and the waits; `chief.py` runs the chief in a thread; `optimizer.py` is the class that users call.
"""

from .exchange import Waiting as Waiting
from .optimizer import SyncReplicasOptimizer as SyncReplicasOptimizer
from .rounds import Push as Push
from .rounds import Update as Update
