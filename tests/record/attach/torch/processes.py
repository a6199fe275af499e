"""Functions run by several processes together, which talk over gloo; what process 0 or all of them
return.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_SECONDS = 120


def run(function: Callable[..., Any], *args: Any, processes: int = 2) -> list[Any]:
    """What `function(rank, *args)`, a function of a module, returns in each of so many processes."""
    import torch
    import torch.multiprocessing as mp

    with tempfile.TemporaryDirectory() as folder:
        context: Any = mp.start_processes(
            _of_rank,
            (processes, folder, function, args),
            nprocs=processes,
            join=False,
            start_method="spawn",
        )
        ends = time.monotonic() + MOST_SECONDS
        while not context.join(timeout=1):  # until all are done, or one has raised
            if time.monotonic() > ends:
                for process in context.processes:
                    process.kill()
                raise TimeoutError(
                    f"{processes} processes were not done within {MOST_SECONDS} seconds"
                )
        return [
            torch.load(Path(folder, f"{rank}.pt"), weights_only=False) for rank in range(processes)
        ]


def _of_rank(
    rank: int, processes: int, folder: str, function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    import torch
    import torch.distributed as dist

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=processes
    )
    try:
        torch.save(function(rank, *args), Path(folder, f"{rank}.pt"))
    finally:
        dist.destroy_process_group()
