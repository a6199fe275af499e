"""Batches for SparseCores, drawn: tables, features, cores, limits, stacking, dropping, minibatches, small buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.build import Json

COUNT, SEED = 16, 21  # small, with something of everything


def scenarios(count: int = COUNT, seed: int = SEED) -> list[Json]:
    """Scenario k is drawn from `default_rng([seed, k])`."""
    return [scenario(seed, k) for k in range(count)]


def scenario(seed: int, k: int) -> Json:
    rng = np.random.default_rng([seed, k])
    tables = [_table(rng, name) for name in "ab"[: int(rng.integers(1, 3))]]
    devices, per_device = ((1, 2), (1, 4), (2, 2), (2, 4), (4, 2), (4, 4))[int(rng.integers(6))]
    of = [tables[int(rng.integers(len(tables)))] for _ in range(int(rng.integers(0, 3)))]
    features = [_feature(rng, f"f{n}", t, devices * per_device) for n, t in enumerate([*tables, *of])]
    for f in features if rng.random() < 0.5 else []:  # all features have weights, or none has
        f["weights"] = [rng.integers(1, 16, len(x)).astype(float).tolist() for x in f["ids"]]
    as_found = bool(rng.random() < 0.2)  # ids below 0 and beyond the last row
    for f in features if as_found else []:
        f["ids"] = [rng.integers(-20, 120, len(x)).tolist() for x in f["ids"]]
    minibatching, small = bool(rng.random() < 0.4) and not as_found, bool(rng.random() < 0.7)
    asked = {"limits": [int(rng.integers(2, 9)), int(rng.integers(2, 6))] if small else [64, 64]}
    asked |= {
        "allow_id_dropping": small,
        "minibatching": minibatching,
        "stacking": bool(rng.random() < 0.6),
        "as_found": as_found,
    }
    if not minibatching and rng.random() < 0.3:
        asked["buffer_size"] = 16 * per_device
        asked["allow_id_dropping"] = True
    return {"id": f"sparsecore.drawn.{seed}.{k}", "group": "sparsecore_drawn", "cores": devices, "per_core": per_device,
            "tables": tables, "features": features, **asked}  # fmt: skip


def _table(rng: np.random.Generator, name: str) -> Json:
    combiner = str(rng.choice(["sum", "mean", "sqrtn"]))
    return {"name": name, "rows": int(rng.integers(5, 90)), "width": 8, "combiner": combiner}


def _feature(rng: np.random.Generator, name: str, table: Json, shards: int) -> Json:
    samples, most = shards * int(rng.integers(1, 3)), int(rng.integers(2, 7))
    hot = max(1, int(table["rows"] * rng.choice([0.1, 0.5, 1.0])))
    ids: list[Any] = [rng.integers(0, hot, int(rng.integers(1, most))).tolist() for _ in range(samples)]
    return {"name": name, "table": table["name"], "ids": ids, "weights": None}


def partitions(pointers: list[int], ids: Any, samples: Any, gains: Any, how: Json, minibatches: int) -> Json:
    """The lookups of one device by number of the partition: [ids, samples, gains] of each that has any.

    Partitions count through all minibatches and SparseCores. Read by loops of plain Python, so that it has nothing in
    common with what it checks.
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
