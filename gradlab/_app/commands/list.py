"""`gradlab list`: show labs, their controls, and notebooks."""

from __future__ import annotations

import argparse
from typing import Any

from ..._base import notebooks
from . import _settings

LONG = 10  # options of a menu that are listed once


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    commands.add_parser("list", help="show labs, their controls, and notebooks").set_defaults(act=_list)


def _list(_options: argparse.Namespace) -> None:
    print("Labs (gradlab run NAME --set KEY=VALUE):")
    for name, make in _settings.catalog().items():
        print(f"  {name}: {make.about()}")
        lab = make()
        controls = _settings.settable(lab)
        width = max(map(len, controls), default=0)
        for key, control in controls.items():
            print(f"      {key:{width}}  {_as_before(control, controls) or _settings.taken(control)}")
        if lab.presets:
            print(f"      presets, one press in a notebook: {'; '.join(lab.presets)}")
    print("Notebooks (gradlab lab):")
    for name, title in notebooks.titles():
        print(f"  {name}: {title}")


def _as_before(control: Any, controls: dict[str, Any]) -> str:
    """What a menu with a long list takes, by the name of the first one with the same list; empty if there is none."""
    if control.spec()["kind"] != "menu" or len(values := control.values()) < LONG:
        return ""
    for name, other in controls.items():
        if other is control:
            break
        if other.spec()["kind"] == "menu" and len(known := other.values()) >= LONG and set(known) <= set(values):
            more = [str(value) for value in values if value not in known]
            return f"one of {', '.join([*more, ''])}or as {name}" if more else f"as {name}"
    return ""
