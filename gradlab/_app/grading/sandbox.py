"""The sandbox of students' code: a process that sees Python, gradlab, and one folder; no network, no other files.

Bubblewrap makes it where it is installed, else util-linux's `unshare`. The exercises, which hold the right answers, are
not there. What cannot be made is refused: nothing runs outside without the teacher's word.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
HIDDEN = PACKAGE / "exercises"
HOME = "/home/student"
FILES, ROOT = "home", "root"  # of a scratch folder: what the student handed in, and where a root is put together
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_SECONDS = 30.0  # for a sandbox to say that it works


def environment() -> dict[str, str]:
    """Return what a student's process knows of ours: where gradlab is, and no more."""
    one = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return one | {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": HOME, "LANG": "C.UTF-8",
        "MPLCONFIGDIR": HOME, "MPLBACKEND": "agg",
        "PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1", "JAX_PLATFORMS": "cpu",
    }  # fmt: skip


def readable() -> list[str]:
    """The files and folders outside its own that the process needs, none inside another."""
    libraries = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    paths = sysconfig.get_paths()
    wanted = [*_SYSTEM, sys.prefix, sys.base_prefix, paths["stdlib"], paths["platstdlib"], *libraries, str(PACKAGE)]
    there = sorted({path for path in wanted if path != "/" and Path(path).exists()}, key=len)
    return [path for path in there if not any(path.startswith(f"{other}/") for other in there)]


def python() -> list[str]:
    """The command of the student's process."""
    return [sys.executable, "-m", "gradlab._app.grading.inside"]


def trusting(_scratch: Path, _seconds: float) -> list[str]:
    """Run without a sandbox, as the teacher said."""
    return python()


def bubblewrap(folder: Path, seconds: float) -> list[str]:
    """Run in a sandbox of bubblewrap's."""
    binds = [part for path in readable() for part in ("--ro-bind", path, path)]
    return [
        *_ending(seconds), shutil.which("bwrap") or "bwrap", "--unshare-all", "--die-with-parent", "--new-session",
        "--cap-drop", "ALL",
        "--tmpfs", "/tmp", *binds, "--tmpfs", str(HIDDEN), "--proc", "/proc", "--dev", "/dev",
        "--bind", str(folder / FILES), HOME, "--chdir", HOME, *python(),
    ]  # fmt: skip


def namespaces(folder: Path, seconds: float) -> list[str]:
    """Run in namespaces of util-linux's making; the shell builds the root, and the student's process has no rights."""
    apart = ["--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child"]
    return [*_ending(seconds), "unshare", *apart, "sh", "-euc", "\n".join(_root(folder))]


def _root(folder: Path) -> Iterator[str]:
    """The shell's lines: a root of its own with what is readable, then the old one goes."""
    quoted = shlex.quote
    yield "mount --make-rprivate /"
    yield f"root={quoted(str(folder / ROOT))}"
    yield 'mount -t tmpfs -o size=64m,mode=755 tmpfs "$root"'
    for path in readable():
        place = f'"$root"{quoted(path)}'
        if Path(path).is_dir():
            yield f"mkdir -p {place}"
        else:
            yield f'mkdir -p {quoted(str(Path(path).parent))} && mkdir -p "$root"{quoted(str(Path(path).parent))}'
            yield f"touch {place}"
        yield f"mount --bind {quoted(path)} {place} && mount -o remount,bind,ro {place}"
    yield f'mount -t tmpfs -o size=1m,ro tmpfs "$root"{quoted(str(HIDDEN))}'
    yield f'mkdir -p "$root"{HOME} "$root"/proc "$root"/tmp "$root"/dev "$root"/old'
    yield f'mount --bind {quoted(str(folder / FILES))} "$root"{HOME}'
    yield 'mount -t proc proc "$root"/proc'
    for device in ("null", "zero", "urandom", "random"):
        yield f'touch "$root"/dev/{device} && mount --bind /dev/{device} "$root"/dev/{device}'
    yield 'cd "$root" && pivot_root . old && umount -l /old && rmdir /old'
    yield f"cd {HOME}"
    yield f"exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs {shlex.join(python())}"


def _ending(seconds: float) -> list[str]:
    """Whatever happens, it ends."""
    return ["timeout", "--foreground", "--signal=KILL", f"{seconds:g}"]


Sandbox = Callable[[Path, float], list[str]]
_KINDS: Sequence[tuple[str, Sandbox]] = (("bwrap", bubblewrap), ("unshare", namespaces))


def found(works: Callable[[Sandbox], bool]) -> Sandbox | None:
    """The first kind of sandbox that is there and works; None if there is none."""
    return next((make for program, make in _KINDS if shutil.which(program) and works(make)), None)


def opened(command: Sequence[str], scratch: Path) -> subprocess.Popen[bytes]:
    """Start a process that is talked to, in the folder with the student's files."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=scratch / FILES, env=environment(),
        start_new_session=True,
    )  # fmt: skip
