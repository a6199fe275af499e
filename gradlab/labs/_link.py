"""The state of a lab as text: one line of Python, or the end of a link.

A link ends in `#gl=1&lab=NAME&control=value&...`; 1 is the version of this format. The browser reads and writes the
same (`live/web/link.js`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from .._base import addresses, notebooks
from ..live import Button
from ..live.controls import by_name

if TYPE_CHECKING:
    from ._lab import Lab

VERSION = "1"
MOST = 300  # characters that survive every chat and every course page


def code(lab: Lab) -> str:
    """The state as one line of Python; controls at their defaults are left out."""
    defaults = {c.name: c.value for c in lab.make_controls() if not isinstance(c, Button)}
    moved = [f"{name}={value!r}" for name, value in lab.params.items() if value != defaults[name]]
    target = [f"target={lab.target!r}"] * (lab.target is not None)
    return f"{named(lab)}({', '.join([lab.source] * bool(lab.source) + moved + target)})"


def named(lab: Lab) -> str:
    """How Python code calls the lab."""
    home = "gl.labs." if type(lab).__module__.startswith("gradlab.labs.") else ""
    return f"{home}{type(lab).__name__}"


def write(lab: Lab) -> str:
    """The state as the end of a link; ValueError if it is too long for one."""
    controls = by_name(lab.controls)
    values = [(name, controls[name].write(value)) for name, value in lab.params.items()]  # type: ignore[union-attr]
    text = "#" + urlencode([("gl", VERSION), ("lab", type(lab).__name__), *values], safe="~")
    if len(text) > MOST:
        raise ValueError(f"this state needs {len(text)} characters, a link may have {MOST}; use code() instead")
    return text


def write_launch(lab: Lab) -> str:
    """The address that opens a notebook with this lab on Binder, at its state; ValueError if no notebook has it."""
    name = type(lab).__name__
    if not (found := notebooks.holding(name)):
        raise ValueError(f"no notebook of gradlab's shows {name}, so Binder has no page for it; link() gives its state")
    return addresses.on_binder(found[0], write(lab))


def read(text: str) -> tuple[str, dict[str, str]]:
    """The name of the lab in a link and its settings, still as text.

    Raises:
        ValueError: not such a link, or one of another version.

    >>> read("https://example.org/lab/tree/02_clipping.ipynb#gl=1&lab=clipping&limit=0.3")
    ('clipping', {'limit': '0.3'})
    """
    pairs = dict(parse_qsl(text.partition("#")[2], keep_blank_values=True))
    if "gl" not in pairs or "lab" not in pairs:
        raise ValueError(f"a link to a lab ends in #gl={VERSION}&lab=NAME&..., got {text!r}")
    if pairs.pop("gl") != VERSION:
        raise ValueError(f"this link was made by another version of gradlab; this one reads #gl={VERSION}&...")
    return pairs.pop("lab"), pairs


def opened(lab: type[Lab], settings: dict[str, str]) -> Lab:
    """The lab at these settings; ValueError names the ones it does not have."""
    fresh: Any = lab()
    controls = {c.name: c for c in fresh.controls if not isinstance(c, Button)}
    unknown = [name for name in settings if name not in controls]
    if unknown:
        raise ValueError(
            f"the link names {', '.join(map(repr, unknown))}, which {lab.__name__} does not have; "
            f"its settings are {', '.join(controls)}"
        )
    fresh.set(**{name: controls[name].read(value) for name, value in settings.items()})
    return fresh
