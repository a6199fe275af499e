"""Links carry the state of a lab: written, copied, read once, and kind about what they cannot set."""

from collections.abc import Iterator
from typing import Any

import pytest

from gradlab.live._bundle import WEB
from tests.browser.lab import until
from tests.live.conftest import Wire
from tests.live.everything import everything

pytestmark = pytest.mark.browser


@pytest.fixture
def clean(page: Any) -> Iterator[Any]:
    """A page whose address has no hash at the start and at the end."""
    page.evaluate("window.copied = null; delete window.gradlabLinks")
    yield page
    page.evaluate("location.hash = ''")


def opened(page: Any, hash: str) -> Wire:
    page.evaluate("(hash) => { location.hash = hash }", hash)
    wire = Wire(everything(), page)
    wire.open()
    wire.settle()
    return wire


def copied(wire: Wire) -> str:
    """Press "Copy link" and give the hash of what is in the clipboard then."""
    wire.page.evaluate("""Object.defineProperty(navigator, "clipboard", {configurable: true,
        value: {writeText: async (text) => { window.copied = text }}}); 0""")
    wire.page.locator("button", has_text="Copy link").last.click()
    wire.page.wait_for_function("window.copied")
    assert wire.aside() == "The link is copied."
    before, _, after = wire.page.evaluate("window.copied").partition("#")
    assert before == "about:blank"
    return str(after)


def test_every_value_is_written_and_buttons_are_not(clean: Any) -> None:
    wire = opened(clean, "")
    wire.live.set(limit=0.123, window=(3, 30), rule=2, on=False, k1=0.25)
    wire.reply()
    assert (
        copied(wire)
        == "gl=1&lab=everything&limit=0.123&window=3~30&rule=two&on=0&k0=0.5&k1=0.25&k2=0.5"
    )


def test_a_link_that_was_copied_sets_the_same_state(clean: Any) -> None:
    first = opened(clean, "")
    first.live.set(limit=1 / 3, window=(3, 30), rule="ada", on=False)
    first.reply()
    link = copied(first)
    clean.evaluate("fresh(); delete window.gradlabLinks")  # as if the page were new
    assert opened(clean, link).live.values == first.live.values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rule=none", None),
        ("rule=two", 2),
        ("rule=2", 2),
        ("rule=ada", "ada"),
        ("rule=Adagrad", "ada"),
    ],
)
def test_options_are_known_by_value_and_by_label(clean: Any, text: str, value: Any) -> None:
    assert opened(clean, f"#gl=1&lab=everything&{text}").live.values["rule"] == value


def test_a_query_behind_a_link_is_none_of_ours(clean: Any) -> None:
    assert opened(clean, "#gl=1&lab=everything&limit=0.5?token=s3cret").live.values["limit"] == 0.5


def test_a_link_to_another_lab_is_passed_over(clean: Any) -> None:
    wire = opened(clean, "#gl=1&lab=other&limit=5")
    assert (wire.live.values["limit"], wire.readout()) == (1.0, "limit 1, mean 0.84")


@pytest.mark.parametrize(
    ("hash", "note"),
    [
        (
            "gl=1&lab=everything&limmit=5",
            "The link names 'limmit', which this lab does not have; it was left out.",
        ),
        (
            "gl=1&lab=everything&train=5",
            "The link gives 'train' the value '5', which it does not take; it was left out.",
        ),
        (
            "gl=1&lab=everything&limit=11",
            "The link gives 'limit' the value '11', which it does not take; it was left out.",
        ),
        (
            "gl=1&lab=everything&limit=",
            "The link gives 'limit' the value '', which it does not take; it was left out.",
        ),
        (
            "gl=1&lab=everything&window=30~3",
            "The link gives 'window' the value '30~3', which it does not take; it was left out.",
        ),
        (
            "gl=1&lab=everything&on=maybe",
            "The link gives 'on' the value 'maybe', which it does not take; it was left out.",
        ),
        (
            "gl=2&lab=everything&limit=5",
            "The link was made by another version (gl=2); it was left out.",
        ),
    ],
)
def test_what_a_link_cannot_set_is_named_kindly(clean: Any, hash: str, note: str) -> None:
    wire = opened(clean, hash)
    assert (wire.aside(), wire.readout()) == (note, "limit 1, mean 0.84")
    wire.slider().press("ArrowRight")
    wire.settle()
    assert wire.readout().startswith("limit 1.05")


def test_the_rest_of_a_link_is_still_used(clean: Any) -> None:
    wire = opened(clean, "#gl=1&lab=everything&limmit=5&limit=0.5")
    assert wire.live.values["limit"] == 0.5
    assert wire.aside() == "The link names 'limmit', which this lab does not have; it was left out."
    assert wire.readout() == "limit 0.5, mean 0.49"


def test_a_link_is_used_once(clean: Any) -> None:
    wire = opened(clean, "#gl=1&lab=everything&limit=0.5")
    wire.slider().press("End")
    wire.settle()
    wire.open()
    wire.settle()
    assert wire.live.values["limit"] == 10


def test_a_link_is_for_the_first_lab_of_its_name(clean: Any) -> None:
    """Every widget in a page has its own copy of the module."""
    wire = opened(clean, "#gl=1&lab=everything&limit=0.5")
    clean.evaluate("async () => { fresh(); window.module = await import_again() }")
    second = Wire(everything(), clean)
    second.open()
    assert second.settle() == []
    assert (wire.live.values["limit"], second.live.values["limit"]) == (0.5, 1.0)
    # Another link.
    assert opened(clean, "#gl=1&lab=everything&limit=0.4").live.values["limit"] == 0.4


