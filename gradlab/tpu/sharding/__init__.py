"""Tables larger than a device: rows dealt out over a mesh of devices, in one process or in many.

On one machine: `place` a state on a `jax.sharding.Mesh` (or make it there with `create_placed`),
arrange every batch by `place_batch`, and call `lookup` and `update` as on one device, best under
one `jax.jit`. A plan has as many cores as the mesh has devices, or a multiple.

On a cluster every process runs the same program:

    jax.distributed.initialize()                       # on a TPU pod or under SLURM it finds the others by itself
    mesh = Mesh(np.array(jax.devices()), ("cores",))   # all devices of all processes
    state = create_placed(plan, mesh, initializers)    # each process makes the shards of its own devices
    own = cores_here(plan, state.placement)            # the cores whose ids this process reads
    part = dataclasses.replace(plan, cores=len(own))
    batch = place_batch(plan, state.placement, make_batch(part, ids_of_my_cores))
    activations, state = step(state, batch)            # jitted: the ids, rows and sums cross the network
    save(state, folder)                                # a folder that all see; restore(plan, folder, any mesh)

Where processes start by hand, `initialize` takes the address of the first of them, their count and
the number of this one. Processes on CPUs exchange through gloo:
`jax.config.update("jax_cpu_collectives_implementation", "gloo")`.
"""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public
from ..batch import PlacedBatch
from .checkpoint import restore, save
from .layouts import lay_out
from .place import create_placed, gather, place
from .place_batch import cores_here, place_batch, sizes_of, traffic

__all__ = [
    "PlacedBatch",
    "cores_here",
    "create_placed",
    "gather",
    "lay_out",
    "place",
    "place_batch",
    "restore",
    "save",
    "sizes_of",
    "traffic",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
