"""One notebook of one cell for each contestant, opened in a real JupyterLab and Chromium."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.benchmarks.contestants import Contestant
from tests.benchmarks.table import Row
from tests.browser import server
from tests.browser.pages import Notebook

WATCH = Path(__file__).with_name("watch.js")

Opener = Callable[[], AbstractContextManager[Notebook]]
T = TypeVar("T")


def each(
    what: str,
    contestants: Sequence[Contestant],
    once: Callable[[str, Opener], T],
    row: Callable[[str, list[T]], Row],
    rounds: int = 1,
) -> Iterator[Row]:
    """A row for each contestant that is installed; the ones that are not are named.

    `once(name, opener)` measures; contestants take turns, so that whatever disturbs the machine
    disturbs all of them. `row(name, results)` sums up the rounds of one.
    """
    if reason := server.missing("playwright"):
        yield Row(what, "all", note=f"not measured: {reason}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "notebooks")
        root.mkdir()
        with (
            server.jupyterlab(root, Path(scratch, "jupyter")) as address,
            server.chromium() as browser,
        ):
            openers: dict[str, Opener] = {}
            for number, contestant in enumerate(contestants):
                if missing := [name for name in contestant.needs if not _installed(name)]:
                    yield Row(
                        what, contestant.name, note=f"not measured: {', '.join(missing)} missing"
                    )
                else:
                    openers[contestant.name] = _opener(
                        root / f"{number}.ipynb", contestant, address, browser
                    )
            found: dict[str, list[T]] = {name: [] for name in openers}
            for turn in range(rounds):
                for name, open_it in openers.items():
                    found[name].append(once(name, open_it))
                    if turn == rounds - 1:
                        yield row(name, found[name])


def _opener(path: Path, contestant: Contestant, address: str, browser: Any) -> Opener:
    path.write_text(json.dumps(_notebook(contestant.source)), encoding="utf-8")

    @contextmanager
    def opened() -> Iterator[Notebook]:
        page = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
        page.add_init_script(
            f"document.addEventListener('DOMContentLoaded', () => {{ {WATCH.read_text('utf-8')} }})"
        )
        notebook = Notebook(page, address).open(path.name)
        try:
            yield notebook
        finally:
            notebook.shut_down()
            page.context.close()

    return opened


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def _notebook(source: str) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "id": "it",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [cell]}
