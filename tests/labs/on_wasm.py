"""Every lab along its axis, as numbers and words in one JSON file: what `test_on_wasm.py` runs here
and in WebAssembly.

It imports nothing but gradlab and what gradlab imports, and is a file that any Python can run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

STATES, MOST = 20, 2000  # of a lab's axis; numbers that are kept of a lab


def main(out: Path, pictures: bool) -> None:
    """Write what each lab computes and says; with `pictures`, save it as a PNG, too."""
    import gradlab as gl

    told = {}
    for name, make in gl.labs.catalog().items():
        lab = make()
        if pictures:
            lab.save(out.with_name(f"{name}.png"))
        told[name] = followed(lab)
    out.write_text(json.dumps(told), "utf-8")


def followed(lab: Any) -> dict[str, Any]:
    """Give numbers of the traces and the words of a lab at up to `STATES` places of its axis."""
    control = next((c for c in lab.controls if c.name == lab.axis), None) or next(
        c for c in lab.controls if c.values()
    )
    places = control.values()
    numbers: list[float] = []
    words = []
    for place in places[:: -(-len(places) // STATES)]:
        lab.set(**{control.name: place})
        numbers += flat(lab.compute(lab.params), set())
        words.append(lab.description.summary)
    return {"states": len(words), "numbers": numbers[:: -(-len(numbers) // MOST)], "words": words}


def flat(x: Any, seen: set[int]) -> Iterator[float]:
    """Yield all numbers of a trace, whatever it is made of, each object once."""
    import numpy as np

    if isinstance(x, (bool, int, float, np.number, np.bool_)):
        yield float(x)
    elif isinstance(x, np.ndarray) and x.dtype.names:
        for name in x.dtype.names:
            yield from flat(x[name], seen)
    elif isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        yield from x.ravel().astype(float).tolist()
    elif id(x) not in seen and (
        isinstance(x, (list, tuple, Mapping)) or type(x).__module__.startswith("gradlab")
    ):
        seen.add(id(x))
        inside = (
            x
            if isinstance(x, (list, tuple))
            else (x if isinstance(x, Mapping) else vars(x)).values()
        )
        for one in inside:
            yield from flat(one, seen)


if __name__ == "__main__":
    sys.modules["jax"] = None  # type: ignore[assignment] # which no browser has
    main(Path(sys.argv[1]), "--pictures" in sys.argv)
