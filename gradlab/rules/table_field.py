"""How the fields of a rule appear in tables of TPU embeddings, as metadata of the dataclass field.

A field without metadata has one name everywhere: in the rule, in the optimizer's message, and as an
argument of `tf.tpu.experimental.embedding`. `in_tables` declares a field that differs. From these
declarations `gradlab.tpu` writes a rule as a message, reads a rule from a message, and derives the
rules of table optimizers.

A field that isn't fixed and that the message lacks is left out when a rule is written: initial
values are sent with the slots, orders of operations change last bits only, and some fields choose
among readings of what the engine does, which isn't public.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TableField:
    """How a table calls and uses a field of a rule; `in_tables` explains the attributes."""

    argument: str = ""
    message: str = ""
    flag: tuple[Any, Any] | None = None
    fixed: Any = None
    preset: Any = None
    instead: str = ""


def in_tables(
    *,
    argument: str = "",
    message: str = "",
    flag: tuple[Any, Any] | None = None,
    fixed: Any = None,
    preset: Any = None,
    instead: str = "",
) -> dict[str, TableField]:
    """Return the metadata of a field that has another name or value in tables.

    Args:
        argument: TensorFlow's name of the argument of the table optimizer.
        message: the name in the optimizer's message.
        flag: the values of the field while the message has its flag off, and on.
        fixed: the value that the engine has; a rule with another value cannot be written as a
            message.
        preset: the value in the rules of tables; a rule with another value is written as the same
            message.
        instead: what to do in place of a value that is not the fixed one, as the end of an error
            message.

    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True)
    ... class Decay:
    ...     rate: float = field(default=0.5, metadata=in_tables(argument="decay_rate"))
    >>> table_fields(Decay)["rate"].argument, table_fields(Decay)["rate"].message
    ('decay_rate', 'rate')
    """
    return {"table": TableField(argument, message, flag, fixed, preset, instead)}


def table_fields(rule: type[Any]) -> dict[str, TableField]:
    """Return the `TableField` of each field of a rule, by its name in the rule."""
    fields = {}
    for field in dataclasses.fields(rule):
        declared = field.metadata.get("table", TableField())
        fields[field.name] = dataclasses.replace(
            declared,
            argument=declared.argument or field.name,
            message=declared.message or field.name,
        )
    return fields
