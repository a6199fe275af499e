"""Record what the preprocessing of jax-tpu-embedding makes, on CPU, of the batches of
sparsecore.json.

    python -m tests.golden.sparsecore_oracle

Needs jax-tpu-embedding 0.1.0, which needs no TPU for this. `tests/conformance` compares. The
batches were drawn at
random: tables, features, cores, limits, stacking, dropping, minibatches, small buffers, something
of everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden import write
from tests.golden.tensorflow_values import Json


def outputs(s: Json) -> Json:
    """What the host makes of a batch: layouts, buffers and counts by stack."""
    from jax_tpu_embedding.sparsecore.lib.nn import embedding, table_stacking

    features = _features(s)
    devices, each = s["cores"], s["per_core"]
    if s["stacking"]:
        table_stacking.auto_stack_tables(
            features, devices, each, use_short_stack_names=False, **_limits(s)
        )
    embedding.prepare_feature_specs_for_training(features, devices, each)
    _set_buffers(features, s)
    ids = [_rows(f["ids"], np.int32) for f in s["features"]]
    weights = [_rows(f["weights"], np.float32) for f in s["features"] if f["weights"] is not None]
    how = {k: s[k] for k in ("allow_id_dropping",)} | {"enable_minibatching": s["minibatching"]}
    made, counted = embedding.preprocess_sparse_dense_matmul_input(
        ids, weights or None, features, devices, devices, num_sc_per_device=each, **how
    )
    many = int(np.ravel(made.num_minibatches)[0])
    told = {name: _stack(name, made, counted, s, many) for name in made.lhs_row_pointers}
    return {"minibatches": many, "stacks": told, "places": _places(features)}


def _features(s: Json) -> list[Any]:
    import jax
    from jax_tpu_embedding.sparsecore.lib.nn import embedding_spec as spec

    tables = {
        t["name"]: spec.TableSpec(
            name=t["name"],
            vocabulary_size=t["rows"],
            embedding_dim=t["width"],
            combiner=t["combiner"],
            initializer=jax.nn.initializers.zeros,
            optimizer=spec.SGDOptimizerSpec(),
            max_ids_per_partition=s["limits"][0],
            max_unique_ids_per_partition=s["limits"][1],
        )
        for t in s["tables"]
    }
    return [
        spec.FeatureSpec(
            name=f["name"], table_spec=tables[f["table"]], input_shape=(len(f["ids"]), 1),
            output_shape=(len(f["ids"]), tables[f["table"]].embedding_dim),
        )
        for f in s["features"]
    ]  # fmt: skip


def _limits(s: Json) -> dict[str, Any]:
    ids, rows = s["limits"]
    return {
        "stack_to_max_ids_per_partition": lambda *_: ids,
        "stack_to_max_unique_ids_per_partition": lambda *_: rows,
    }


def _set_buffers(features: list[Any], s: Json) -> None:
    """A size of the buffers stands in the stacked table, where only `replace` can put it."""
    for f in features if "buffer_size" in s else []:
        stacked = f.table_spec.stacked_table_spec
        f.table_spec.stacked_table_spec = stacked.replace(
            suggested_coo_buffer_size_per_device=s["buffer_size"]
        )


def _rows(rows: list[Any], dtype: Any) -> np.ndarray:
    if len({len(x) for x in rows}) == 1:
        return np.array(rows, dtype)
    ragged = np.empty(len(rows), object)
    ragged[:] = [np.array(x, dtype) for x in rows]
    return ragged


def _stack(name: str, made: Any, counted: Any, s: Json, minibatches: int) -> Json:
    def devices(x: Any) -> np.ndarray:
        return np.asarray(x[name]).reshape(s["cores"], -1)

    pointers, ids = devices(made.lhs_row_pointers), devices(made.lhs_embedding_ids)
    samples, gains = devices(made.lhs_sample_ids), devices(made.lhs_gains)
    used = s["per_core"] * minibatches * max(s["cores"] * s["per_core"], 8)
    lookups = [
        partitions(pointers[d].tolist(), ids[d], samples[d], gains[d], s, minibatches)
        for d in range(s["cores"])
    ]
    return {
        "row_pointers": pointers[:, :used].tolist(),
        "size": ids.shape[1],
        "partitions": lookups,
        "max_ids": np.ravel(counted.max_ids_per_partition[name]).tolist(),
        "max_unique_ids": np.ravel(counted.max_unique_ids_per_partition[name]).tolist(),
        "required": np.ravel(counted.required_buffer_size_per_sc[name]).tolist(),
        "dropped": int(counted.id_drop_counters[name]),
    }


def _places(features: list[Any]) -> Json:
    found = {}
    for f in features:
        place, stacked = f.table_spec.setting_in_stack, f.table_spec.stacked_table_spec
        found[f.table_spec.name] = [
            stacked.stack_name,
            place.padded_vocab_size,
            place.padded_embedding_dim,
            place.row_offset_in_shard,
            place.shard_rotation,
        ]
    return found


def partitions(
    pointers: list[int], ids: Any, samples: Any, gains: Any, how: Json, minibatches: int
) -> Json:
    """The lookups of one device by number of the partition: [ids, samples, gains] of each that has
    any.

    Partitions count through all minibatches and SparseCores. Read by loops of plain Python, so that
    it has nothing in common with what it checks.
    """
    shards, found, begin = how["cores"] * how["per_core"], {}, 0
    stride = max(shards, 8)
    for segment in range(how["per_core"] * minibatches):
        if not how["minibatching"]:
            begin = segment * (len(ids) // how["per_core"])
        base = 0 if how["minibatching"] else begin
        for p in range(shards):
            end = base + pointers[segment * stride + p]
            if begin < end:
                found[str(segment * shards + p)] = [
                    [x.item() for x in part[begin:end]] for part in (ids, samples, gains)
                ]
            begin = -(-end // 8) * 8
    return found


def main() -> None:
    from jax_tpu_embedding.sparsecore import version

    content = write.read("sparsecore")
    content["oracles"] = {"jax-tpu-embedding": str(version.__version__)}
    content["scenarios"] = [
        {**write.steps(s), "expected": outputs(s)} for s in content["scenarios"]
    ]
    (write.HERE / "sparsecore.json").write_text(write.text(content), encoding="utf-8")


if __name__ == "__main__":
    main()
