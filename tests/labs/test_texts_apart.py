"""Words of a lab lie on the page and apart, at its presets and at both ends of its controls, on any
page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.transforms import Bbox

import gradlab as gl
from gradlab.live.drawing.style import DARK
from gradlab.live.scene import Scene, moving
from tests.labs.test_arrange import Texts

pytestmark = pytest.mark.exhaustive

# States in which words once lay on one another, or left the page.
COLLIDED = [
    ("descent", {"learning_rate": 2.5}),
    ("clip_arrows", {"limit": 0.05}),
    ("clip_arrows", {"limit": 0.05, "g1": 0.0, "g2": -6.0}),
    ("adagrad", {"start_2": -3.0}),
    ("word_rates", {"learning_rate": 0.1}),
    ("word_rates", {"learning_rate": 1.0}),
    ("word_rates", {"learning_rate": 1.0, "step": 0}),
    ("word_rates", {"learning_rate": 1.0, "step": 0, "initial": 0.01}),
    ("optimizers", {}),
    ("optimizers", {"step": 0}),
    ("optimizers", {"third": "MdlAdagradLight"}),
    ("optimizers", {"heavy": "fourth"}),
    ("optimizers", {"noise": 1.0}),
    ("staleness_policies", {"straggler": 5.0}),
]
OF_ALL = [name for name in gl.labs.catalog() if name not in ("run_adagrad", "run_staleness")]


def ends(lab: Any) -> Iterator[dict[str, Any]]:
    """Where readers may stop: the defaults, the presets, and both ends of every control."""
    yield {}
    yield from lab.presets.values()
    for name, control in lab._valued().items():
        values = control.values()
        yield from ({name: value} for value in (values[0], values[-1]))


class Pages:
    """A lab on a wide page or a narrow one."""

    def __init__(self, name: str, narrow: bool) -> None:
        self.lab = gl.labs.catalog()[name]()
        self._start = self.lab.params
        self.view = self.lab.make_view()
        self.lab.draw(self.view, self.lab.compute(self._start))
        self.scene = Scene(self.view.figure, DARK)
        if narrow:
            self.scene.rearranged(lambda: self.view.arrange(True))

    def texts(self, **values: Any) -> list[tuple[str, Bbox]]:
        """Return what is written at some values of controls, and where."""
        self.lab.draw(self.view, self.lab.compute({**self._start, **values}))
        renderer = Texts(*self.scene._at(self.scene.dpi))
        self.view.figure.draw(renderer)
        for artist in moving(self.view.figure):
            artist.draw(renderer)
        return [(words, box) for (words, *_), box in renderer.boxes.items()]

    def beyond(self, texts: list[tuple[str, Bbox]]) -> list[str]:
        """Return the words that leave the page."""
        width, height = self.scene.size
        return [
            words for words, box in texts if min(box.min) < 0 or box.x1 > width or box.y1 > height
        ]


def overlapping(texts: list[tuple[str, Bbox]]) -> list[tuple[str, str]]:
    """Return the pairs of words that lie on one another by more than a pixel."""
    boxes = [(words, box.padded(-0.5)) for words, box in texts]
    return [
        (words, other)
        for k, (words, box) in enumerate(boxes)
        for other, there in boxes[k + 1 :]
        if box.x0 < there.x1 and there.x0 < box.x1 and box.y0 < there.y1 and there.y0 < box.y1
    ]


@pytest.mark.parametrize(("name", "values"), COLLIDED)
def test_words_that_once_collided_are_apart(name: str, values: dict[str, Any]) -> None:
    for narrow in (False, True):
        page = Pages(name, narrow)
        texts = page.texts(**values)
        assert not overlapping(texts), narrow
        assert not page.beyond(texts), narrow


@pytest.mark.exhaustive
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", OF_ALL)
def test_words_are_apart_at_presets_and_at_both_ends_of_controls(name: str, narrow: bool) -> None:
    page = Pages(name, narrow)
    for values in ends(page.lab):
        texts = page.texts(**values)
        assert not overlapping(texts), values
        assert not page.beyond(texts), values
