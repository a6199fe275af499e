"""A file that is replaced at once: who reads it, at any time, sees the old one or the new one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new, empty file beside `path` to write; when the block ends well it takes the place of `path`.

    Until then, and if the block raises or the process dies, `path` is what it was. What is written is on the disk
    before it takes the place. Each process and thread writes a file of its own: of two writers the later one wins.

    Raises:
        OSError: the folder cannot be written to, or the disk is full; said before the work where that shows at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers.txt"
    ...     with replaced(path) as part:
    ...         size = part.write_text("1 2 3")
    ...     path.read_text(), [p.name for p in Path(folder).iterdir()]
    ('1 2 3', ['numbers.txt'])
    """
    path = Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.touch()
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
