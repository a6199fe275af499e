"""The mid-level interface of TPU embeddings: the configuration it writes, its initializers and its
errors.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import tpu
from gradlab.tpu.experimental.embedding.config_writer import write_table
from tests.conformance.adapters.ops import against
from tests.conformance.adapters.tpu_config import words
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

GROUPS = ("config_api", "api_error", "initializer")


def accepts(scenario: Scenario) -> bool:
    return scenario.group in GROUPS


def differences(scenario: Scenario) -> list[str]:
    wanted, inputs = scenario.data["expected"], scenario.data["inputs"]
    if scenario.group == "api_error":
        found = attempt(provoked(inputs["condition"]))
        return against(scenario, found if isinstance(found, Raised) else {"error": None})
    if scenario.group == "initializer":
        dtype = inputs.get("dtype", "float32")
        return against(
            scenario,
            attempt(
                lambda: {
                    "output": tpu.experimental.embedding.RowIdInitializer(inputs["offset"])(
                        inputs["shape"], dtype
                    )
                }
            ),
        )
    message = attempt(
        lambda: (table_alone if "api" in inputs else whole)(inputs.get("api", inputs))
    )
    if isinstance(message, Raised):
        return against(scenario, message)
    data = message.SerializeToString(deterministic=True)
    found = {"hex": data.hex(), "message": words(message), "num_bytes": len(data)}
    return against(scenario, {key: found[key] for key in wanted if key in found})


def table_alone(api: dict[str, Any]) -> tpu.TPUEmbeddingConfiguration:
    """A configuration that holds one table, as its own writer leaves it."""
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in api["args"].items()}
    tags: dict[Callable[[], float], int] = {}
    if tag := re.fullmatch(r"<callable with index (\d+)>", str(arguments.get("learning_rate"))):
        arguments["learning_rate"] = lambda: 0.0
        tags = {arguments["learning_rate"]: int(tag[1])}
    quantization = api.get("quantization_config")
    table = tpu.experimental.embedding.TableConfig(
        api.get("vocabulary_size", 8),
        api.get("dim", 4),
        optimizer=getattr(tpu.experimental.embedding, api["optimizer"])(**arguments),
        name="t",
        quantization_config=tpu.experimental.embedding.QuantizationConfig(**quantization)
        if quantization
        else None,
    )
    config = tpu.TPUEmbeddingConfiguration()
    write_table(config.table_descriptor.add(), table, api.get("num_hosts", 1), tags)
    return config


def whole(inputs: dict[str, Any]) -> tpu.TPUEmbeddingConfiguration:
    """What `TPUEmbedding` sends; learning rates of one name are one function."""
    rates: dict[str, Callable[[], float]] = {}

    def rate(given: Any) -> Any:
        return rates.setdefault(given, lambda: 0.0) if isinstance(given, str) else given

    tables = []
    for t in inputs["tables"]:
        arguments = {"learning_rate": rate(t["learning_rate"])} if "learning_rate" in t else {}
        optimizer = getattr(tpu.experimental.embedding, t["optimizer"])(**arguments)
        tables.append(
            tpu.experimental.embedding.TableConfig(
                t["vocabulary_size"], t["dim"], optimizer=optimizer, name=t["name"]
            )
        )
    features = [
        tpu.experimental.embedding.FeatureConfig(**{**f, "table": tables[f["table"]]})
        for f in inputs["features"]
    ]
    tpu.experimental.embedding.TPUEmbedding(features)  # which gives tables their names
    per_replica = inputs.get("num_cores_per_replica")
    return tpu.experimental.embedding.configuration(
        features,
        inputs["output_shapes"],
        num_hosts=inputs["num_hosts"],
        num_cores=inputs["num_replicas"] * (per_replica or 1),
        pipelined=inputs.get("pipeline_execution_with_tensor_core", False),
        cores_per_replica=per_replica,
    )


def provoked(condition: str) -> Callable[[], Any]:
    """What a condition in words does."""
    table = tpu.experimental.embedding.TableConfig(8, 4, name="t")
    told: dict[str, Callable[[], Any]] = {
        "two tables with one name": lambda: embedding(
            [table, tpu.experimental.embedding.TableConfig(8, 4, name="t")]
        ),
        "clipvalue without gradient accumulation": lambda: tpu.experimental.embedding.SGD(
            clipvalue=1.0, use_gradient_accumulation=False
        ),
        "TPUEmbeddingV2 outside TPUStrategy": lambda: tpu.experimental.embedding.TPUEmbeddingV2(
            tpu.experimental.embedding.FeatureConfig(table),
            tpu.experimental.embedding.SGD(),
            engine=None,
        ),
        "a feature that is no FeatureConfig": lambda: tpu.experimental.embedding.TPUEmbedding(
            [table], tpu.experimental.embedding.SGD()
        ),
    }
    if condition in told:
        return told[condition]
    if eager := re.fullmatch(r"(\w+) executed eagerly.*", condition):
        return executed(getattr(gl.raw_ops, eager[1]))
    if outside := re.fullmatch(r"(enqueue|dequeue|apply_gradients) outside TPUStrategy", condition):
        arguments = [] if outside[1] == "dequeue" else [[np.zeros(2, np.int32)]]
        return lambda: getattr(embedding([table], engine=None), outside[1])(*arguments)
    return constructed(condition, table)


REQUIRED: dict[str, dict[str, Any]] = {
    "TableConfig": {"vocabulary_size": 8, "dim": 4},
    "QuantizationConfig": {"num_buckets": 16, "lower": -1.0, "upper": 1.0},
    "CustomOptimizer": {"custom_computation": lambda *_: 0},
    "CustomCombiner": {"combiner_computation": lambda *_: 0, "max_valency": 2},
}


def executed(op: Callable[..., Any]) -> Callable[[], Any]:
    """An operation with arguments that fit `example_config`, where there is no TPU system."""
    tpu.shutdown_system()
    parameters = inspect.signature(op).parameters
    usual = {
        "Tensors": [np.zeros((2, 1), np.float32)],
        "Tensor": np.zeros((4, 1), np.float32),
        "int": 1,
    }
    given = {
        n: usual.get(p.annotation, "")
        for n, p in parameters.items()
        if p.default is inspect.Parameter.empty
    }
    known = {"config": tpu.example_config(), "learning_rates": [], "table_id": 0, "shard_id": 0}
    return lambda: op(**given | {n: x for n, x in known.items() if n in parameters})


# What words say instead of key=value; the name of the argument is the group.
SAID: dict[str, Any] = {
    r"(\w+) (?:is )?(?:not callable|non-callable|not a \w+)": 3,
    r"(?:non-callable|non-positive integer) (\w+)": 3.5,
    r"negative (\w+)|(\w+) (?:is )?negative": -1,
    r"(?:zero|non-positive) (\w+)|(\w+) (?:is )?(?:zero|not positive|non-positive)": 0,
    r"(?:unknown|bad|invalid|unsupported) (\w+)": "unknown",
    r"(?:float|non-integer) (\w+)|(\w+) (?:is )?(?:a )?(?:float|not an integer)\b": 4.5,
    r"(beta_[12]) (?:outside|>=|above|not in)": 1.0,
    r"(clipvalue) without": 1.0,
    r"(dtype) float64": np.float64,
    r"(dtype) int64": np.int64,
}


def constructed(condition: str, table: tpu.experimental.embedding.TableConfig) -> Callable[[], Any]:
    """A class by its name, with the arguments that the words after it give."""
    name, _, rest = condition.partition(" ")
    cls = getattr(tpu.experimental.embedding, name, None)
    if cls is None or not isinstance(cls, type):
        raise Unsupported(f"condition {condition!r}")
    given = dict(re.findall(r"(\w+) ?= ?('[^']*'|\[[^]]*\]|\([^)]*\)|[^\s,]+)", rest))
    arguments = REQUIRED.get(name, {"table": table} if name == "FeatureConfig" else {})
    arguments = arguments | {key: literal(x) for key, x in given.items()}
    if "without gradient accumulation" in rest or "without accumulation" in rest:
        arguments["use_gradient_accumulation"] = False
    for pattern, value in SAID.items():
        arguments |= {
            n: value
            for found in re.finditer(pattern, rest)
            for n in found.groups()
            if n and n not in given
        }
    return lambda: cls(**arguments)


def literal(text: str) -> Any:
    """A Python value; a bare word is the name of a dtype, or itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(np, text.rpartition(".")[2], text)


def embedding(
    tables: list[tpu.experimental.embedding.TableConfig], **more: Any
) -> tpu.experimental.embedding.TPUEmbedding:
    return tpu.experimental.embedding.TPUEmbedding(
        [tpu.experimental.embedding.FeatureConfig(t) for t in tables],
        tpu.experimental.embedding.SGD(),
        **more,
    )
