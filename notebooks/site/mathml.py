"""Formulas as MathML, which every browser sets by itself: no script, no font and no other host."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
