"""A configuration as tables of words: what it holds, field by field, and what to look out for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from ..html_table import html_table
from ..proto import TPUEmbeddingConfiguration
from .notes import Note, label, notes
from .parse import parse
from .shapes import core_shapes, shard_rows
from .wire import is_repeated

Config = TPUEmbeddingConfiguration


@dataclass(frozen=True)
class Section:
    """A titled table of words; the first column says what a row is about."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        told = ("  ".join(w.ljust(n) for w, n in zip(line, widths, strict=True)).rstrip() for line in lines)
        return "\n".join([self.title, *(f"  {line}" for line in told)])

    def to_html(self) -> str:
        """An HTML table with a caption, and headers that say which row or column they head."""
        return html_table(self.title, self.columns, self.rows)


@dataclass(frozen=True)
class Description:
    """What `describe` returns: sections to read, and notes to act on. Prints as text, shows as HTML in a notebook."""

    sections: tuple[Section, ...]
    notes: tuple[Note, ...]

    def __str__(self) -> str:
        return "\n\n".join(str(s) for s in self._all())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(s.to_html() for s in self._all())

    def _all(self) -> Iterator[Section]:
        yield from (s for s in self.sections if s.rows)
        if self.notes:
            yield Section("Notes", ("kind", "about", "what"), tuple(self.notes))


def describe(config: bytes | str | Message) -> Description:
    """A configuration in words: its tables, features and optimizers with every field, and what to look out for.

    Nothing is refused but bytes that are no configuration: what no plan can be made of is a note of the kind
    "refused". Fields say whether they are set, or stand at the default of their type.

    Raises:
        ValueError, TypeError: as `parse` does.

    Not in TensorFlow. Source of what is noted: `tpu_embedding_configuration.proto` and `optimization_parameters.proto`,
    TensorFlow 2.21 (2026).

    >>> print(describe(TPUEmbeddingConfiguration(num_hosts=1, num_tensor_cores=1)))  # doctest: +ELLIPSIS
    Configuration
      field  ...
      mode                                 UNSPECIFIED  default
    ...
    Notes
      kind     about          what
      refused  configuration  mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got UNSPECIFIED
      notice   configuration  there are no tables
    """
    m = parse(config)
    sections = (
        Section("Configuration", ("field", "value", "set or default"), tuple(_fields(m))),
        Section("Tables", ("table", "rows x width", "rows of a host", "optimizer", "learning rate"), tuple(_tables(m))),
        Section("Features", ("feature", "table", "ids", "activations of one core"), tuple(_features(m))),
        Section("Optimizers", ("table", "field", "value", "set or default"), tuple(_optimizers(m))),
    )
    return Description(sections, tuple(notes(m)))


def _fields(message: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Every field that is a number, a word or a choice, those of messages that are set as well."""
    for field in message.DESCRIPTOR.fields:
        name, value = f"{path}{field.name}", getattr(message, field.name)
        if is_repeated(field) or _is_not_chosen(message, field):
            continue
        if field.type != field.TYPE_MESSAGE:
            yield (
                name,
                _word(field, value),
                "set" if value != field.default_value or field.containing_oneof else "default",
            )
        elif not message.HasField(field.name):
            yield name, "-", "default"
        elif field.message_type.name == "FloatValue":
            yield name, f"{value.value:g}", "set"
        else:
            inner = list(_fields(value, f"{name}."))
            yield from inner or [(name, f"{value.ByteSize()} bytes" if value.ByteSize() else "no fields", "set")]


def _is_not_chosen(message: Any, field: Any) -> bool:
    return field.containing_oneof is not None and not message.HasField(field.name)


def _word(field: Any, value: Any) -> str:
    if field.name == "gradient_accumulation_status" and not value:
        return "UNSPECIFIED, which means ENABLED"
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else f"{value} (not known)"
    if field.type == field.TYPE_FLOAT:
        return f"{value:.7g}"
    return str(value) if not isinstance(value, str) else value or "-"


def _tables(m: Config) -> Iterator[tuple[str, ...]]:
    hosts = max(m.num_hosts, 1)
    for k, t in enumerate(m.table_descriptor):
        p = t.optimization_parameters
        first, last = (_held(t.vocabulary_size, hosts, s) for s in (0, hosts - 1))
        held = f"{first}" if first == last else f"{first} to {last}"
        optimizer = p.WhichOneof("parameters") or "-"
        yield label(t, k), f"{t.vocabulary_size} x {t.dimension}", held, optimizer, _rate(p.learning_rate)


def _held(rows: int, hosts: int, host: int) -> int:
    try:
        return shard_rows(rows, hosts, host)
    except ValueError:
        return 0


def _rate(rate: Any) -> str:
    which = rate.WhichOneof("learning_rate")
    if which == "dynamic":
        return f"tag {rate.dynamic.tag}"
    return f"{rate.constant:.7g}" if which else "-"


def _features(m: Config) -> Iterator[tuple[str, ...]]:
    try:
        shapes = core_shapes(m)
    except ValueError:  # which is among the notes
        shapes = [()] * len(m.feature_descriptor)
    tables = m.table_descriptor
    given = m.feature_descriptor or [Config.FeatureDescriptor(name=t.name, table_id=k) for k, t in enumerate(tables)]
    for k, (f, shape) in enumerate(zip(given, shapes, strict=True)):
        inside = 0 <= f.table_id < len(tables)
        read = label(tables[f.table_id], f.table_id) if inside else f"{f.table_id}, which is not there"
        yield f.name or f"feature_{k}", read, _axes(shape[:-1]), _axes(shape)


def _axes(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "-"


def _optimizers(m: Config) -> Iterator[tuple[str, ...]]:
    for k, t in enumerate(m.table_descriptor):
        yield from ((label(t, k), *row) for row in _fields(t.optimization_parameters))
