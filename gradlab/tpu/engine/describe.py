"""`describe`: a configuration as tables of words, field by field, and notes of what to look out for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from google.protobuf import unknown_fields
from google.protobuf.message import Message

from ..._base.html import html_table, text_table
from ..sharding.plan_placement import COLUMNS, PlacementPlan
from .messages import table_of
from .parse import CHECKS, parse, tags_of
from .proto import (
    GradientAccumulationStatus,
    HotIdReplicationConfiguration,
    TPUEmbeddingConfiguration,
)
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
        return text_table(self.title, self.columns, self.rows)

    def to_html(self) -> str:
        """Return an HTML table with a caption, and headers that say which row or column they head."""
        return html_table(self.title, self.columns, self.rows)


@dataclass(frozen=True)
class Description:
    """The result of `describe`: sections and notes. Prints as text, shows as HTML in a notebook."""

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


def describe(config: bytes | str | Message, placement: PlacementPlan | None = None) -> Description:
    """Return a configuration in words: its tables, features and optimizers with every field, and what to look out for.

    With a `placement`, which `plan_placement` gives, where its tables lie, and what that costs each
    device.

    Nothing is refused but bytes that aren't a configuration: what no plan can be made of is a note
    of the kind "refused". Fields say whether they are set, or stand at the default of their type.

    Raises:
        ValueError, TypeError: as `parse` does.

    Not in TensorFlow. Source of what is noted: `tpu_embedding_configuration.proto` and
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

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
        Section(
            "Tables",
            ("table", "rows x width", "rows of a host", "optimizer", "learning rate"),
            tuple(_tables(m)),
        ),
        Section(
            "Features", ("feature", "table", "ids", "activations of one core"), tuple(_features(m))
        ),
        Section("Optimizers", ("table", "field", "value", "set or default"), tuple(_optimizers(m))),
        *(
            [Section(placement.title, COLUMNS, tuple(placement.table_of_words()))]
            if placement
            else []
        ),
    )
    return Description(sections, tuple(notes(m)))