@pytest.fixture
def long(clean: Any) -> Iterator[Any]:
    """A page on which the lab is far below the window."""
    clean.evaluate(
        "() => { document.body.style.paddingTop = '3000px'; scrollTo(0, 0); hear('_name', "
        "'everything') }"
    )
    yield clean
    clean.evaluate("() => { document.body.style.paddingTop = ''; scrollTo(0, 0) }")


def is_in_view(page: Any) -> bool:
    """Tell whether the window shows the lab's top or all that it can of it."""
    box = page.locator(".gl-live").bounding_box()
    return bool(box["y"] < 0.5 * page.viewport_size["height"])


def test_the_lab_of_a_link_comes_into_view_and_stays_while_what_is_above_it_grows(
    long: Any,
) -> None:
    opened(long, "#gl=1&lab=everything&limit=0.5")
    assert is_in_view(long)
    long.evaluate(
        "() => { document.body.style.overflowAnchor = 'none'; "
        "document.body.style.paddingTop = '5000px' }"
    )
    until(lambda: is_in_view(long), saying="it is in view again")


def test_a_lab_without_a_link_of_its_own_stays_where_it_is(long: Any) -> None:
    opened(long, "#gl=1&lab=other&limit=0.5")
    assert long.evaluate("scrollY") == 0


@pytest.mark.parametrize("kind", ["wheel", "keydown"])
def test_a_reader_who_has_turned_to_something_else_is_left_there(kind: str, long: Any) -> None:
    long.evaluate("() => { location.hash = '#gl=1&lab=everything&limit=0.5' }")
    wire = Wire(everything(), long)
    long.evaluate("(kind) => { open_view(); dispatchEvent(new Event(kind)); scrollTo(0, 0) }", kind)
    wire.settle()
    assert wire.live.values["limit"] == 0.5
    assert long.evaluate("scrollY") == 0


BINDER = "https://mybinder.org/v2/gh/me/it/binder?urlpath=git-pull%3Frepo%3Dx%26urlpath%3D"


@pytest.mark.parametrize(
    ("address", "base", "launch", "link"),
    [
        ("http://x/lab/a.ipynb?token=s3cret", "/", "", "http://x/lab/a.ipynb#gl=1&m=a+b"),
        (
            "http://x/lab?reset&token=s3cret&path=b%20c#gl=1",
            "/",
            "",
            "http://x/lab?reset=&path=b+c#gl=1&m=a+b",
        ),
        ("http://x/lab?reset&path=b%20c", "/", "", "http://x/lab?reset&path=b%20c#gl=1&m=a+b"),
        (
            "http://x/lab/workspaces/auto-J/tree/a.ipynb",
            "/",
            "",
            "http://x/lab/tree/a.ipynb#gl=1&m=a+b",
        ),
        (
            "http://x/doc/workspaces/auto-J/tree/a.ipynb",
            "/",
            "",
            "http://x/doc/tree/a.ipynb#gl=1&m=a+b",
        ),
        (
            "http://x/h/user/jo/lab/tree/a.ipynb",
            "/h/user/jo/",
            "",
            "http://x/h/hub/user-redirect/lab/tree/a.ipynb#gl=1&m=a+b",
        ),
        (
            "http://x/user/me-it-7/lab/tree/a%20b.ipynb?token=s3cret",
            "/user/me-it-7/",
            BINDER,
            f"{BINDER}lab/tree/a%252520b.ipynb%2523gl%253D1%2526m%253Da%252Bb",
        ),
    ],
)
def test_a_link_lets_nobody_in_and_leads_everybody_there(
    clean: Any, address: str, base: str, launch: str, link: str
) -> None:
    written = """async ([source, ...address]) => {
      const { addressFor } = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
      return addressFor(address[0], "#gl=1&m=a+b", ...address.slice(1));
    }"""
    source = (WEB / "address.js").read_text("utf-8")
    assert clean.evaluate(written, [source, address, base, launch]) == link


def test_a_state_too_long_for_a_link_is_said_kindly(clean: Any) -> None:
    live = everything()
    live._state.name = 250 * "x"
    wire = Wire(live, clean)
    wire.open()
    wire.button("Copy link").click()
    assert wire.aside().startswith(
        "This state is too long for a link; lab.code() in a cell writes it"
    )
    assert clean.get_by_role("textbox", name="Link").is_hidden()


def test_where_the_clipboard_is_refused_the_link_is_there_to_copy(clean: Any) -> None:
    wire = opened(clean, "")
    clean.evaluate("""Object.defineProperty(navigator, "clipboard", {configurable: true,
        value: {writeText: async () => { throw new Error("no") }}}); 0""")
    wire.button("Copy link").click()
    field = clean.get_by_role("textbox", name="Link")
    field.wait_for()
    assert field.input_value().startswith("about:blank#gl=1&lab=everything&limit=1&")
    selected = (
        "(node) => node === document.activeElement && node.selectionEnd - node.selectionStart === "
        "node.value.length"
    )
    assert field.evaluate(selected)
    assert not field.is_editable()
    field.press("Escape")
    assert field.is_hidden()
    assert clean.evaluate("document.activeElement.textContent") == "Copy link"


def test_a_lab_without_a_name_has_no_links(page: Any) -> None:
    live = everything()
    live._state.name = ""
    wire = Wire(live, page)
    wire.open()
    assert wire.button("Copy link").count() == 0
