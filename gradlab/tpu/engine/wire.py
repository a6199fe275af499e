"""The position at which bytes stop being a message: protobuf itself says only that they do.

A message in bytes is a row of fields, each a key (number * 8 + kind, a varint) and what the
kind says: 0 a varint, 1 eight bytes, 2 a length and as many bytes, 3 a group up to its end, 4
that end, 5 four bytes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

_SIZES = {1: 8, 5: 4}
_SHORT = 5  # bytes of a key or a length
_DEEPEST = 100  # messages within messages that protobuf reads


class _Fault(Exception):
    """The first byte that is wrong, in which message, and why."""

    def __init__(self, at: int, path: str, why: str) -> None:
        super().__init__(f"byte {at}, in {path or 'the message itself'}: {why}")


def read(kind: Any, data: bytes) -> Any:
    """Return the message of the class `kind` that is in bytes.

    Raises:
        ValueError: there is none; it names the first byte that is wrong, the message it is in, and
            why.

    Source: "Encoding" in the documentation of Protocol Buffers (2026).

    >>> from gradlab.tpu.engine.proto import LearningRate
    >>> read(LearningRate, bytes.fromhex("12020a05"))
    Traceback (most recent call last):
    ValueError: not a LearningRate: byte 2, in dynamic: tag needs 5 bytes, and there are 0
    """
    try:
        return kind.FromString(data)
    except DecodeError as error:
        why = f"{_fault(kind.DESCRIPTOR, data) or error}"
        raise ValueError(f"not a {kind.DESCRIPTOR.name}: {why}") from None


def _fault(message: Any, data: bytes) -> _Fault | None:
    try:
        _Walk(data).message(message, "", 0, len(data), 0)
    except _Fault as fault:
        return fault
    return None


class _Walk:
    """Through bytes, up to the first fault."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def message(
        self, message: Any, path: str, at: int, end: int, depth: int, group: int | None = None
    ) -> int:
        """Check fields up to the end, or past the end of a group; `message` None is one without a
        description.
        """
        if depth > _DEEPEST:
            raise _Fault(at, path, f"messages within messages, more than {_DEEPEST}")
        seen: Counter[int] = Counter()
        while at < end:
            start = at
            key, at = self.varint(at, end, path, "the key of a field", _SHORT)
            number, kind = divmod(key, 8)
            if not 1 <= number < 2**29:
                raise _Fault(start, path, f"there is no field {number}")
            if kind == 4:
                if number != group:
                    raise _Fault(start, path, f"the end of a group {number} that did not begin")
                return at
            field = message.fields_by_number.get(number) if message else None
            name = _name(field, number, seen[number])
            seen[number] += 1
            at = self.value(field, kind, number, (path, name), start, at, end, depth)
        if group is not None:
            raise _Fault(at, path, f"group {group} does not end")
        return at

    def value(
        self,
        field: Any,
        kind: int,
        number: int,
        where: tuple[str, str],
        start: int,
        at: int,
        end: int,
        depth: int,
    ) -> int:
        """Check the value after a key; return the position after it."""
        (path, name), inner = where, ".".join(where).lstrip(".")
        if kind == 0:
            return self.varint(at, end, path, name)[1]
        if kind == 3:
            return self.message(None, inner, at, end, depth + 1, number)
        if kind not in (1, 2, 5):
            raise _Fault(start, path, f"{name} is of kind {kind}, which does not exist")
        size, at = self.varint(at, end, path, name, _SHORT) if kind == 2 else (_SIZES[kind], at)
        if size > end - at:
            raise _Fault(start, path, f"{name} needs {size} bytes, and there are {end - at}")
        if kind == 2 and field is not None:
            self.inside(field, inner, at, at + size, depth)
        return at + size

    def inside(self, field: Any, name: str, at: int, end: int, depth: int) -> None:
        """Check the bytes of a message, a text or packed numbers."""
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            self.message(field.message_type, name, at, end, depth + 1)
        elif field.type == FieldDescriptor.TYPE_STRING:
            try:
                self.data[at:end].decode()
            except UnicodeDecodeError as error:
                raise _Fault(at + error.start, name, "a text that is not UTF-8") from None
        elif field.type == FieldDescriptor.TYPE_INT32:
            while at < end:
                _, at = self.varint(at, end, name, "a number")

    def varint(self, at: int, end: int, path: str, what: str, most: int = 10) -> tuple[int, int]:
        """Return a number of 7 bits in each byte, the last one below 128; and where it ends."""
        value = 0
        for k in range(most):
            if at + k >= end:
                raise _Fault(at, path, f"{what} breaks off")
            value |= (self.data[at + k] & 127) << 7 * k
            if self.data[at + k] < 128:
                return value, at + k + 1
        raise _Fault(at, path, f"{what} is a number of more than {most} bytes")


def is_repeated(field: Any) -> bool:
    """Tell whether a field is a list; protobuf 6 has a property for it, and warns of the older way."""
    return bool(
        field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
    )


def _name(field: Any, number: int, count: int) -> str:
    if field is None:
        return f"field {number}"
    return f"{field.name}[{count}]" if is_repeated(field) else field.name