def _fields(message: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every field that is a number, a word or a choice, those of messages that are set as
    well.
    """
    for field in message.DESCRIPTOR.fields:
        name = f"{path}{field.name}"
        value = getattr(message, field.name)
        if is_repeated(field) or _is_not_chosen(message, field):
            continue
        if field.type != field.TYPE_MESSAGE:
            is_set = value != field.default_value or field.containing_oneof
            yield name, _format_value(field, value), "set" if is_set else "default"
        elif not message.HasField(field.name):
            yield name, "-", "default"
        elif field.message_type.name == "FloatValue":
            yield name, f"{value.value:g}", "set"
        else:
            inner = list(_fields(value, f"{name}."))
            size = value.ByteSize()
            yield from inner or [(name, f"{size} bytes" if size else "no fields", "set")]


def _is_not_chosen(message: Any, field: Any) -> bool:
    return field.containing_oneof is not None and not message.HasField(field.name)


def _format_value(field: Any, value: Any) -> str:
    if field.name == "gradient_accumulation_status" and not value:
        return "UNSPECIFIED, which means ENABLED"
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else f"{value} (not known)"
    if field.type == field.TYPE_FLOAT:
        return f"{value:.7g}"
    return str(value) if value != "" else "-"


def _tables(m: Config) -> Iterator[tuple[str, ...]]:
    hosts = max(m.num_hosts, 1)
    for k, t in enumerate(m.table_descriptor):
        p = t.optimization_parameters
        most = _rows_of_host(t.vocabulary_size, hosts, 0)
        least = _rows_of_host(t.vocabulary_size, hosts, hosts - 1)
        rows = f"{most}" if most == least else f"{most} to {least}"
        optimizer = p.WhichOneof("parameters") or "-"
        yield (
            label(t, k),
            f"{t.vocabulary_size} x {t.dimension}",
            rows,
            optimizer,
            _format_rate(p.learning_rate),
        )


def _rows_of_host(rows: int, hosts: int, host: int) -> int:
    try:
        return shard_rows(rows, hosts, host)
    except ValueError:
        return 0


def _format_rate(rate: Any) -> str:
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
    features = m.feature_descriptor or [
        Config.FeatureDescriptor(name=t.name, table_id=k) for k, t in enumerate(tables)
    ]
    for k, (f, shape) in enumerate(zip(features, shapes, strict=True)):
        inside = 0 <= f.table_id < len(tables)
        table = (
            label(tables[f.table_id], f.table_id) if inside else f"{f.table_id}, which is not there"
        )
        yield f.name or f"feature_{k}", table, _format_axes(shape[:-1]), _format_axes(shape)


def _format_axes(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "-"


def _optimizers(m: Config) -> Iterator[tuple[str, ...]]:
    for k, t in enumerate(m.table_descriptor):
        yield from ((label(t, k), *row) for row in _fields(t.optimization_parameters))


Table = TPUEmbeddingConfiguration.TableDescriptor


class Note(NamedTuple):
    """Something to look out for: "refused" is what no plan can be made of, "notice" is all else."""

    kind: str
    about: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.about}: {self.text}"


def notes(message: Config) -> list[Note]:
    """Return all there is to say of a configuration, what is refused first.

    >>> [n.text for n in notes(Config(mode="TRAINING", num_hosts=1, num_tensor_cores=1))]
    ['there are no tables']
    """
    all_notes = [
        *_errors(message),
        *_config_notes(message),
        *_table_notes(message),
        *_unknown_field_notes(message, ""),
    ]
    return list(dict.fromkeys(all_notes))


def label(t: Table, k: int) -> str:
    """Return the name of a table here."""
    return f"table {t.name or f'table_{k}'}"


def _errors(message: Config) -> Iterator[Note]:
    for check in CHECKS:
        try:
            check(message)
        except ValueError as error:
            yield Note("refused", "configuration", str(error))
    for k, t in enumerate(message.table_descriptor):
        program = t.optimization_parameters.WhichOneof("parameters") == "user_defined_program"
        try:
            table_of(t, t.name or f"table_{k}")
        except ValueError as error:
            why = str(error).removeprefix(f"table {t.name or f'table_{k}'!r}: ")
            yield Note("notice" if program else "refused", label(t, k), why)


def _config_notes(m: Config) -> Iterator[Note]:
    def note(text: str) -> Note:
        return Note("notice", "configuration", text)

    if not m.table_descriptor:
        yield note("there are no tables")
    for name in ("num_hosts", "num_tensor_cores"):
        if not getattr(m, name):
            yield note(f"{name} is not set; 1 is assumed")
    if m.pipeline_execution_with_tensor_core and m.mode != Config.TRAINING:
        yield note("pipeline_execution_with_tensor_core has an effect in training only")
    if m.feature_descriptor and m.batch_size_per_tensor_core:
        yield note(
            "batch_size_per_tensor_core has no effect beside feature descriptors, which have "
            "their shapes"
        )
    for tag, tables in tags_of(m).items():
        if len(tables) > 1:
            names = ", ".join(m.table_descriptor[k].name or f"table_{k}" for k in tables)
            yield note(f"learning rate tag {tag} is shared: one number for the tables {names}")


def _table_notes(m: Config) -> Iterator[Note]:
    tables_read = {f.table_id for f in m.feature_descriptor}
    for k, t in enumerate(m.table_descriptor):
        texts = [*_optimizer_notes(t), *_settings_notes(t)]
        if m.feature_descriptor and k not in tables_read:
            texts.append("no feature reads this table")
        if m.feature_descriptor and t.num_features:
            texts.append("num_features has no effect beside feature descriptors")
        if not m.feature_descriptor and t.num_features < 1:
            texts.append("num_features is not set, so this table has no output")
        yield from (Note("notice", label(t, k), text) for text in texts)


def _optimizer_notes(t: Table) -> Iterator[str]:
    p = t.optimization_parameters
    name = p.WhichOneof("parameters")
    dynamic = p.learning_rate.WhichOneof("learning_rate") == "dynamic"
    if name == "ftrl":
        yield (
            "ftrl shrinks the first weights: where linears are 0, a row keeps 1 - sqrt(a0 / a1) of "
            "them in its first update, with accumulators a0 before and a1 after it; nothing after "
            "a gradient of 0"
        )
        if p.ftrl.allow_zero_accumulator:
            yield "allow_zero_accumulator is deprecated and has no effect here"
        if p.ftrl.lr_power >= 0:
            yield f"lr_power is {p.ftrl.lr_power:g}; the square root would be -0.5"
    if name in ("adam", "proximal_yogi") and not dynamic:
        yield (
            f"{name} corrects no bias, and with a constant rate nothing else does; "
            "a dynamic rate of lr * sqrt(1 - beta2**t) / (1 - beta1**t) would"
        )
    if name == "adagrad_momentum" and not p.adagrad_momentum.exponent:
        yield "exponent is 0, which divides by 0; the square root would be 2"
    if name == "frequency_estimator" and not dynamic:
        yield (
            "a frequency estimator needs the number of the step as its "
            "learning rate; this one is constant"
        )
    if name == "frequency_aware_adagrad" and not p.frequency_aware_adagrad.HasField("step_counter"):
        yield "no step_counter is set; steps are counted here from 0"
    if name in _WITH_EPSILON and not getattr(p, name).epsilon:
        yield "epsilon is 0: the first zero gradient of a row divides 0 by 0"
    if (
        name
        and p.learning_rate.WhichOneof("learning_rate") == "constant"
        and not p.learning_rate.constant
    ):
        yield "the learning rate is 0"


_WITH_EPSILON = ("adam", "rms_prop", "centered_rms_prop", "adadelta", "proximal_yogi")


def _settings_notes(t: Table) -> Iterator[str]:
    p = t.optimization_parameters
    name = p.WhichOneof("parameters")
    decay = p.weight_decay_factor
    if decay and name == "stochastic_gradient_descent":
        yield (
            "weight decay does not behave as expected with gradient descent; what it does is "
            "Policy.weight_decay_kind"
        )
    if decay and name == "mdl_adagrad_light":
        yield "weight decay does not work with MDL Adagrad light, as TensorFlow documents it"
    if p.multiply_weight_decay_factor_by_learning_rate and not decay:
        yield (
            "multiply_weight_decay_factor_by_learning_rate has no effect without "
            "weight_decay_factor"
        )
    if p.gradient_accumulation_status == GradientAccumulationStatus.DISABLED:
        yield (
            "without accumulation the optimizer runs for every lookup of a row; its order there "
            "is not public"
        )
        if p.HasField("gradient_clipping_limits"):
            yield (
                "without accumulation gradients are clipped one by one; TensorFlow's Python layer "
                "refuses this"
            )
    if p.hot_id_replication_configuration.status not in (
        HotIdReplicationConfiguration.UNSPECIFIED,
        HotIdReplicationConfiguration.DISABLED,
    ):
        yield (
            "hot-id replication is experimental and changes no number that is documented; it has "
            "no effect here"
        )
    if p.low_dimensional_packing_status == 1:
        yield (
            "low-dimensional packing lays out narrow rows in memory, see "
            "pack_rows; it changes no number"
        )
    quantization = p.simulated_quantization
    if quantization.ByteSize() and not quantization.enabled:
        yield "simulated_quantization has no effect, as it is not enabled"


def _unknown_field_notes(message: Any, path: str) -> Iterator[Note]:
    numbers = [str(f.field_number) for f in unknown_fields.UnknownFieldSet(message)]
    if len(numbers) == 1:
        text = f"field {numbers[0]} is not known here; it is kept and has no effect"
        yield Note("notice", path or "configuration", text)
    elif numbers:
        text = f"fields {', '.join(numbers)} are not known here; they are kept and have no effect"
        yield Note("notice", path or "configuration", text)
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE or field.message_type.name == "HloModuleProto":
            continue
        for k, m in enumerate(value if is_repeated(field) else [value]):
            inner = f"{field.name}[{k}]" if is_repeated(field) else field.name
            yield from _unknown_field_notes(m, f"{path}.{inner}".lstrip("."))
