"""Where students' code runs: in a container that the teacher names, or on this account if the
teacher trusts it.

`run_notebook` starts `inside.py` there, hands it one request on its standard input, and reads its
reply with a limit on time and length. Nothing is mounted into a container: what a notebook needs is
in the request, so a student's code can see no file of this machine, and write none.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ... import __version__
from ..._base.notebooks import UsageError

_MODULE = "gradlab._app.grading.inside"
_FOLDER = "/notebook"  # of a container. Not /tmp, which has the mode that the image gives it
_LONGEST_REPLY = 8_000_000  # bytes
_MOST_LINES = 2_000
_GRACE = 10.0  # seconds, for a container to end by itself
_KILLED = (-9, 128 + 9)  # as Python and as a shell say it
_PULL_SECONDS = 600.0  # the first run may fetch the image
_ENVIRONMENT = {
    "MPLBACKEND": "agg",
    "JAX_PLATFORMS": "cpu",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Limits:
    """Limits on a notebook, its start included.

    Args:
        seconds: from the start of its process to the end.
        memory: in MB.
    """

    seconds: float = 300.0
    memory: int = 4096

    @property
    def cell_seconds(self) -> float:
        """Time for one cell; what loops by mistake leaves time for the cells after it."""
        return self.seconds / 4


@dataclass(frozen=True)
class Container:
    """A kind of container.

    Args:
        program: "podman" or "docker".
        image: has Python 3, gradlab of this version, and coreutils.
    """

    program: str
    image: str

    def __str__(self) -> str:
        return f"{self.program}:{self.image}"


THIS_ACCOUNT = "this account"
Place = Container | str


def make_command(place: Place, name: str, limits: Limits) -> list[str]:
    """Return the command line of a student's process.

    Args:
        place: a container, or THIS_ACCOUNT.
        name: of the container.
        limits: on time and memory. On this account they hold for code that means no harm.
    """
    if not isinstance(place, Container):
        # The shell limits the memory before Python starts.
        limited = 'ulimit -v "$1"; shift; exec "$@"'
        return ["sh", "-c", limited, "sh", str(limits.memory * 1024), sys.executable, "-m", _MODULE]
    settings = [
        f"--name={name}",
        "--network=none",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--user=1000:1000",
        "--read-only",
        f"--tmpfs={_FOLDER}:rw,size=256m,mode=1777",
        f"--workdir={_FOLDER}",
        f"--env=HOME={_FOLDER}",
        f"--env=TMPDIR={_FOLDER}",
        f"--memory={limits.memory}m",
        f"--memory-swap={limits.memory}m",  # the sum of memory and swap: no swap
        "--pids-limit=256",  # threads count
        "--log-driver=none",  # a log of what is printed would fill the disk
        *(f"--env={key}={value}" for key, value in _ENVIRONMENT.items()),
    ]
    # The first process of a container: the others can't kill it, and end with it. So a container
    # ends in time even if the grader dies.
    timeout = ["timeout", "--signal=KILL", f"{limits.seconds:g}"]
    run = [place.program, "run", "--rm", "--interactive"]
    return [*run, *settings, place.image, *timeout, "python3", "-m", _MODULE]


def stop(place: Place, name: str, process: subprocess.Popen[bytes]) -> None:
    """End a student's process, and what it started."""
    if isinstance(place, Container):
        if process.poll() is None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [place.program, "kill", name], capture_output=True, timeout=60, check=False
                )
        process.kill()  # the program that waits for the container
    else:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(60)


@dataclass
class Reply:
    """What a student's process wrote, which may be anything.

    Args:
        answers: lines about exercises by name, the last of each.
        troubles: what went wrong, by the number of the cell.
        end: why the process ended early; empty if it didn't.
        version: of gradlab, as the process says.
        noise: what was written that isn't such a line; a container's own errors are there.
    """

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    troubles: dict[int, str] = field(default_factory=dict)
    end: str = ""
    version: str = ""
    noise: str = ""


def run_notebook(
    place: Place,
    limits: Limits,
    cells: Sequence[str],
    files: Mapping[str, str],
    calls: Mapping[str, Any],
) -> Reply:
    """Run a notebook.

    Args:
        place: where.
        limits: on time and memory.
        cells: its code.
        files: what lies beside it, by name, in base 64.
        calls: by exercise, the arguments for its function, as `inside.call_function` takes them.

    Raises:
        OSError: the program that `place` needs cannot be started.
    """
    request = {"cells": cells, "files": files, "calls": calls, "cell_seconds": limits.cell_seconds}
    name = f"gradlab-{secrets.token_hex(8)}"
    received: list[bytes] = []
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        source.write(json.dumps(request).encode())
        source.seek(0)
        process = subprocess.Popen(
            make_command(place, name, limits),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | _ENVIRONMENT | {"PYTHONPATH": str(Path(__file__).parents[3])},
            start_new_session=True,
            bufsize=0,
        )
        try:
            started = time.monotonic()
            _read_within(process, received, limits.seconds + _GRACE)
            is_late = time.monotonic() - started >= limits.seconds
        finally:
            stop(place, name, process)
    reply = parse_reply(b"".join(received))
    if not reply.version:
        if is_late:
            reply.end = f"it took more than {limits.seconds:g} seconds and was stopped"
        elif sum(map(len, received)) > _LONGEST_REPLY:
            reply.end = "it wrote more than answers can hold and was stopped"
        elif process.returncode in _KILLED:
            reply.end = "its process was killed, perhaps for the memory that it took"
        else:
            reply.end = f"its process ended early, with status {process.returncode}"
    return reply


def _read_within(process: subprocess.Popen[bytes], received: list[bytes], seconds: float) -> None:
    """Read what the process writes until it ends, or writes too much, or the time is over."""
    assert process.stdout is not None
    # A thread, because a process that has left its session may hold the pipe open for as long as it
    # likes.
    reader = threading.Thread(target=_read, args=(process.stdout, received), daemon=True)
    reader.start()
    reader.join(seconds)
    if not reader.is_alive() and sum(map(len, received)) <= _LONGEST_REPLY:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def _read(stream: IO[bytes], received: list[bytes]) -> None:
    length = 0
    with stream:
        while length <= _LONGEST_REPLY and (part := stream.read(1 << 16)):
            received.append(part)
            length += len(part)


def parse_reply(text: bytes) -> Reply:
    """Return a student's process's lines; what is not of their form is noise."""
    reply = Reply()
    noise = []
    for line in text.split(b"\n", _MOST_LINES):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            noise.append(line.decode("utf-8", "replace")[:300])
            continue
        match message:
            case {"exercise": str(name)}:
                reply.answers[name] = message
            case {"cell": int(number), "trouble": str(trouble)}:
                reply.troubles[number] = trouble[:300]
            case {"version": str(version)}:
                reply.version = version
    reply.noise = "\n".join(filter(None, noise))[-1000:]
    return reply


def check_place(place: Place, memory: int) -> str:
    """Run an empty notebook, and return what the container program warns of: limits that it
    ignores, for example.

    Raises:
        UsageError: it cannot be run, or a different version of gradlab runs it.
    """
    try:
        reply = run_notebook(place, Limits(_PULL_SECONDS, memory), cells=[], files={}, calls={})
    except OSError as error:
        raise UsageError(
            f"cannot start {error.filename}: {error.strerror}; install it, or choose another place"
        ) from error
    if not reply.version:
        raise UsageError(f"{place} cannot run a notebook: {reply.noise or reply.end}")
    if reply.version != __version__:
        raise UsageError(
            f"{place} has gradlab {reply.version}, this is {__version__}; build it again with "
            "this version"
        )
    return reply.noise
