"""The picture as plain HTML, for readers without a running kernel."""

from __future__ import annotations

import io
from base64 import b64encode
from html import escape

from .words import Description


def figure_html(png: bytes, description: Description, label: str) -> str:
    """Give a `<figure>` with the picture, its alternative text, the read-out and the values as a table.

    >>> from matplotlib.figure import Figure
    >>> Figure(figsize=(1, 1)).savefig(png := io.BytesIO())
    >>> html = figure_html(png.getvalue(), Description("a < b", "short", (("norm", "2"),)), "Norms")
    >>> 'alt="a &lt; b"' in html, "<td>2</td>" in html
    (True, True)
    """
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in description.table
    )
    values = f"<details><summary>Values</summary><table>{rows}</table></details>" if rows else ""
    return (
        f'<figure role="group" aria-label="{escape(label)}" style="margin:0">'
        f'<img alt="{escape(description.alt)}" style="max-width:100%;height:auto" '
        f'src="data:image/png;base64,{b64encode(_small(png)).decode()}">'
        f"<figcaption>{escape(description.summary)}</figcaption>{values}</figure>"
    )


def _small(png: bytes) -> bytes:
    """The picture in 256 colours, which nobody can tell from all of them, in less than half the bytes."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    buffer = io.BytesIO()
    picture.quantize(256, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
