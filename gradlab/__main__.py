"""The `gradlab` command: open the notebooks, list the labs, run one without a browser."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, _jupyter
from ._jupyter import UsageError

if TYPE_CHECKING:
    from .labs import Lab


LONG = 10  # options of a menu that are listed once


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 2 for a command that cannot be carried out."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # argparse has no word for "hand the rest to somebody else"; what follows -- belongs to JupyterLab.
    ours, theirs = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    options = _parser().parse_args(ours)
    try:
        if theirs and options.command != "lab":
            raise UsageError(f"arguments after -- go to JupyterLab, so only `gradlab lab` takes them, got {theirs[0]}")
        options.act(options, theirs)
        sys.stdout.flush()
    except UsageError as error:
        print(f"gradlab: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gradlab", description="See what happens to a gradient before it is applied.")
    parser.add_argument("--version", action="version", version=f"gradlab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    lab = commands.add_parser("lab", help="open the notebooks in JupyterLab", epilog="What follows -- goes to Jupyter.")
    where = f"copy the notebooks there first (default: {_jupyter.DEFAULT_FOLDER}; a checkout is used in place)"
    lab.add_argument("folder", nargs="?", type=Path, metavar="DIR", help=where)
    lab.set_defaults(act=_lab)

    commands.add_parser("list", help="show labs, their controls, and notebooks").set_defaults(act=_list)

    run = commands.add_parser("run", help="compute one lab and print what it shows")
    run.add_argument("name", metavar="NAME", help="a lab, as `gradlab list` shows it")
    run.add_argument("--link", metavar="LINK", help="start where a copied link does: it ends in #gl=1&lab=...")
    run.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="move a control")
    kinds = "a picture (.png .svg .pdf), numbers (.csv), a page that needs no kernel (.html) or a film (.gif .mp4)"
    run.add_argument("--save", type=Path, metavar="FILE", help=f"write {kinds}")
    run.set_defaults(act=_run)
    return parser


def _lab(options: argparse.Namespace, extra: Sequence[str]) -> None:
    folder, said = _jupyter.folder_to_open(options.folder)
    for line in said:
        print(line, flush=True)
    _jupyter.open_lab(folder, extra)


def _list(_options: argparse.Namespace, _extra: Sequence[str]) -> None:
    print("Labs (gradlab run NAME --set KEY=VALUE):")
    for name, make in _catalogue().items():
        print(f"  {name}: {_first_line(make)}")
        lab = make()
        controls = _settable(lab)
        width = max(map(len, controls), default=0)
        for key, control in controls.items():
            print(f"      {key:{width}}  {_as_before(control, controls) or _range(control)}")
        if lab.presets:
            print(f"      presets, one press in a notebook: {'; '.join(lab.presets)}")
    print("Notebooks (gradlab lab):")
    for name, title in _jupyter.titles():
        print(f"  {name}: {title}")


def _run(options: argparse.Namespace, _extra: Sequence[str]) -> None:
    lab = _opened(options.name, options.link)
    values = dict(_setting(text, _settable(lab)) for text in options.settings)
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
    labs = _catalogue()
    if name not in labs:
        raise UsageError(f"unknown lab {name!r}: the labs are {', '.join(labs)}")
    if link is None:
        return labs[name]()
    from .labs import from_link

    try:
        lab = from_link(link)
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    if type(lab) is not labs[name]:
        raise UsageError(f"the link shows {type(lab).__name__}, not {name}")
    return lab


def _catalogue() -> dict[str, type[Lab]]:
    from . import labs

    return labs.catalogue()


def _first_line(make: Any) -> str:
    return (make.__doc__ or "").strip().partition("\n")[0]


def _settable(lab: Any) -> dict[str, Any]:
    """The controls that hold a value; a button only acts in a page."""
    return {control.name: control for control in lab.controls if hasattr(control, "check")}


def _setting(text: str, controls: dict[str, Any]) -> tuple[str, Any]:
    """Read one KEY=VALUE."""
    key, equals, value = text.partition("=")
    allowed = "; ".join(f"{name} ({_range(control)})" for name, control in controls.items())
    if not equals:
        raise UsageError(f"--set takes KEY=VALUE, got {text!r}; the keys are {allowed}")
    if key not in controls:
        raise UsageError(f"unknown key {key!r}: the keys are {allowed}")
    control = controls[key]
    try:
        return key, control.read(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{key} is {_range(control)}; got {value!r}") from error


def _range(control: Any) -> str:
    """What a control takes, as it is written on the command line."""
    kind = control.spec()["kind"]
    if kind == "menu":
        return f"one of {control.listed()}"
    if kind == "toggle":
        return "true or false"
    number = "whole number" if control.scale == "integer" else "number"
    ends = f"{control.minimum:g} to {control.maximum:g}{' ' * bool(control.unit)}{control.unit}"
    if kind == "range":
        return f"two {number}s LOW~HIGH from {ends}"
    return f"a {number} from {ends}" if control.scale == "integer" else ends


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


def _print(description: Any) -> None:
    print(description.alt)
    print(description.summary)
    _print_table(description.table)


def _print_table(rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(f"  {name:{width}}  {value}")


if __name__ == "__main__":
    sys.exit(main())
