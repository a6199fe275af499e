"""Preprocessing for SparseCores and the layout of their tables: the buffers, read back, and the
counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradlab import tpu
from gradlab.tpu import sparsecore
from tests.conformance import compare
from tests.conformance.scenarios import Scenario, Unsupported
from tests.golden.sparsecore_oracle import partitions

Json = dict[str, Any]
PREPROCESS = {
    *("ids", "weights", "combiner", "vocabulary_size", "num_sc", "num_devices"),
    *("max_ids_per_partition", "max_unique_ids_per_partition", "allow_id_dropping"),
}
# The host divides by a sum where TensorFlow's multiplies.
CLOSE = {"exact": False, "rtol": 1e-6, "atol": 1e-7}


def accepts(scenario: Scenario) -> bool:
    return scenario.group in RUNS


def differences(scenario: Scenario) -> list[str]:
    data = scenario.data
    return compare.differences(
        data["expected"], RUNS[scenario.group](data), data.get("compare", CLOSE), scenario.id
    )


# --- preprocessing --------------------------------------------------------------------------------


def preprocess(data: Json) -> Json:
    """One table and one feature, by default on one device: partitions and counts; ids pass as they
    are.
    """
    inputs = data["inputs"]
    if unknown := inputs.keys() - PREPROCESS:
        raise Unsupported(f"inputs {sorted(unknown)}")
    cores = inputs.get("num_devices", 1)
    per_core = inputs["num_sc"] // cores
    table = {
        "name": "t",
        "rows": inputs["vocabulary_size"],
        "width": 8,
        "combiner": inputs["combiner"],
    }
    feature = {"name": "f", "table": "t", "ids": inputs["ids"], "weights": inputs.get("weights")}
    asked = {
        "cores": cores,
        "per_core": per_core,
        "tables": [table],
        "features": [feature],
        "stacking": False,
    }
    limits = [
        inputs.get(name) for name in ("max_ids_per_partition", "max_unique_ids_per_partition")
    ]
    asked["limits"] = None if limits == [None, None] else [64 if x is None else x for x in limits]
    asked |= {"as_found": True, "allow_id_dropping": inputs.get("allow_id_dropping", False)}
    found = made(asked)
    told = _stack(found, "t", {**asked, "minibatching": False})
    shards = cores * per_core
    pointers = np.array(told["row_pointers"]).reshape(shards, -1)
    names = ("local_embedding_ids", "local_sample_ids", "gains")
    each = [
        {
            "row_pointers": pointers[k],
            "partitions": [
                dict(zip(names, x, strict=True))
                for x in _of_core(told["partitions"], k, per_core, shards)
            ],
        }
        for k in range(shards)
    ]
    counts = {
        "max_ids_per_partition": told["max_ids"],
        "max_unique_ids_per_partition": told["max_unique_ids"],
    }
    return {"per_sparsecore": each, **counts, "id_drop_counter": told["dropped"]}


def _of_core(told: list[Json], k: int, per_core: int, shards: int) -> list[list[Any]]:
    """All partitions of a SparseCore, empty ones included."""
    start, empty = k % per_core * shards, [[], [], []]
    return [told[k // per_core].get(str(start + p), empty) for p in range(shards)]


def drawn(data: Json) -> Json:
    """What `tests/golden/sparsecore_oracle.py` records, from the library itself."""
    found = made(data)
    places = {
        p.table: [s.name, p.padded_rows, p.padded_width, p.offset, p.rotation]
        for s in found.layout.stacks
        for p in s.places
    }
    stacks = {s.name: _stack(found, s.name, data) for s in found.layout.stacks}
    for name, told in stacks.items():
        if data["minibatching"]:  # the original always keeps room for 64 of them
            told["size"] = data["expected"]["stacks"][name]["size"]
    return {"minibatches": found.minibatches, "stacks": stacks, "places": places}


def made(data: Json) -> sparsecore.Preprocessed:
    cores, per_core = data["cores"], data["per_core"]
    tables = tuple(
        tpu.Table(t["name"], t["rows"], t["width"], combiner=t["combiner"]) for t in data["tables"]
    )
    number = {t.name: k for k, t in enumerate(tables)}
    features = tuple(
        tpu.Feature(f["name"], number[f["table"]], (len(f["ids"]) // cores,))
        for f in data["features"]
    )
    plan = tpu.Plan(tables, features, cores)
    layout = sparsecore.stack(plan, per_core, enabled=data["stacking"])
    options = {"out_of_range": "as_found"} if data.get("as_found") else {}
    options |= {
        k: data[k] for k in ("allow_id_dropping", "minibatching", "buffer_size") if k in data
    }
    limits = None if data["limits"] is None else sparsecore.Limits(*data["limits"])
    return sparsecore.preprocess(
        plan,
        _ids(data["features"], cores),
        per_core=per_core,
        layout=layout,
        limits=limits,
        **options,
    )


def _ids(features: list[Json], cores: int) -> list[dict[str, tpu.Ids]]:
    found: list[dict[str, tpu.Ids]] = [{} for _ in range(cores)]
    for f in features:
        each = len(f["ids"]) // cores
        for core in range(cores):
            own = slice(core * each, (core + 1) * each)
            rows = f["ids"][own]
            samples = np.repeat(np.arange(each), [len(x) for x in rows])
            weights = (
                None
                if f["weights"] is None
                else np.concatenate(f["weights"][own]).astype(np.float32)
            )
            found[core][f["name"]] = tpu.Ids(
                samples, np.concatenate(rows).astype(np.int64), weights
            )
    return found


def _stack(found: sparsecore.Preprocessed, name: str, how: Json) -> Json:
    buffers, told, many = found.buffers[name], found.statistics[name], found.minibatches
    ids, unique = told.most(how["per_core"])
    read = [
        {
            k: [ids, samples, np.array(g, np.float32)]
            for k, (ids, samples, g) in partitions(p.tolist(), *x, how, many).items()
        }
        for p, *x in zip(buffers.row_pointers, *buffers[1:4], strict=True)
    ]
    return {
        "row_pointers": buffers.row_pointers.tolist(),
        "size": buffers.embedding_ids.shape[1],
        "partitions": read,
        "max_ids": ids.ravel().tolist(),
        "max_unique_ids": unique.ravel().tolist(),
        "required": told.required.tolist(),
        "dropped": int(told.dropped.sum() + told.cut.sum()),
    }


# --- layout ---------------------------------------------------------------------------------------


def layout(data: Json) -> Json:
    """Places of tables, a table into shards, out of them, or single rows."""
    inputs = data["inputs"]
    for key, run in (
        ("tables", _layouts),
        ("table", _shard),
        ("stacked", _unshuffle),
        ("rows", _rows),
    ):
        if key in inputs:
            return run(inputs)
    raise Unsupported(f"a layout of {sorted(inputs)}")


def _layouts(inputs: Json) -> Json:
    tables = [
        sparsecore.Unplaced(
            t["table_name"],
            t["table_height"],
            t["table_width"],
            t["group"],
            t["output_samples"],
            t["num_features"],
        )
        for t in inputs["tables"]
    ]
    limits = {
        "activation_limit": inputs.get("activation_memory_limit"),
        "shard_limit": inputs.get("variable_shard_limit"),
    }
    found = sparsecore.stacked(
        tables,
        inputs["num_partitions"],
        inputs["sparse_cores_per_partition"],
        enabled=not inputs["disable_table_stacking"],
        **{name: x for name, x in limits.items() if x is not None},
    )
    return {"layouts": [_told(found, s, p) for s in found.stacks for p in s.places]}


def _told(found: sparsecore.Layout, s: sparsecore.Stack, p: sparsecore.Place) -> Json:
    return {
        "table_name": p.table,
        "fdo_key": "",
        "stacked_table_name": s.name,
        "num_sparse_cores": found.shards,
        "num_partitions": found.cores,
        "total_rows_per_sparse_core_shard": s.rows_per_shard,
        "unsharded_shape": [p.rows, p.width],
        "unsharded_padded_shape": [p.padded_rows, p.padded_width],
        "sparse_core_shard_row_offset": p.offset,
        "sparse_core_shard_rotation": p.rotation,
        "per_sparse_core_batch_size": p.samples // found.per_core,
        "num_features": p.features,
    }


def _alone(
    rows: int, width: int, shards: int, offset: int, rotation: int, total: int
) -> sparsecore.Layout:
    """A table of which the whole stack is known, but not what stands above and below it."""
    above = sparsecore.Place("above", 0, 0, offset * shards, width, 0, 0)
    place = sparsecore.Place("t", rows, width, rows, width, offset, rotation)
    below = sparsecore.Place(
        "below", 0, 0, total - (offset * shards + rows), width, offset + rows // shards, 0
    )
    return sparsecore.Layout(1, shards, (sparsecore.Stack("s", shards, (place, above, below)),))


def _shard(inputs: Json) -> Json:
    table = np.array(inputs["table"], np.float32)
    found = _alone(
        *table.shape, inputs["num_sparse_cores"], 0, inputs.get("shard_rotation", 0), len(table)
    )
    none = np.zeros((0, 0), np.float32)
    return {"sharded": sparsecore.to_stacks(found, {"t": table, "above": none, "below": none})["s"]}


def _unshuffle(inputs: Json) -> Json:
    stacked, shards = np.array(inputs["stacked"], np.float32), inputs["num_sparse_cores"]
    rows = inputs["size_in_shard"] * shards
    found = _alone(
        rows,
        stacked.shape[1],
        shards,
        inputs["offset_in_shard"],
        inputs.get("shard_rotation", 0),
        len(stacked),
    )
    return {"table": sparsecore.from_stacks(found, {"s": stacked})["t"]}


def _rows(inputs: Json) -> Json:
    place = sparsecore.Place("t", 0, 0, 0, 0, inputs["offset_in_shard"], inputs["shard_rotation"])
    shard, position = place.positions(inputs["num_sparse_cores"], inputs["rows"])
    return {"shard": shard, "position": position}


RUNS: dict[str, Callable[[Json], Json]] = {
    "sparsecore_preprocess": preprocess,
    "sparsecore_layout": layout,
    "sparsecore_drawn": drawn,
}
