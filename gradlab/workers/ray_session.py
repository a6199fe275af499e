"""Ray for the time of a run: the one that is there, one at an address, or a quiet one of our own."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from types import ModuleType

from .._base.extras import need

_STORE = 200 * 2**20  # bytes of shared memory of a Ray of our own; what does not fit goes to disk


@contextlib.contextmanager
def connected(address: str | None = None) -> Iterator[ModuleType]:
    """Ray as it is if it is initialized; otherwise that at an address, or a quiet one of our own, until the end.

    Raises: ImportError: Ray is not installed. ValueError: an address, but Ray is connected already.
    """
    ray = need("ray", 'the engine "ray"', "ray")
    if ray.is_initialized():
        if address is not None:
            raise ValueError(f"Ray is connected already, so address={address!r} cannot be had: ray.shutdown() first")
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    with _local(ray) if address == "local" else contextlib.nullcontext():
        if address != "local":
            ray.init(address=address)
        try:
            yield ray
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _local(ray: ModuleType) -> Iterator[None]:
    """Ray on this machine, which leaves nothing behind."""
    # Ray's sockets lie in its folder, and their paths may have 107 bytes.
    folder = tempfile.mkdtemp(prefix="gradlab-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            # JAX's warning of forks, where one starts another program at once.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            ray.init(
                address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
                object_store_memory=_STORE, _temp_dir=folder,
            )  # fmt: skip
        yield
    finally:
        ray.shutdown()
        logger.setLevel(level)
        shutil.rmtree(folder, ignore_errors=True)
