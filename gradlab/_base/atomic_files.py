"""Replacement of files, which is atomic, and of folders, which nearly is.

`atomic_replace(path)` yields a temporary file in the same folder. When its block ends well, that
file is synced and renamed over `path`, so a reader sees the old content or the new, never a
mixture. On error, or if the process dies, `path` is unchanged. The file mode and symlinks are
preserved; of two concurrent writers the last one wins.

`replace_folder(path, mark)` does the same for a folder in two renames, because no system call
replaces a folder that isn't empty.
"""

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

FORGOTTEN = 24 * 3600  # seconds without a write after which a part file is removed


@contextmanager
def atomic_replace(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new, empty file beside `path`; when the block ends well it replaces `path`.

    Both the content and the new name are on the disk when the block has ended. A part file that a
    killed process left behind is removed by the first save a day later.

    Raises:
        OSError: the folder cannot be written to, or the disk is full; raised before the block if
            that can be seen then.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with atomic_replace(path) as part:
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
        _remove_old_parts(path)


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
def replace_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """Yield a new, empty folder beside `path`; when the block ends well it replaces `path`.

    If the block raises or the new folder cannot be renamed, `path` is unchanged. Replacing isn't
    atomic: between its two renames there is no `path`. A process that dies then leaves the old
    folder beside it, named `path` with a random part and ".old".

    Args:
        mark: a file that every such folder has, by which an older one is recognized.

    Raises:
        FileExistsError: `path` is something else: it isn't empty and has no `mark`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     path = Path(scratch) / "site"
    ...     with replace_folder(path, "index.html") as new:
    ...         size = (new / "index.html").write_text("here")
    ...     [p.name for p in path.iterdir()], [p.name for p in Path(scratch).iterdir()]
    (['index.html'], ['site'])
    """
    path = Path(os.path.realpath(path))
    if path.exists():
        is_ours = path.is_dir() and ((path / mark).exists() or not any(path.iterdir()))
        if not is_ours:
            raise FileExistsError(
                f"{path} holds other things than what is written here; "
                "give a new or an empty folder"
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    old = path.with_name(f"{path.name}.{secrets.token_hex(8)}.old")
    new.mkdir()
    try:
        yield new
        has_old = path.exists()
        if has_old:
            path.replace(old)
        try:
            new.replace(path)
        except OSError:
            if has_old:
                old.replace(path)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    # Not in `finally`: until the new folder has its name, this is the only whole one.
    shutil.rmtree(old, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system can do that."""
    if os.name == "nt":  # opens no folder, and writes names through
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network disks refuse to sync a folder, and WASI refuses always.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _remove_old_parts(path: Path) -> None:
    with suppress(OSError):
        for old in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
            if time.time() - old.stat().st_mtime > FORGOTTEN:
                old.unlink(missing_ok=True)
