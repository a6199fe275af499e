"""A page for each lab: what it is for, what one sees at a glance, the lab itself, and where the course uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import gradlab as gl
from gradlab.labs import Lab, about, glance

from .pages import Notebook, lab_figure
from .shown import Shown

_INDEX = """\
# Labs

Each is a figure that answers while you drag. Here labs move without a kernel, as far as a page can hold their states;
in a notebook every value can be had.

{rows}

```{{toctree}}
:hidden:

{tree}
```
"""
_PAGE = """\
---
picture: {picture}
---
# {title}

**{glance}**

{about}

{figure}

In the course: [{notebook}](../{page}.md). In a notebook of your own: `gl.labs.{name}()`; its controls are its
arguments, see the [reference](../api/gradlab.labs.rst).
"""


Shows = Mapping[Notebook, list[Shown]]  # the labs that each notebook shows
Addresses = Mapping[Notebook, Mapping[int, str]]  # of the pages on which they move, by cells


def pages(shows: Shows, addresses: Addresses) -> Iterator[tuple[str, str]]:
    """Yield the pages as (name, Markdown), their index first. Each lab is as the course shows it first."""
    catalog = gl.labs.catalog()
    rows = "\n".join(f"- [{make().label}]({name}.md): {glance(make)}" for name, make in catalog.items())
    yield "index", _INDEX.format(rows=rows, tree="\n".join(catalog))
    for name, make in catalog.items():
        yield name, _page(name, make, shows, addresses)


def _page(name: str, make: Callable[[], Lab], shows: Shows, addresses: Addresses) -> str:
    label = make().label
    begins = f"{label}: "
    notebook, shown = next((n, one) for n, found in shows.items() for one in found if one.said.startswith(begins))
    address = addresses[notebook].get(shown.cell)
    figure = lab_figure(notebook.cells[shown.cell], address and f"../{address}")
    return _PAGE.format(
        title=label, glance=glance(make), about=about(make), name=name, figure=figure,
        notebook=notebook.title, page=notebook.name, picture=f"cards/{notebook.name}.png",
    )  # fmt: skip
