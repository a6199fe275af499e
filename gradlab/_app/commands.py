"""Commands that print, and save, what they compute: `gradlab list`, `gradlab run`,
`gradlab report`.
"""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import unquote, urlsplit

from .._base import notebooks
from .._base.addresses import page_at
from .._base.names import printable
from .._base.notebooks import UsageError
from .._base.suggest import did_you_mean

if TYPE_CHECKING:
    from ..labs import Lab


@dataclass(frozen=True)
class Followed:
    """The target of a link: the name of a lab, its state as `#gl=1&lab=...`, and the file that it
    names, if any.
    """

    lab: str
    state: str
    file: str


def is_link(text: str) -> bool:
    """Tell a link from the name of a lab or a folder."""
    return "gl=" in unquote(page_at(text))


def follow(link: str) -> Followed:
    """Find out where a link leads.

    Raises:
        UsageError: nowhere: an unknown lab or setting, a value that is not allowed.
    """
    from ..labs import from_link

    address, _, state = page_at(link).rpartition("#")
    try:
        lab = from_link(f"#{state}")
        path = urlsplit(address).path
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    return Followed(lab.function, f"#{state}", PurePosixPath(unquote(path)).name)


def catalog() -> dict[str, Callable[..., Lab]]:
    """Return the function of every lab by name; they are loaded only by a command that needs them."""
    from .. import labs

    return labs.catalog()


def settable(lab: Any) -> dict[str, Any]:
    """The controls that hold a value; a button only acts in a page."""
    return {control.name: control for control in lab.controls if hasattr(control, "check")}


