"""Docstrings of the house as reStructuredText."""

from __future__ import annotations

import inspect

import pytest
from docutils.core import publish_doctree

import gradlab as gl
from notebooks.site.api import public_names
from notebooks.site.docstrings import linker, rst


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a *b* |c| d_ e\\n", "a \\*b\\* \\|c\\| d\\_ e\\\\n"),
        ("`x`s and `y`", "``x``\\ s and ``y``"),
        ("Raises: ValueError for `x`.", ":Raises:|   ValueError for ``x``."),
        ("Text.\nSource: somebody.", "Text.||:Source:|   somebody."),
        ("place: where it is,\n    and how.\nkind: what.", "- **place**: where it is, and how.|- **kind**: what."),
        ("Args:\n    x: one.\nAnd on.", ":Args:|   - **x**: one.||And on."),
        (">>> f(*x)\n1", ">>> f(*x)|1"),
    ],
    ids=["signs", "backticks", "one line", "after a sentence", "items", "after items", "example"],
)
def test_it_is_written(text: str, written: str) -> None:
    assert "|".join(rst(text.split("\n"))[:-1]) == written


def test_names_are_found_from_where_they_are_said() -> None:
    link = linker(public_names(), "gradlab.tpu.lookup")
    assert link("update") == "gradlab.tpu.update"
    assert link("gl.clip_by_norm()") == "gradlab.clip_by_norm"
    assert link("lookup") is None  # oneself
    assert link("whatever") is None


@pytest.mark.parametrize("name", ["gradlab.clip_by_global_norm", "gradlab.tpu.Policy", "gradlab.keras.Adagrad"])
def test_docutils_has_nothing_to_say(name: str) -> None:
    doc = inspect.getdoc(public_names()[name]) or ""
    tree = publish_doctree("\n".join(rst(doc.splitlines())), settings_overrides={"report_level": 5})
    assert not list(tree.findall(lambda node: node.tagname == "system_message"))
    assert gl.__version__
