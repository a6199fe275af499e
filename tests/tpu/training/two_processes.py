"""One of several processes that train and save together: ADDRESS NUMBER COUNT FOLDER are its
arguments.

They train to step 20, save, restore on the same mesh by the other strategy, and train to the end.
"""

import sys

import jax
import numpy as np
from jax.sharding import Mesh

from gradlab.tpu import Checkpoints, Training, cores_here, create_placed
from tests.tpu.training import towers


def main(address: str, number: int, count: int, folder: str) -> None:
    jax.distributed.initialize(
        address, num_processes=count, process_id=number, initialization_timeout=120
    )
    mesh = Mesh(np.array(jax.devices()), ("cores",))
    plan = towers.plan_of(len(jax.devices()))
    tables = create_placed(plan, mesh, [towers.row(t.rows, t.width) for t in plan.tables])
    training = Training(towers.loss, towers.OPTIMIZER, [towers.rate])
    state, losses = training.init(tables, towers.tower()), []
    own, each = cores_here(plan, tables.placement), towers.BATCH // plan.cores
    with Checkpoints(folder) as checkpoints:
        for k, (users, items, clicked) in enumerate(towers.examples(towers.STEPS)):
            if k == 20:
                checkpoints.save(state)
                checkpoints.wait()
                state = checkpoints.restore(training, plan, towers.tower(), mesh, "mod")
            batch = towers.batch_of(plan, state.tables.placement, users, items, own)
            value, state = training.step(
                state, batch, clicked[own[0] * each : (own[-1] + 1) * each]
            )
            losses.append(float(value))
    print("losses", *losses)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
