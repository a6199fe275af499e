"""One of several processes that share a mesh: ADDRESS NUMBER COUNT FOLDER are its arguments.

Each has the ids of its own cores only. They make the tables together, train, save the state,
restore it by the other strategy and save that, too.
"""

import dataclasses
import sys
from pathlib import Path

import jax
import numpy as np
from jax.sharding import Mesh

from gradlab.tpu import cores_here, create_placed, make_batch, place_batch, restore, save
from tests.tpu.sharding.plans import compiled, ids_of_cores, rows_of, two_tables


def main(address: str, number: int, count: int, folder: str) -> None:
    jax.distributed.initialize(
        address, num_processes=count, process_id=number, initialization_timeout=120
    )
    mesh = Mesh(np.array(jax.devices()), ("cores",))
    plan = two_tables(len(jax.devices()), pipelined=True)
    state = create_placed(plan, mesh, [rows_of(t) for t in plan.tables])
    own = cores_here(plan, state.placement)
    for seed in range(3):
        ids = ids_of_cores(plan, seed)
        batch = make_batch(dataclasses.replace(plan, cores=len(own)), [ids[k] for k in own])
        _, state = compiled(state, place_batch(plan, state.placement, batch), [np.float32(0.1)])
    save(state, Path(folder) / "trained")
    save(restore(plan, Path(folder) / "trained", mesh, "mod"), Path(folder) / "again")
    print(f"process {number} of {count}: cores {own}, tables {[x.shape for x in state.tables]}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
