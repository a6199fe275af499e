"""The one TPU system of the process, which the raw operations are about."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..._base.forks import in_child
from ..._base.library import Mesh
from ...errors import NoSystemError
from ...rules import Rule
from ..make_batch import Engine
from ..plan import Policy
from .system import System

_guard = threading.Lock()
_current: list[System] = []


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()  # the list is whole at every instant


in_child(_after_fork)


def initialize_system(
    config: Any,
    mesh: Mesh | None = None,
    policy: Policy | None = None,
    engine: str | Engine = "classic",
    rules: Mapping[str, Rule] | None = None,
) -> System:
    """Start the system that the raw operations are about, with all tables 0 and slots as their rules start.

    One that is running ends, and its tables are gone, as on a TPU.

    Args:
        config: a TPUEmbeddingConfiguration, or its bytes.
        mesh: devices that share the rows; None keeps them on one.
        policy: what is not publicly known; None for `Policy()`.
        engine: "classic" (the engine of TPU v2 to v4) or "sparsecore" (v5p and later); or a function in the place of
            `make_batch`, such as `functools.partial(gl.tpu.sparsecore.make_batch, per_core=2)`.
        rules: by table, instead of the configured optimizer; see `plan_of`.

    Raises:
        ValueError: bytes that aren't a configuration, or one that cannot be run; the running system goes on.

    Source: `tf.compat.v1.tpu.initialize_system`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import current_system, example_config, shutdown_system
    >>> initialize_system(example_config()) is current_system()
    True
    >>> shutdown_system()
    """
    new = System(config, mesh, policy, engine, rules)
    with _guard:
        _end()
        _current.append(new)
    return new


def shutdown_system() -> None:
    """End the running system, if there is one; its tables are gone.

    Source: `tf.compat.v1.tpu.shutdown_system`, TensorFlow 2.21 (2026).

    >>> shutdown_system()
    """
    with _guard:
        _end()


def current_system() -> System:
    """The running system.

    Raises:
        NoSystemError: none was initialized.

    Not in TensorFlow, where operations find it by their device.

    >>> current_system()
    Traceback (most recent call last):
    gradlab.errors.NoSystemError: there is no TPU system; call gl.tpu.initialize_system(config) first
    """
    if not _current:
        raise NoSystemError("there is no TPU system; call gl.tpu.initialize_system(config) first")
    return _current[0]


def is_initialized() -> bool:
    """Tell whether a system is running."""
    return bool(_current)


def _end() -> None:
    while _current:
        _current.pop().close()
