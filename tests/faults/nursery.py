"""A process that has everything imported and forks children that save: a child costs milliseconds,
not seconds.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_NOBODY = 65534
OUTCOME = "outcome.txt"  # beside the folder that is written to


class Nursery:
    """Ends with the process that made it, whose pipe it reads."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.nursery"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            stderr=subprocess.DEVNULL,
        )

    def child(self, act: str, kept: str, path: Path, number: int) -> int:
        """The process id of a child that acts."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([act, kept, str(path), number]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@lru_cache(maxsize=1)
def nursery() -> Nursery:
    """One for all faults."""
    return Nursery()


def wait_for(pid: int, seconds: float = 600) -> None:
    """Until the child is gone.

    Raises:
        TimeoutError: it is not.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    raise TimeoutError(f"process {pid} did not end in {seconds} s")


def _again_and_again(write: Callable[[Path, int], None], path: Path, number: int) -> str:
    for k in range(number, number + 100_000):
        write(path, k)
    return ""


def _some_times(write: Callable[[Path, int], None], path: Path, number: int) -> str:
    for k in range(number, number + 6):
        write(path, k)
    return ""


def _on_a_full_disk(write: Callable[[Path, int], None], path: Path, number: int) -> str:
    """Only so many bytes of a file can be written; `number` says how many thousandths of it."""
    files = [p for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file()]
    size = max(p.stat().st_size for p in files)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size * number // 1000, resource.RLIM_INFINITY))
    try:
        return _refused(write, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _in_a_folder_to_read(write: Callable[[Path, int], None], path: Path, number: int) -> str:
    """Where root asks, nobody writes; what is imported late was imported by a save somewhere else."""
    folder = path if path.is_dir() else path.parent
    write(folder.parent / "elsewhere" / path.name, number)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(_NOBODY)
        os.seteuid(_NOBODY)
    try:
        return _refused(write, path)
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(0o755)


def _refused(write: Callable[[Path, int], None], path: Path) -> str:
    try:
        write(path, 2)
    except OSError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "the save that could not be made raised nothing"


ACTS = {
    act.__name__: act
    for act in (_again_and_again, _some_times, _on_a_full_disk, _in_a_folder_to_read)
}


def _bury(*_: object) -> None:
    """Wait for the children that have ended: what they took counts as this process's then."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Fork a child for each line of the input."""
    import jax  # noqa: F401  # once for all children; none of it runs before they are there

    from tests.faults.kept import ALL

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGCHLD, _bury)
    for text in sys.stdin:
        act, kept, path, number = json.loads(text)
        if pid := os.fork():
            print(pid, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a child waits for an encoder of its own
        try:
            said = ACTS[act](ALL[kept].write, Path(path), number)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        (Path(path).parent.parent / f"{os.getpid()}.{OUTCOME}").write_text(said)
        os._exit(0)


if __name__ == "__main__":
    main()
