"""The description of a picture: its state in words, the marks that can be pointed at, and both as plain HTML."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Items:
    """Things that several panels show: pointing at one marks it in all of them.

    Args:
        name: what one of them is called, "step".
        places: for each Axes the data coordinates (x, y) of every item; NaN where the Axes does not
            show it.
        values: columns of numbers for the tooltip, by label.
        names: what each of them is called; by default its number, "step 4".

    Raises:
        ValueError: columns of different lengths.

    >>> len(Items("step", {}, {"norm": [3.0, 4.0]}))
    2
    """

    name: str
    places: Mapping[Any, tuple[Any, Any]]
    values: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        lengths = {np.size(column) for pair in self.places.values() for column in pair}
        lengths |= {np.size(column) for column in self.values.values()} | (
            {len(self.names)} if self.names else set()
        )
        if len(lengths) > 1:
            raise ValueError(
                "the columns of items must have one length, got "
                f"{', '.join(map(str, sorted(lengths)))}"
            )

    def __len__(self) -> int:
        columns = [*self.values.values(), *(x for x, _ in self.places.values())]
        return int(np.size(columns[0])) if columns else 0


@dataclass(frozen=True)
class Description:
    """The current state in words, for readers who do not see the picture and for those who do.

    Args:
        alt: one sentence that states the key number.
        summary: one sentence with the number that matters, shown above the picture; it changes with
            every control.
        table: rows of (name, value).
        goal: what to aim for, and how far away it is.
        items: what can be pointed at.
        met: whether the goal is reached.
        idle: names of the controls that change nothing in this state; nobody can move them.

    >>> Description("The norm is 2.", "norm 2", (("norm", "2"),)).summary
    'norm 2'
    """

    alt: str
    summary: str
    table: tuple[tuple[str, str], ...] = ()
    goal: str = ""
    items: Items | None = field(default=None, repr=False, compare=False)
    met: bool = False
    idle: tuple[str, ...] = ()

    def words(self) -> dict[str, Any]:
        """The texts, as the browser reads them."""
        return {
            "alt": self.alt,
            "summary": self.summary,
            "table": self.table,
            "goal": self.goal,
            "met": self.met,
            "idle": self.idle,
        }


def figure_html(pixels: np.ndarray, description: Description, label: str) -> str:
    """Give a `<figure>` with the picture, its alternative text, the sentence and the values as a table.

    Args:
        pixels: the picture (h, w, 3 or more), red, green and blue from 0 to 255.

    >>> html = figure_html(np.zeros((2, 3, 3), np.uint8), Description("a < b", "short", (("norm", "2"),)), "Norms")
    >>> 'alt="a &lt; b"' in html, "<td>2</td>" in html
    (True, True)
    """
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in description.table
    )
    values = f"<details><summary>Values</summary><table>{rows}</table></details>" if rows else ""
    return (
        f'<figure role="group" aria-label="{escape(label)}" style="margin:0">'
        f'<img alt="{escape(description.alt)}" style="max-width:100%;height:auto" '
        f'src="data:image/png;base64,{b64encode(_png(pixels)).decode()}">'
        f"<figcaption>{escape(description.summary)}</figcaption>{values}</figure>"
    )


def _png(pixels: np.ndarray) -> bytes:
    few_colors(pixels).save(buffer := io.BytesIO(), "PNG")
    return buffer.getvalue()


def few_colors(pixels: np.ndarray) -> Any:
    """Give the picture in 256 colors, which nobody can tell from all of them, for about half the bytes.

    An octree takes a sixth of the time of Pillow's own choice of colors, for which a notebook's
    first picture waits.
    """
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels[..., :3]))
    few = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colors, page = few.getpalette() or [], 3 * int(np.asarray(few)[0, 0])
    colors[page : page + 3] = pixels[0, 0, :3].tolist()  # as white as the page around it
    few.putpalette(colors)
    return few


def thumbnail(png: bytes, size: tuple[int, int]) -> str:
    """Give a picture in few bytes and at most in this width and height, as an address that holds it.

    >>> thumbnail(_png(np.zeros((20, 30, 3), np.uint8)), (6, 6))[:11]
    'data:image/'
    """
    from PIL import Image, features

    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.thumbnail(size, Image.Resampling.LANCZOS)
    kind, how = ("webp", {"quality": 75}) if features.check("webp") else ("png", {"optimize": True})
    image.save(buffer := io.BytesIO(), kind, **how)
    return f"data:image/{kind};base64,{b64encode(buffer.getvalue()).decode()}"
