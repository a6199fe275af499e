"""A file that is replaced at once: who reads it, at any time, sees the old one or the new one."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FORGOTTEN = 24 * 3600  # seconds without a write, after which a part file belongs to nobody


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new, empty file beside `path` to write; when the block ends well it takes the place of
    `path`.

    Until then, and if the block raises or the process dies, `path` is what it was. What is written
    is on the disk before it takes the place, and so is the place when the block has ended. Each
    writer has a file of its own: of two the later one wins. A link stays a link, and who may read
    the old file may read the new one. What a killed process left goes at the first save a day
    later.

    Raises:
        OSError: the folder cannot be written to, or the disk is full; said before the work where
            that shows at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with replaced(path) as part:
    ...         size = part.write_text("1 2 3")
    ...     path.read_text(), [p.name for p in Path(folder).iterdir()]
    ('1 2 3', ['numbers.txt'])
    """
    check_folder_of(path)
    path = Path(os.path.realpath(path))
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.touch()
        yield part
        if path.exists():
            shutil.copymode(path, part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if error.filename == os.fspath(part):
            # The name of the part file means nothing to a caller, who knows `path`.
            error.filename = os.fspath(path)
            error.filename2 = None
        raise
    finally:
        part.unlink(missing_ok=True)
        _forget_parts_of(path)


def check_folder_of(path: str | os.PathLike[str]) -> None:
    """Refuse a path whose folder isn't there, before any work is done for its file.

    Raises:
        FileNotFoundError: there is no such folder.
        NotADirectoryError: it is a file.

    >>> check_folder_of("nowhere/picture.png")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] There is no such folder, make it first: 'nowhere'
    """
    # Only links are resolved, so that the error names the folder as the caller wrote it.
    folder = Path(path).parent
    if Path(path).is_symlink():
        folder = Path(os.path.realpath(path)).parent
    if not folder.exists():
        raise FileNotFoundError(
            errno.ENOENT, "There is no such folder, make it first", os.fspath(folder)
        )
    if not folder.is_dir():
        raise NotADirectoryError(
            errno.ENOTDIR, "This is a file and not a folder", os.fspath(folder)
        )


@contextmanager
def replaced_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """Give a new, empty folder beside `path` to fill; when the block ends well it takes the place
    of `path`.

    Until then, and if the block raises, `path` is what it was. `mark` is a file that every such
    folder has.

    Raises:
        FileExistsError: `path` holds something, but no `mark`: it is something else, which stays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     path = Path(scratch) / "site"
    ...     with replaced_folder(path, "index.html") as new:
    ...         size = (new / "index.html").write_text("here")
    ...     [p.name for p in path.iterdir()], [p.name for p in Path(scratch).iterdir()]
    (['index.html'], ['site'])
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not (
        path.is_dir() and ((path / mark).exists() or not any(path.iterdir()))
    ):
        raise FileExistsError(
            f"{path} holds other things than what is written here; give a new or an empty folder"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    new, old = (
        path.with_name(f"{path.name}.{secrets.token_hex(8)}.{kind}") for kind in ("part", "old")
    )
    new.mkdir()
    try:
        yield new
        if path.exists():
            path.replace(old)
        new.replace(path)
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    if os.name == "nt":  # opens no folder, and writes names through
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # What some network disks say to a folder, and WASI to any.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _forget_parts_of(path: Path) -> None:
    with suppress(OSError):
        for old in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
            if time.time() - old.stat().st_mtime > FORGOTTEN:
                old.unlink(missing_ok=True)
