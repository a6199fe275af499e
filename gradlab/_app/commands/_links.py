"""Links on the command line: copied from a page or from Binder, whole or from the # on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ..._base.notebooks import UsageError


@dataclass(frozen=True)
class Followed:
    """Where a link leads: the name of a lab, its state as `#gl=1&lab=...`, and the file that the link names, if any."""

    lab: str
    state: str
    file: str


def is_link(text: str) -> bool:
    """Tell a link from the name of a lab or a folder."""
    return "gl=" in unquote(text)


def follow(link: str) -> Followed:
    """Find out where a link leads.

    Raises:
        UsageError: nowhere: an unknown lab or setting, a value that is not allowed.
    """
    from ...labs import from_link

    # On Binder the page and its state are encoded in what launches it.
    address, _, state = (unquote(link.partition("?urlpath=")[2]) or link).rpartition("#")
    try:
        lab = from_link(f"#{state}")
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    return Followed(type(lab).__name__, f"#{state}", PurePosixPath(unquote(urlsplit(address).path)).name)
