"""Recordings that a report may meet, and a page read back."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import gradlab as gl

SHAPES = {"layer0/kernel": (8, 4), "layer0/bias": (4,), "layer1/kernel": (4, 2)}

Recorded = Callable[..., gl.Recorder]


@pytest.fixture(scope="session")
def recorded() -> Recorded:
    """Record so many steps with gradients of 1, 2, ..., as `change(step, gradients)` leaves them."""

    def record(
        steps: int = 20,
        change: Any = None,
        loss: bool = True,
        shapes: Any = SHAPES,
        rows: int = 1000,
        entries: int = 512,
    ) -> gl.Recorder:
        rec = gl.Recorder(rows, entries=entries)
        for step in range(steps):
            grads = {name: np.full(shape, step + 1, np.float32) for name, shape in shapes.items()}
            rec.record(
                change(step, grads) if change else grads,
                **({"loss": 2.0 / (step + 1)} if loss else {}),
            )
        return rec

    return record


class Page(HTMLParser):
    """What is in a page: ids, alternative texts of pictures, addresses, and rows of tables by
    caption.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.pictures: list[str] = []
        self.addresses: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._cell = False
        self._label = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.addresses += [
            attributes[name] for name in ("src", "href", "xlink:href") if name in attributes
        ]
        if attributes.get("role") == "img" or tag == "img":
            self.pictures.append(attributes.get("aria-label") or attributes["alt"])
        self._label = attributes.get("aria-label", self._label)
        if tag == "table":
            self._rows = self.tables[self._label] = []
        if tag == "tr" and self._rows is not None:
            self._rows.append([])
        if tag in ("td", "th") and self._rows is not None:
            self._rows[-1].append("")
        self._cell = tag in ("td", "th")

    def handle_endtag(self, tag: str) -> None:
        self._cell = False
        if tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        if self._cell and self._rows is not None:
            self._rows[-1][-1] += data
