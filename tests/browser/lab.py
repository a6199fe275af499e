"""A lab in a page, in the words of a reader: move a slider, choose from a menu, read what it says."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradlab as gl

WAIT_SECONDS = 90.0  # a busy machine is slow, not wrong
MINUS = str.maketrans("−", "-", ",")  # a page writes −12,346

# FNV-1a over the pixels: to pack and send a picture takes ten times as long.
HASH = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer);
  let hash = 2166136261;
  for (let k = 0; k < pixels.length; k++) hash = Math.imul(hash ^ pixels[k], 16777619);
  return `${canvas.width} ${canvas.height} ${hash}` }"""


def number(text: str) -> float:
    """Read the number that a text of the page begins with."""
    return float(text.split()[0].translate(MINUS))


def until(what: Callable[[], Any], seconds: float = WAIT_SECONDS, saying: str = "") -> Any:
    """Ask again and again, less and less often, until the answer is true; give that answer."""
    end, pause = time.monotonic() + seconds, 0.02
    while not (answer := what()):
        if time.monotonic() > end:
            raise AssertionError(f"still not so after {seconds:g} s: {saying or what}")
        time.sleep(pause)
        pause = min(1.5 * pause, 0.3)
    return answer


# To find an element by its role and name, the names of all others are worked out; a mark is found
# at once.
MARK = """(node) => node.dataset.mark ??= String(window.marks = (window.marks ?? 0) + 1)"""


def marked(found: Any) -> Any:
    """The same element, from now on found by a mark."""
    return found.page.locator(f"[data-mark='{found.evaluate(MARK)}']")