def read(text: str, controls: dict[str, Any]) -> tuple[str, Any]:
    """Read one KEY=VALUE.

    Raises:
        UsageError: no such key, or a value that its control does not take.
    """
    key, equals, value = text.partition("=")
    allowed = "; ".join(f"{name} ({taken(control)})" for name, control in controls.items())
    if not equals:
        raise UsageError(f"--set takes KEY=VALUE, got {text!r}; the keys are {allowed}")
    if key not in controls:
        raise UsageError(f"unknown key {key!r}: the keys are {allowed}")
    control = controls[key]
    try:
        return key, control.read(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{key} is {taken(control)}; got {value!r}") from error


def taken(control: Any) -> str:
    """The values that a control takes, as written on the command line."""
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


LONG = 10  # options of a menu that are listed once


def add_list(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    commands.add_parser("list", help="show labs, their controls, and notebooks").set_defaults(
        act=_list
    )


def _list(_options: argparse.Namespace) -> None:
    from ..labs import about

    print("Labs (gradlab run NAME --set KEY=VALUE):")
    for name, make in catalog().items():
        print(f"  {name}: {about(make)}")
        lab = make()
        controls = settable(lab)
        width = max(map(len, controls), default=0)
        for key, control in controls.items():
            print(f"      {key:{width}}  {_as_before(control, controls) or taken(control)}")
        if lab.presets:
            print(f"      presets, one press in a notebook: {'; '.join(lab.presets)}")
    print("Notebooks (gradlab lab):")
    for name, title in notebooks.titles():
        print(f"  {name}: {title}")


def _as_before(control: Any, controls: dict[str, Any]) -> str:
    """The name of the first menu with the same long list of values; empty if there is none."""
    if control.spec()["kind"] != "menu" or len(values := control.values()) < LONG:
        return ""
    for name, other in controls.items():
        if other is control:
            break
        if (
            other.spec()["kind"] == "menu"
            and len(known := other.values()) >= LONG
            and set(known) <= set(values)
        ):
            more = [str(value) for value in values if value not in known]
            return f"one of {', '.join([*more, ''])}or as {name}" if more else f"as {name}"
    return ""


def add_run(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    run = commands.add_parser("run", help="compute one lab and print what it shows")
    run.add_argument("name", metavar="NAME", help="a lab, as `gradlab list` shows it")
    run.add_argument(
        "--link", metavar="LINK", help="start where a copied link does: it ends in #gl=1&lab=..."
    )
    run.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="move a control",
    )
    kinds = (
        "a picture (.png .svg .pdf), numbers (.csv), a page that needs no kernel (.html) or a "
        "film (.gif .mp4)"
    )
    run.add_argument("--save", type=Path, metavar="FILE", help=f"write {kinds}")
    run.set_defaults(act=_run)


def _run(options: argparse.Namespace) -> None:
    lab = _opened(options.name, options.link)
    values = dict(read(text, settable(lab)) for text in options.settings)
    if values:
        lab.set(**values)
    if options.save:
        try:
            held = lab.save(options.save)
        except (ValueError, OSError, ImportError) as error:
            raise UsageError(f"cannot write {options.save}: {error}") from error
    _print(lab.description)
    if options.save:
        say(f"wrote {options.save}: {held}")


def _opened(name: str, link: str | None) -> Lab:
    """The lab of this name, where the link left it."""
    labs = catalog()
    if name not in labs:
        raise UsageError(f"unknown lab {name!r}: {did_you_mean(name, labs)}")
    if link is None:
        return labs[name]()
    from ..labs import from_link

    try:
        lab = from_link(link)
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    if lab.function != name:
        raise UsageError(f"the link shows {lab.function}, not {name}")
    return lab


def say(text: str, file: TextIO | None = None) -> None:
    """Print lines; what names in them would have the terminal do is not done."""
    for line in text.split("\n"):
        print(printable(line), file=file)


def _print(description: Any) -> None:
    say(description.alt)
    say(description.summary)
    _print_table(description.table)


def _print_table(rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"  {name:{width}}  {value}")


def add_report(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    report = commands.add_parser(
        "report",
        help="write a page on a run that gl.Recorder recorded, or on a log; or compare several",
        description="Write a page on a recorded run: which limits it suggests and why, layer by "
        "layer, skipped steps. Of 2 to 6 runs it says what differs first, which "
        "tensors differ, and how often one limit fires on each.",
        epilog="examples: gradlab report run.npz    gradlab report before.npz after.npz --names "
        "before after",
    )
    report.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="a file of Recorder.save (.npz) or of append_to, which may still grow, or the log of "
        "another tool, as gl.record.read_log reads it; 2 to 6 are compared, the others with the "
        "first",
    )
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="the page (default: RUN.html, or RUN-compared.html, beside the first)",
    )
    report.add_argument(
        "--names",
        nargs="+",
        metavar="NAME",
        help="of several runs (default: the names of the files)",
    )
    report.add_argument(
        "--limit",
        type=float,
        metavar="L",
        help="ask about this limit, not about the suggested one; of "
        "several runs about the same on each",
    )
    report.add_argument(
        "--still", action="store_true", help="pictures in place of figures that move: a small file"
    )
    report.add_argument("--open", action="store_true", help="open the page in the browser")
    report.set_defaults(act=_report)


def _report(options: argparse.Namespace) -> None:
    from ..report import Report

    first, several = options.runs[0], len(options.runs) > 1
    try:
        report = Report(
            *options.runs, names=options.names, limit=options.limit, labs=not options.still
        )
    except OSError as error:
        raise UsageError(
            f"cannot read {error.filename or first}: {error.strerror or error}"
        ) from error
    except (ValueError, ModuleNotFoundError) as error:
        raise UsageError(str(error)) from error
    page = options.output or first.with_name(
        f"{first.stem}-compared.html" if several else f"{first.stem}.html"
    )
    try:
        report.save(page)
    except OSError as error:
        raise UsageError(
            f"cannot write {page}: {error.strerror or error}: {error.filename or page}"
        ) from error
    except ValueError as error:
        raise UsageError(f"cannot write {page}: {error}") from error
    say("\n".join(report.headlines))
    say(f"wrote {page}")
    if options.open:
        webbrowser.open(page.resolve().as_uri())
