"""Record what TensorFlow's operations make of the ids of a batch for SparseCores, or check gradlab.

    python -m tests.golden.sparsecore_ops_oracle               write library/sparsecore_ops.json
    python -m tests.golden.sparsecore_ops_oracle --check 2000  compare 2000 batches bit by bit

Needs tensorflow-tpu 2.20 in place of tensorflow: the kernels are CPU's, but the package for CPUs
leaves them out. It needs no TPU and no libtpu, and waits five seconds for one. A batch is drawn
from its number: features of one stack, some in one table, sparse, ragged and dense ids with and
without weights, limits that bind, buffers that are full, splits into minibatches. Its operations
run one after another, each on what TensorFlow made before.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]
FILE = Path(__file__).parent / "library" / "sparsecore_ops.json"
RECORDED = range(16)
BUCKETS = 64
# Outputs of the operation that writes buffers: how much of the others is written.
POINTERS, IDS = "row_pointers_unpadded_size", "ids_unpadded_size"
BUFFERS = ("sorted_sample_ids", "sorted_token_ids", "sorted_gains")

FEATURE = {
    "indices_or_row_splits": np.zeros(0, np.int32),
    "values": np.int32([3, 1]),
    "weights": np.float32(1),
    "sample_count": 2,
    "combiner": "sum",
}
# Not among them: indices of three columns, which 2.20 takes and the sources of 2.21 refuse.
WRONG_FEATURES: list[Json] = [
    {"values": np.int32([[3, 1]])},
    {"weights": np.ones((2, 1), np.float32)},
    {"weights": np.ones(3, np.float32)},
    {"sample_count": 3},
    {"indices_or_row_splits": np.int32([0, 2])},
    {"indices_or_row_splits": np.int32([[[0, 0]], [[1, 0]]])},
    {"indices_or_row_splits": np.int32([[1, 0], [0, 0]])},
    {"indices_or_row_splits": np.int32([[0, 0], [2, 0]])},
    {"combiner": "max"},
]


def draw_feature(rng: np.random.Generator, samples: int, rows: int) -> Json:
    """The ids of a feature, sparse, ragged or dense; a few below 0."""
    counts = rng.integers(0, 5, samples)
    kind = rng.choice(["sparse", "ragged", "dense", "empty"], p=[0.4, 0.4, 0.15, 0.05])
    if kind == "dense":
        counts[:] = 1
    if kind == "empty":
        counts[:] = 0
    total = int(counts.sum())
    where: Any = np.zeros(0, np.int32)
    if kind == "ragged":
        where = np.cumsum([0, *counts], dtype=np.int32)
    elif kind != "dense":
        where = np.stack([np.repeat(np.arange(samples), counts), np.arange(total)], 1)
    lowest = -2 if rng.random() < 0.1 else 0
    weights: Any = np.float32(rng.choice([1.0, 0.3, 0.0, -2.5]))
    if rng.random() < 0.5:
        weights = rng.normal(size=total).astype(np.float32)
        weights[rng.random(total) < 0.1] = 0
    return {
        "indices_or_row_splits": where.astype(np.int32),
        "values": rng.integers(lowest, rows, total).astype(np.int32),
        "weights": weights,
        "sample_count": samples,
        "combiner": str(rng.choice(["sum", "mean", "sqrtn"])),
    }


def draw_features(rng: np.random.Generator, cores: int, shards: int) -> list[Json]:
    """The features of a stack, with their places in it."""
    own_samples = rng.integers(1, 6, rng.integers(1, 4))
    places: list[Json] = []
    free = 0
    for _ in own_samples:
        if places and rng.random() < 0.5:
            places.append(places[-1])
            continue
        rows = int(rng.integers(1, 60))
        shift = int(rng.integers(0, shards))
        places.append({"rows": rows, "col_offset": free, "col_shift": shift})
        free += -(-rows // (8 * shards)) * 8 * shards
    features = []
    before = 0
    for own, place in zip(own_samples.tolist(), places, strict=True):
        features.append(
            {
                **draw_feature(rng, own * cores, place["rows"]),
                "num_sc_per_chip": cores,
                "row_offset": before,
                "col_offset": place["col_offset"],
                "col_shift": place["col_shift"],
                "num_sc_shards": shards,
                "stacked_table_sample_count": int(own_samples.sum()) * cores,
            }
        )
        before += own * cores
    return [features[k] for k in rng.permutation(len(features))]


def play(number: int, run: Callable[[str, Json], Any]) -> None:
    """Draw a batch and run its operations.

    Args:
        run: takes the name of an operation and its arguments; returns its outputs by name, or None
            where it raised.
    """
    rng = np.random.default_rng(number)
    cores, chips = (3, 2) if number % 16 == 5 else rng.choice([(1, 1), (2, 1), (2, 2), (4, 4)])
    cores, chips = int(cores), int(chips)
    shards = 1 << (cores * chips - 1).bit_length()
    features = draw_features(rng, cores, shards)
    lists = []
    for feature in features:
        names = ("indices_or_row_splits", "values", "weights", "sample_count", "combiner")
        run("ConvertToCooTensor", {name: feature[name] for name in names})
        lists.append(run("ConvertToListOfSparseCoreCooTensors", feature))

    common = {"num_replica": chips, "table_vocab_size": 512, "feature_width": 8, "table_name": "t"}
    limits = {
        "max_ids_per_sparse_core": int(rng.choice([500, 500, 4])),
        "max_unique_ids_per_sparse_core": int(rng.choice([500, 500, 3])),
    }
    samples = [feature["sample_count"] // cores for feature in features]
    in_order = []
    for core in range(cores):
        stack = {
            "row_ids_list": [x["row_ids_list"][core] for x in lists],
            "col_ids_list": [x["col_ids_list"][core] for x in lists],
            "gains_list": [x["gains_list"][core] for x in lists],
            "sample_count_list": samples,
            "col_offset_list": [feature["col_offset"] for feature in features],
            "num_sc_per_chip": cores,
            **common,
        }
        run("GetStatsFromListOfSparseCoreCooTensors", stack)
        in_order.append(run("SortListOfSparseCoreCooTensors", {**stack, **limits}))
    if any(outputs is None for outputs in in_order):
        return
    counts = [outputs["id_counts"] for outputs in in_order]
    splits = np.zeros(1, np.int64)
    if rng.random() < 0.4:
        counts = [_draw_buckets(rng, x) for x in counts]
        splits = rng.choice([0, 1, 0b11, 0b1000101, 1 << 62], int(rng.integers(1, 3)))
    run(
        "ConvertToSparseCoreCsrWrappedCooTensor",
        {
            "sorted_row_ids_list": [outputs["sorted_row_ids"] for outputs in in_order],
            "sorted_col_ids_list": [outputs["sorted_col_ids"] for outputs in in_order],
            "sorted_gains_list": [outputs["sorted_gains"] for outputs in in_order],
            "id_counts_list": counts,
            "splits": splits.astype(np.int64),
            "sample_count_per_sc": sum(samples),
            "max_minibatches_per_sc": 6,
            "max_ids_per_chip_per_sample": int(rng.choice([1, 4, 8, 64])),
            "allow_id_dropping": bool(rng.random() < 0.5),
            **common,
        },
    )


def play_wrong(run: Callable[[str, Json], Any]) -> None:
    """Run an operation on features that it refuses."""
    for change in WRONG_FEATURES:
        run("ConvertToCooTensor", {**FEATURE, **change})


def _draw_buckets(rng: np.random.Generator, ends: np.ndarray) -> np.ndarray:
    """Ends of 64 buckets for each partition, some of them empty."""
    counts = [0]
    for first, last in pairwise(ends):
        counts += [*np.sort(rng.integers(first, last + 1, BUCKETS - 1)), last]
    return np.array(counts, np.int32)


def tensorflow_outputs(name: str, arguments: Json) -> tuple[Json | None, Json]:
    """What an operation returns by name, None where it raises; and both as they are recorded."""
    from tests.golden.tensorflow_values import tensorflow

    try:
        found = getattr(tensorflow().raw_ops, name)(**arguments)
    except tensorflow().errors.OpError as error:
        return None, {"error": type(error).__name__}
    outputs = {
        field: [x.numpy() for x in value] if isinstance(value, list) else value.numpy()
        for field, value in found._asdict().items()
    }
    return outputs, {"expected": {k: encode(x) for k, x in cut(outputs).items()}}


def cut(outputs: Json) -> Json:
    """Outputs without what isn't written."""
    if POINTERS not in outputs:
        return outputs
    sizes = {"row_pointers": outputs[POINTERS]} | dict.fromkeys(BUFFERS, outputs[IDS])
    return {name: x[: sizes[name]] if name in sizes else x for name, x in outputs.items()}


