"""The README's moving picture: a lab with its slider in Chromium, moved to and fro.

python -m tests.browser.film                 notebooks/pictures/clipping.gif, as the README shows it
python -m tests.browser.film FILE.gif LAB    any lab, along its axis
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

import gradlab as gl
from tests.browser import server
from tests.browser.lab import until

README = server.CHECKOUT / "notebooks" / "pictures" / "clipping.gif"
STEPS, SECONDS = 24, 0.12  # pictures each way, time of each
WIDTH, COLORS = 800, 48


def shots(page: Any, control: str) -> list[Image.Image]:
    """Return what the page shows while its axis is moved from one end to the other."""
    lab = page.locator(".gl-live")
    slider = lab.get_by_role("slider", name=control, exact=True)
    last = int(slider.get_attribute("max"))
    found = []
    for k in range(STEPS):
        slider.evaluate(
            "(it, at) => { it.value = at; it.dispatchEvent(new "
            "Event('input', { bubbles: true })) }",
            round(k * last / (STEPS - 1)),
        )
        page.wait_for_timeout(150)  # the picture is on its way
        found.append(Image.open(io.BytesIO(lab.screenshot())).convert("RGB"))
    return found


def gif(pictures: Sequence[Image.Image], path: Path) -> None:
    """Write a film that goes there and back, over and over, in the colors of its first picture."""
    height = round(WIDTH * pictures[0].height / pictures[0].width)
    small = [picture.resize((WIDTH, height), Image.Resampling.LANCZOS) for picture in pictures]
    palette = small[len(small) // 2].quantize(COLORS, method=Image.Quantize.MEDIANCUT)
    there = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in small]
    first, *others = there + there[-2:0:-1]
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=round(1000 * SECONDS),
        loop=0,
        optimize=True,
    )


def main(arguments: Sequence[str]) -> None:
    """Write the film of a lab."""
    path, name = (Path(arguments[0]), arguments[1]) if arguments else (README, "clipping")
    lab = gl.labs.catalog()[name]()
    if not arguments:
        lab.set(method="norm")  # each tensor alone, so that steps turn
    (control,) = (one.label for one in lab.make_controls() if one.name == lab.axis)
    with tempfile.TemporaryDirectory() as folder, server.chromium() as browser:
        lab.save(Path(folder) / "lab.html")
        page = browser.new_page(viewport={"width": 1040, "height": 800}, device_scale_factor=1)
        page.goto((Path(folder) / "lab.html").as_uri())
        until(
            lambda: page.locator(".gl-live").get_attribute("data-frame"), saying="the lab is there"
        )
        gif(shots(page, control), path)
    print(f"wrote {path}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