class Lab:
    """A lab in the page, and the object behind it in the kernel, which is the last output with this
    label.
    """

    def __init__(self, notebook: Any, label: str, group: Any) -> None:
        self.notebook, self.label, self.group = notebook, label, marked(group)
        self.object = f"[x for x in Out.values() if getattr(x, 'label', None) == {label!r}][-1]"
        self.canvas = self.group.locator("canvas").first
        self._sliders: dict[str, Slider] = {}
        self.canvas.wait_for()
        try:
            until(lambda: self.readout() and self.frame() >= 0, saying="the first picture is there")
        except AssertionError as error:
            error.add_note(
                f"{label} is {self.group.evaluate('(root) => root.outerHTML')[:2000]}; "
                f"{notebook.troubles}"
            )
            raise

    def slider(self, label: str) -> Slider:
        """Find a slider by its label, under "More", too."""
        if label not in self._sliders:
            self.unfold()
            handle = self.group.get_by_role("slider", name=label, exact=True)
            # The lab is there already, so a slider that is not has no name.
            handle.wait_for(timeout=10_000)
            self._sliders[label] = Slider(self, marked(handle))
        return self._sliders[label]

    def unfold(self) -> None:
        """Open what the lab has under "More"."""
        self.group.locator("details.gl-more").evaluate_all(
            "(all) => all.forEach((one) => { one.open = true })"
        )

    def params(self) -> dict[str, Any]:
        """Give the values of all controls as the kernel has them."""
        params: dict[str, Any] = self.notebook.evaluate(f"{self.object}.params")
        return params

    def agrees(self, **sliders: str) -> bool:
        """Tell whether kernel, sliders (name="Label") and text say the same, and nothing is on its
        way.
        """
        both = f"(lambda lab: [lab.params, lab.description.summary])({self.object})"
        params, summary = self.notebook.evaluate(
            both
        )  # at once: the page is asked, too, whenever the kernel is
        shown = all(params[name] == self.slider(label).value() for name, label in sliders.items())
        return shown and bool(self.readout() == summary)

    def reset(self, target: str | None = None, **params: Any) -> Lab:
        """Back to the defaults, or to other params, with nothing selected; wait until page and
        kernel agree.

        A target takes the place of the lab's own.
        """
        steps = [
            "setattr(lab.live, 'selected', None)",
            f"lab.set(**{{**type(lab)().params, **{params!r}}})",
        ]
        if target:
            steps += [f"setattr(lab, 'target', {target!r})", "lab.live.refresh()"]
        self.notebook.evaluate(f"(lambda lab: [{', '.join(steps)}])({self.object})")
        until(self.is_settled, saying=f"{self.label}: kernel, slider and text agree")
        return self

    def is_settled(self) -> bool:
        """Tell whether kernel, text, and the slider of the lab's axis say the same."""
        return self.agrees(**dict([axis(self.label)]))

    def readout(self) -> str:
        """Give the sentence above the picture, wherever the page is scrolled to."""
        text: str = self.group.locator(".gl-readout").text_content()
        return text

    def aside(self) -> str:
        """Give the note and the item that is selected, under the picture."""
        text: str = self.group.locator(".gl-aside").text_content()
        return text

    def alt(self) -> str:
        """Give what a screen reader says for the picture."""
        return self.canvas.get_attribute("aria-label") or ""

    def frame(self) -> int:
        """Give the number of the frame that is painted, -1 before the first."""
        return int(self.group.get_attribute("data-frame") or -1)

    def pixels(self) -> str:
        """Give a hash of what is painted on the canvas."""
        found: str = self.canvas.evaluate(HASH)
        return found

    def background(self) -> tuple[int, ...]:
        """Give the color (0 to 255: red, green, blue) of the picture's corner."""
        from PIL import Image

        shot = self.group.locator(".gl-picture").screenshot()
        return tuple(np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"))[3, 3].tolist())

    def menu(self, label: str) -> Any:
        """Find a menu by its label, under "More", too."""
        self.unfold()
        return self.group.get_by_role("combobox", name=label, exact=True)

    def click(self, button: str) -> None:
        """Click a button: a preset, a player's, or the lab's own."""
        self.group.get_by_role("button", name=button, exact=True).click()

    def goal(self) -> str:
        """Give what is said about the target."""
        text: str = self.group.locator(".gl-goal").text_content()
        return text

    def box(self, part: Any) -> dict[str, float]:
        """Where a part of the lab is in the window, once what is above it in the page has stopped
        growing.
        """
        seen: list[dict[str, float]] = []

        def settled() -> bool:
            part.scroll_into_view_if_needed()
            self.notebook.page.wait_for_timeout(100)
            seen.append(part.bounding_box())
            return len(seen) > 3 and all(box == seen[-1] for box in seen[-3:])

        until(settled, saying="it stays where it is")
        return seen[-1]

    def screenshot(self, folder: str | Path | None, name: str) -> None:
        """Save the lab as the reader sees it, if somebody wants to look."""
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.group.screenshot(path=Path(folder) / f"{name}.png")


class Slider:
    """A slider in the page; its value is the number it says aloud, in data units."""

    def __init__(self, lab: Lab, handle: Any) -> None:
        self.lab, self.handle = lab, handle

    def value(self) -> float:
        """Give the number that the slider shows."""
        return number(self.handle.get_attribute("aria-valuetext"))

    def position(self) -> int:
        """Give the place of the handle, 0 at the left."""
        return int(self.handle.input_value())

    def last(self) -> int:
        """Give the place of the handle at the right end."""
        return int(self.handle.get_attribute("max"))

    def press(self, key: str, times: int = 1) -> None:
        """Press a key on the focused slider."""
        self.handle.focus()
        for _ in range(times):
            self.handle.press(key)

    def drag(self, to: float, steps: int = 20) -> None:
        """Take the handle with the mouse and move it to a part (0 to 1) of the track."""
        box, page = self.lab.box(self.handle), self.lab.notebook.page
        thumb = self.handle.evaluate(
            "(node) => parseFloat(getComputedStyle(node).getPropertyValue('--gl-thumb'))"
        )
        middle, start = box["y"] + box["height"] / 2, self.position() / self.last()
        page.mouse.move(_track(box, thumb, start), middle)
        page.mouse.down()
        page.mouse.move(_track(box, thumb, to), middle, steps=steps)
        page.mouse.up()


def _track(box: dict[str, float], thumb: float, part: float) -> float:
    """The middle of the thumb never reaches the ends of the box."""
    return box["x"] + thumb / 2 + part * (box["width"] - thumb)


@cache
def axis(label: str) -> tuple[str, str]:
    """The control that moves a lab's picture along: its name, and what its slider is called."""
    lab = next(make for make in gl.labs.catalog().values() if make().label == label)()
    return next((one.name, one.label) for one in lab.controls if one.name == lab.axis)
