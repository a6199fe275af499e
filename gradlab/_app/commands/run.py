"""`gradlab run NAME`: compute one lab without a browser, print what it shows, save it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base.notebooks import UsageError
from . import _settings

if TYPE_CHECKING:
    from ...labs import Lab


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    run = commands.add_parser("run", help="compute one lab and print what it shows")
    run.add_argument("name", metavar="NAME", help="a lab, as `gradlab list` shows it")
    run.add_argument("--link", metavar="LINK", help="start where a copied link does: it ends in #gl=1&lab=...")
    run.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="move a control")
    kinds = "a picture (.png .svg .pdf), numbers (.csv), a page that needs no kernel (.html) or a film (.gif .mp4)"
    run.add_argument("--save", type=Path, metavar="FILE", help=f"write {kinds}")
    run.set_defaults(act=_run)


def _run(options: argparse.Namespace) -> None:
    lab = _opened(options.name, options.link)
    values = dict(_settings.read(text, _settings.settable(lab)) for text in options.settings)
    if values:
        lab.set(**values)
    if options.save:
        try:
            lab.save(options.save)
        except (ValueError, OSError, ImportError) as error:
            raise UsageError(f"cannot write {options.save}: {error}") from error
    _print(lab.description)
    if options.save:
        print(f"wrote {options.save}")


def _opened(name: str, link: str | None) -> Lab:
    """The lab of this name, where the link left it."""
    labs = _settings.catalog()
    if name not in labs:
        raise UsageError(f"unknown lab {name!r}: the labs are {', '.join(labs)}")
    if link is None:
        return labs[name]()
    from ...labs import from_link

    try:
        lab = from_link(link)
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    if type(lab) is not labs[name]:
        raise UsageError(f"the link shows {type(lab).__name__}, not {name}")
    return lab


def _print(description: Any) -> None:
    print(description.alt)
    print(description.summary)
    _print_table(description.table)


def _print_table(rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(f"  {name:{width}}  {value}")
