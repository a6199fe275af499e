"""Where gradlab differs from TensorFlow on purpose, said at the tests that hold it, and the page of
the site they make.

`python -m tests.differences` writes the page.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "notebooks" / "site" / "guide" / "differences.md"
Test = TypeVar("Test", bound=Callable[..., Any])

# Where tests are, and the heading of what they hold; the first that fits.
SUBJECTS = {
    "tests/clip": "Clips",
    "tests/schedules": "Schedules",
    "tests/keras": "gl.keras",
    "tests/train/accumulators": "Conditional accumulators",
    "tests/train/sync_replicas": "SyncReplicasOptimizer",
    "tests/train/test_drop_stale": "DropStaleGradientOptimizer",
    "tests/train/test_contrib": "gl.contrib",
    "tests/raw_ops": "gl.raw_ops",
    "tests/tpu": "TPU embeddings",
    "tests/optax": "gl.rules beside optax",
    "tests": "Variables, gradients, and gl.train",
}
HEAD = """\
# Differences from TensorFlow

These are the known differences of behavior. Names that are missing are in [Which of TensorFlow's names are
here](coverage.md). Each row names the test that checks it; `python -m tests.differences` writes this page from the
tests.

By default gradlab raises or warns where TensorFlow continues silently. The column `strict="tf"` says what changes if
you pass this argument, which accumulators, `DropStaleGradientOptimizer`, `gl.gradients`, and the optimizers of
`gl.keras` take; a dash means that nothing does. Differences between TensorFlow's own versions are options
(`semantics`, `mode`). Features that TensorFlow lacks are described in their docstrings. The section about optax lists
rules with the name of another formula there.
"""


def differs(
    what: str, *, tensorflow: str, gradlab: str, strict: str = "-"
) -> Callable[[Test], Test]:
    """Decorate a test that holds a difference: literal strings, since the page is made without
    running tests.

    `strict` is what `strict="tf"` does.
    """
    return lambda test: test


class Difference(NamedTuple):
    """A row of the page."""

    subject: str
    what: str
    tensorflow: str
    gradlab: str
    strict: str
    test: str

    def line(self) -> str:
        return "| " + " | ".join((*self[1:5], f"`{self.test}`")) + " |"


def differences() -> Iterator[Difference]:
    """All of them, in the order of their files."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "@differs(" not in (text := path.read_text("utf-8")):
            continue
        place = path.relative_to(ROOT).as_posix()
        subject = next(name for folder, name in SUBJECTS.items() if place.startswith(folder))
        for test in ast.walk(ast.parse(text)):
            for call in test.decorator_list if isinstance(test, ast.FunctionDef) else ():
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Name)
                    and call.func.id == "differs"
                ):
                    said = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
                    what, strict = ast.literal_eval(call.args[0]), said.get("strict", "-")
                    yield Difference(
                        subject,
                        what,
                        said["tensorflow"],
                        said["gradlab"],
                        strict,
                        f"{place}::{test.name}",
                    )


def page() -> str:
    """The page in Markdown, a table for each subject."""
    found = list(differences())
    tables = [
        (
            f'## {subject}\n\n| what | TensorFlow | gradlab | with `strict="tf"` | test '
            "|\n|---|---|---|---|---|\n"
        )
        + "\n".join(d.line() for d in found if d.subject == subject)
        for subject in sorted({d.subject for d in found}, key=[*SUBJECTS.values()].index)
    ]
    return "\n\n".join([HEAD.rstrip(), *tables]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
