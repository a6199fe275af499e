"""A state as one line of code and as the end of a link: both lead back to it."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab.labs import from_link
from gradlab.labs._link import MOST
from gradlab.live import Button, Range, Slider

ROOT = Path(__file__).parents[2]
LABS = list(gl.labs.catalogue().items())
every_lab = pytest.mark.parametrize("make", [make for _, make in LABS], ids=[name for name, _ in LABS])


def anywhere(control: Any, data: st.DataObject) -> Any:
    """A value the control's handle can stand at."""
    if isinstance(control, Range):
        return tuple(sorted(anywhere(control.end, data) for _ in range(2)))
    if isinstance(control, Slider):
        return control.at(data.draw(st.integers(0, control.count)))
    return data.draw(st.sampled_from(control.values()))


@every_lab
@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_state_comes_back_from_its_link_and_its_code(make: Any, data: st.DataObject) -> None:
    lab = make()
    lab.set(**{c.name: anywhere(c, data) for c in lab.controls if not isinstance(c, Button)})
    assert len(lab.link()) <= MOST
    assert from_link(lab.link()).params == lab.params
    assert from_link(f"https://example.org/lab/tree/x.ipynb{lab.link()}").params == lab.params
    assert eval(lab.code(), {"gl": gl}).params == lab.params


def test_code_leaves_out_what_is_at_its_default() -> None:
    assert gl.labs.clip_libraries().code() == "gl.labs.clip_libraries()"
    assert gl.labs.clipping(limit=0.3).code() == "gl.labs.clipping(limit=0.3)"


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("https://example.org/x.ipynb", r"a link to a lab ends in #gl=1&lab=NAME&\.\.\., got 'https"),
        ("#gl=2&lab=clipping", "made by another version of gradlab; this one reads #gl=1"),
        ("#gl=1&lab=cliping", "a lab 'cliping'; there are clipping, "),
        ("#gl=1&lab=clipping&limmit=3&limit=1", "names 'limmit', which clipping does not have; its settings are limit"),
        ("#gl=1&lab=clipping&limit=-3", "limit must be from 0.001 to 1000, got -3"),
        ("#gl=1&lab=clipping&limit=much", "limit must be a number, got 'much'"),
        ("#gl=1&lab=clipping&run=fast", "run must be one of 'none'"),
    ],
)
def test_a_link_that_says_something_else_is_refused_kindly(link: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_link(link)


@every_lab
def test_every_lab_has_a_page_on_binder(make: Any) -> None:
    lab = make()
    address = lab.link("binder")
    (page,) = parse_qs(urlsplit(address).query)["urlpath"]  # as BinderHub reads it
    notebook, _, state = page.partition("#")
    assert (ROOT / notebook.removeprefix("lab/tree/")).is_file()
    assert f"#{state}" == lab.link()


def test_on_binder_a_link_launches_what_runs_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://binder.example.org/")
    monkeypatch.setenv("BINDER_PERSISTENT_REQUEST", "v2/gh/fork/gradlab/1f2e")
    link = gl.labs.clipping().link("binder")
    assert link.startswith("https://binder.example.org/v2/gh/fork/gradlab/1f2e?urlpath=lab/tree/notebooks/02_clipping")


def test_where_there_is_no_page_a_link_says_so() -> None:
    class mine(gl.labs.clip_arrows):
        """A lab of the reader's."""

    with pytest.raises(ValueError, match="no notebook of gradlab's shows mine"):
        mine().link("binder")
    with pytest.raises(ValueError, match="to must be 'binder' or left out, got 'colab'"):
        gl.labs.clipping().link("colab")