def encode(x: Any) -> Any:
    """Arrays in the form that `tests/conformance/library.py` reads, each bit of a float in it."""
    if isinstance(x, list) and x and isinstance(x[0], np.ndarray):
        return [encode(item) for item in x]
    if not isinstance(x, np.ndarray | np.generic):
        return x
    array = np.asarray(x)
    head = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.dtype.kind == "f":
        return {**head, "hex": [float(entry).hex() for entry in array.ravel()]}
    return {**head, "values": array.ravel().tolist()}


def record() -> list[Json]:
    """The scenarios of the golden file."""
    lines: list[Json] = []

    def run(name: str, arguments: Json) -> Any:
        outputs, recorded = tensorflow_outputs(name, arguments)
        args = {k: encode(x) for k, x in arguments.items()}
        lines.append({"id": f"{name}/{len(lines)}", "op": name, "args": args, **recorded})
        return outputs

    play_wrong(run)
    for number in RECORDED:
        play(number, run)
    return lines


def check(batches: int) -> int:
    """The number of operations whose outputs differ from gradlab's, each of which is printed."""
    from gradlab import raw_ops
    from gradlab.errors import FailedPreconditionError, InvalidArgumentError

    counts = {"operations": 0, "errors": 0, "different": 0}

    def run(name: str, arguments: Json) -> Any:
        outputs, recorded = tensorflow_outputs(name, arguments)
        try:
            own = getattr(raw_ops, name)(**arguments)._asdict()
            found = {"expected": {k: encode(x) for k, x in cut(own).items()}}
        except (InvalidArgumentError, FailedPreconditionError) as error:
            found = {"error": type(error).__name__}
        counts["operations"] += 1
        counts["errors"] += "error" in recorded
        if found != recorded:
            counts["different"] += 1
            print(f"{name} {arguments}: gradlab gives {found}, TensorFlow {recorded}")
        return outputs

    play_wrong(run)
    for number in range(len(RECORDED), len(RECORDED) + batches):
        play(number, run)
    print(f"{batches} batches: {counts}")
    return counts["different"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=int, metavar="BATCHES")
    batches = parser.parse_args().check
    if batches is not None:
        sys.exit(check(batches) > 0)
    lines = ",\n".join(json.dumps(x, separators=(",", ":")) for x in record())
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
