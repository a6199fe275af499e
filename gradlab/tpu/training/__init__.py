"""Tables and a dense tower trained together: one step, its state, checkpoints of all of it.

On one machine, with any number of devices:

    tables = create(plan, arrays)                                # or create_placed(plan, mesh, initializers)
    training = Training(loss, optax.adam(1e-3))                  # loss(activations, params, data) -> scalar
    state = training.init(tables, params)
    with Checkpoints(folder) as checkpoints:
        for batch, data in prefetch(make, examples):             # make: an example to its batch and data
            value, state = training.step(state, batch, data)
            checkpoints.save(state)                              # now and then

In several processes each gives the ids and the data of its own cores, after
`jax.distributed.initialize`.
"""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public
from .checkpoints import Checkpoints
from .prefetch import prefetch
from .train_state import TrainState
from .training import Training

__all__ = ["Checkpoints", "TrainState", "Training", "prefetch"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
