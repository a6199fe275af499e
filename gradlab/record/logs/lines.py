"""Lines of a text file that may still grow, with their numbers; what isn't such text is refused."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from ...errors import DataLossError

MOST_LETTERS = 1 << 22  # of a line
_HEAD = 1 << 16  # bytes
_BLOCK = 1 << 20  # letters that are read together
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_OTHERS = {
    b"(\xb5/\xfd": "compressed (zstd)",
    b"BZh": "compressed (bzip2)",
    b"\xfd7zXZ": "compressed (xz)",
    b"SQLite format 3": "an SQLite database",
    b"PAR1": "a Parquet file: write it as CSV",
}


def read_head(path: str) -> bytes:
    """Return the first 64 KiB of a file."""
    with open(path, "rb") as file:
        return file.read(_HEAD)


def check_text(path: str, head: bytes) -> None:
    """Refuse a file that is no text; DataLossError says what to do."""
    if not head.strip():
        raise DataLossError(f"{path} is empty: nothing was logged yet")
    if head.startswith(_GZIP):
        raise DataLossError(f"{path} is compressed; decompress it first, with gunzip say")
    if head.startswith(_ZIP):
        raise DataLossError(
            f"{path} is a zip file; unpack it first. A recording of Recorder.save is read by "
            "gl.Recorder.load"
        )
    for start, what in _OTHERS.items():
        if head.startswith(start):
            raise DataLossError(f"{path} is {what}; read_log reads text, or events of TensorBoard")
    if b"\0" in head and _encoding(head) == "utf-8-sig":
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise DataLossError(
            f"line {line} of {path} holds binary data; read_log reads text, or events of TensorBoard"
        )


def _encoding(head: bytes) -> str:
    """UTF-8, or UTF-16 with its mark, as `>` of PowerShell writes."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def open_text(path: str) -> io.TextIOWrapper:
    """Open a text for reading, lines as they are."""
    return open(path, encoding=_encoding(read_head(path)), newline="")


def blocks(path: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the lines of a file in lists, without their line breaks.

    With the last list comes what follows the last line break, which may still be written; it is None
    before, and where nothing follows.

    Raises:
        DataLossError: a line is too long, or not in UTF-8.
    """
    count = 0
    rest = ""
    with open_text(path) as file:
        try:
            while block := file.read(_BLOCK):
                lines = (rest + block).split("\n")
                rest = lines.pop()
                count += len(lines)
                if len(rest) > MOST_LETTERS:
                    raise DataLossError(
                        f"line {count + 1} of {path} has more than {MOST_LETTERS:,} letters, which "
                        "no line of a log has"
                    )
                yield lines, None
        except UnicodeDecodeError as error:
            raise DataLossError(
                f"{path} is not text in UTF-8 after line {count}: {error.reason}. Save it as UTF-8, "
                "or remove what is damaged"
            ) from error
    if rest:
        yield [], rest


def numbered_lines(path: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the number of each line, the line, and whether it is whole: the last one may still be written."""
    number = 0
    for lines, rest in blocks(path):
        for line in lines:
            number += 1
            yield number, line, True
        if rest is not None:
            yield number + 1, rest, False
