"""Record what the originals give for the project's scenarios, or check that they still give it.

    python -m tests.golden.write            run every scenario and write its outputs into its file
    python -m tests.golden.write --check    compare without writing; exit status 1 and the differences if any

A golden file is plain data, one scenario a line: what is done (`calls`, one step each), and under
`expected` what TensorFlow gave for each step. `tests/golden/README.md` has the format. To add a
scenario, write its line without `expected` and run this; `tests/conformance` plays the same lines
on gradlab.

Needs the group `oracle` (tensorflow-cpu). The installed version is the only oracle, its outputs
stand under `tf<version>`. Outcomes of races (`nondeterministic`) are not compared by `--check`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from tests.golden import accumulator_oracle, keras_oracle, oracle, replica_oracle, sync_oracle
from tests.golden.tensorflow_values import Json, tensorflow

HERE = Path(__file__).parent
# What plays the scenarios of a file on TensorFlow: the outputs of a scenario, one for each of its
# calls.
PLAYERS: dict[str, Callable[[Json], list[Json]]] = {
    "clip": oracle.outputs,
    "ops": oracle.outputs,
    "train": oracle.outputs,
    "v1": oracle.outputs,
    "keras": keras_oracle.outputs,
    "replicas": replica_oracle.outputs,
    "accumulators": accumulator_oracle.outputs,
    "sync": sync_oracle.outputs,
}


def read(topic: str, directory: Path = HERE) -> Json:
    """The content of a golden file."""
    return json.loads((directory / f"{topic}.json").read_text(encoding="utf-8"))


def record(topic: str, scenarios: Iterable[Json]) -> Json:
    """The content of a golden file with these scenarios, whose outputs are recorded now."""
    version = tensorflow().__version__
    key = f"tf{version}"
    play = PLAYERS[topic]
    recorded = [{**steps(scenario), "expected": {key: play(scenario)}} for scenario in scenarios]
    oracles = {key: f"tensorflow {version}, numpy {np.__version__}, CPU"}
    return {
        "schema": 1,
        "topic": topic,
        "oracles": oracles,
        "scenarios": sorted(recorded, key=lambda s: s["id"]),
    }


def steps(scenario: Json) -> Json:
    """A scenario without what was recorded."""
    return {key: value for key, value in scenario.items() if key != "expected"}


def text(content: Json) -> str:
    """One scenario per line, so that a diff names the scenario."""
    head = {k: v for k, v in content.items() if k != "scenarios"}
    lines = ",\n".join(_compact(s) for s in content["scenarios"])
    return f'{_compact(head)[:-1]},"scenarios":[\n{lines}\n]}}\n'


def _compact(x: object) -> str:
    return json.dumps(x, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def changes(committed: Json, fresh: Json) -> Iterator[str]:
    """Where a golden file and what was recorded now disagree, in words."""
    for old, new in zip(committed["scenarios"], fresh["scenarios"], strict=True):
        if "expected" not in old:
            yield f"{old['id']}: nothing is recorded yet; run python -m tests.golden.write"
            continue
        (was,) = old["expected"].values()
        (now,) = new["expected"].values()
        for k, (call, a, b) in enumerate(zip(new["calls"], was, now, strict=True)):
            verb = call.get("do") or call["op"]
            is_race = new.get("nondeterministic") and verb == "state"
            if a != b and not is_race:
                yield (
                    f"{new['id']} call {k} ({verb}):\n    file {_compact(a)}\n    now  "
                    f"{_compact(b)}"
                )


def check(topics: Iterable[str] = tuple(PLAYERS)) -> int:
    """Return the number of deviations, each of which is printed."""
    deviations = 0
    for topic in topics:
        committed = read(topic)
        fresh = json.loads(text(record(topic, committed["scenarios"])))
        found = list(changes(committed, fresh))
        deviations += len(found)
        (written,) = committed["oracles"]
        (run,) = fresh["oracles"]
        count = len(fresh["scenarios"])
        print(
            f"{topic}.json: {count} scenarios, written by {written}, run "
            f"by {run}, {len(found)} differ"
        )
        print("".join(f"  {line}\n" for line in found), end="")
    return deviations


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.write", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the files, write nothing"
    )
    options = parser.parse_args(arguments)
    if options.check:
        return 1 if check() else 0
    for topic in PLAYERS:
        content = record(topic, read(topic)["scenarios"])
        path = HERE / f"{topic}.json"
        path.write_text(text(content), encoding="utf-8")
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
