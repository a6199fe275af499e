"""Write the project's golden files by running TensorFlow, or check that TensorFlow still gives what they say.

    python -m tests.golden.write [DIR]            write clip.json, train.json ... into DIR (default: tests/golden)
    python -m tests.golden.write --check [DIR]    compare without writing; exit status 1 and the differences if any

Needs the extra `oracle` (tensorflow-cpu). The installed version is the only oracle, its outputs stand under
`tf<version>`. Outcomes of races (`nondeterministic`) are not compared by `--check`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden import (
    accumulator_oracle,
    accumulator_scenarios,
    clip_scenarios,
    keras_oracle,
    keras_scenarios,
    op_scenarios,
    oracle,
    replica_oracle,
    replica_scenarios,
    step_scenarios,
    sync_oracle,
    sync_scenarios,
    train_scenarios,
    v1_scenarios,
)
from tests.golden.build import Json
from tests.golden.tensorflow_values import tensorflow

TOPICS = {
    "clip": clip_scenarios.scenarios,
    "ops": op_scenarios.scenarios,
    "train": lambda: [*train_scenarios.scenarios(), *step_scenarios.scenarios()],
    "v1": v1_scenarios.scenarios,
    "keras": keras_scenarios.scenarios,
    "replicas": replica_scenarios.scenarios,
    "accumulators": accumulator_scenarios.scenarios,
    "sync": sync_scenarios.scenarios,
}
ORACLES = {
    "keras": keras_oracle.outputs,
    "replicas": replica_oracle.outputs,
    "accumulators": accumulator_oracle.outputs,
    "sync": sync_oracle.outputs,
}
# Files in which floats are written once; the two older ones say each as `float.hex` as well.
PLAIN = ("v1", "keras")


def document(topic: str) -> Json:
    """The content of one golden file, computed now."""
    version = tensorflow().__version__
    key = f"tf{version}"
    outputs = ORACLES.get(topic, oracle.outputs)
    found = [{**s, "expected": {key: outputs(s)}} for s in TOPICS[topic]()]
    found = [_without_hex(s) for s in found] if topic in PLAIN else found
    repeated = {s["id"] for s in found if sum(s["id"] == other["id"] for other in found) > 1}
    if repeated:
        raise ValueError(f"scenario ids must be unique, got more than one of {sorted(repeated)}")
    oracles = {key: f"tensorflow {version}, numpy {np.__version__}, CPU"}
    return {"schema": 1, "topic": topic, "oracles": oracles, "scenarios": sorted(found, key=lambda s: s["id"])}


def _without_hex(x: Any) -> Any:
    if isinstance(x, dict):
        return {k: _without_hex(v) for k, v in x.items() if k != "hex"}
    return [_without_hex(v) for v in x] if isinstance(x, list) else x


def text(content: Json) -> str:
    """One scenario per line, so that a diff names the scenario."""
    head = {k: v for k, v in content.items() if k != "scenarios"}
    lines = ",\n".join(_compact(s) for s in content["scenarios"])
    return f'{_compact(head)[:-1]},"scenarios":[\n{lines}\n]}}\n'


def _compact(x: object) -> str:
    return json.dumps(x, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def changes(committed: Json, fresh: Json) -> Iterator[str]:
    """Where the committed file and TensorFlow disagree, in words."""
    old, new = ({s["id"]: s for s in content["scenarios"]} for content in (committed, fresh))
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            yield f"{name}: {'only in the file' if name in old else 'not in the file'}; write the files anew"
            continue
        (was,), (now,) = ((s["expected"].values()) for s in (old[name], new[name]))
        if _asked(old[name]) != _asked(new[name]):
            yield f"{name}: the scenario itself was changed; write the files anew"
            continue
        for k, (call, a, b) in enumerate(zip(new[name]["calls"], was, now, strict=True)):
            verb = call.get("do") or call["op"]
            racing = new[name].get("nondeterministic") and verb == "state"
            if a != b and not racing:
                yield f"{name} call {k} ({verb}):\n    file {_compact(a)}\n    now  {_compact(b)}"


def _asked(scenario: Json) -> Json:
    return {k: v for k, v in scenario.items() if k != "expected"}


def check(directory: Path, topics: Iterable[str] = tuple(TOPICS)) -> int:
    """Number of deviations, each printed."""
    deviations = 0
    for topic in topics:
        fresh, path = json.loads(text(document(topic))), directory / f"{topic}.json"
        committed = json.loads(path.read_text(encoding="utf-8"))
        written, now = (next(iter(content["oracles"])) for content in (committed, fresh))
        found = list(changes(committed, fresh))
        deviations += len(found)
        print(
            f"{path.name}: {len(fresh['scenarios'])} scenarios, written by {written}, run by {now}, {len(found)} differ"
        )
        print("".join(f"  {line}\n" for line in found), end="")
    return deviations


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.write", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", nargs="?", type=Path, default=Path(__file__).parent)
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    options = parser.parse_args(arguments)
    if options.check:
        return 1 if check(options.directory) else 0
    for topic in TOPICS:
        path = options.directory / f"{topic}.json"
        path.write_text(text(document(topic)), encoding="utf-8")
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
