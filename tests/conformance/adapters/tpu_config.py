"""Configurations of TPU embeddings in bytes: what they say, and what is written again."""

from __future__ import annotations

from typing import Any

from gradlab.tpu import parse
from gradlab.tpu.engine.wire import is_repeated
from tests.conformance.adapters.ops import against
from tests.conformance.scenarios import Scenario


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "config_proto"


def differences(scenario: Scenario) -> list[str]:
    wanted, data = scenario.data["expected"], bytes.fromhex(scenario.data["inputs"]["hex"])
    if "error" in wanted:  # protobuf's, which here is a ValueError
        return [] if refused(data) else [f"{scenario.id}: expected {wanted['error']}"]
    message = parse(data)
    data = message.SerializeToString()
    found = {"message": words(message), "reserialized_hex": data.hex(), "num_bytes": len(data)}
    return against(scenario, {key: found[key] for key in wanted if key in found})


def refused(data: bytes) -> bool:
    try:
        parse(data)
    except ValueError:
        return True
    return False


def words(message: Any) -> Any:
    """A message as the scenarios write it: None is what is not set, and `which_x` names the choice
    of a oneof.
    """
    found = {f.name: _word(message, f) for f in message.DESCRIPTOR.fields}
    return found | {
        f"which_{o.name}": message.WhichOneof(o.name) for o in message.DESCRIPTOR.oneofs
    }


def _word(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if is_repeated(field):
        return [words(v) if field.message_type else v for v in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    if field.enum_type:
        known = field.enum_type.values_by_number
        return known[value].name if value in known else value
    if not field.message_type:
        return value
    if field.message_type.name == "HloModuleProto":
        return {"name": value.name}
    return value.value if field.message_type.name == "FloatValue" else words(value)
