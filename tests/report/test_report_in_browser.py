"""A report as a colleague opens it: from disk, with a kernel nowhere, and with no other request."""

from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from gradlab.report import report
from tests.browser.axe import violations
from tests.report.conftest import Recorded

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "STATES", 12)
        gl.Report(recorded(shapes={f"layer{k}/w": (k + 1, 2) for k in range(22)})).save(path)
    return path


@pytest.fixture(scope="module")
def compared(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "compared.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "STATES", 12)
        gl.Report(
            recorded(), recorded(30, lambda t, g: {n: x * 2 for n, x in g.items()}), recorded(9)
        ).save(path)
    return path


def opened(chromium: Any, path: Path, troubles: list[str], labs: int = 4, **options: Any) -> Any:
    page = chromium.new_page(**options)
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "blob:", "data:")) else troubles.append(r.url),
    )
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(path.as_uri())
    page.locator(".gl-live[data-frame]").nth(labs - 1).wait_for()
    return page


def test_every_figure_moves_by_key_without_a_request(chromium: Any, path: Path) -> None:
    troubles: list[str] = []
    page = opened(chromium, path, troubles, viewport={"width": 1100, "height": 900})
    for key, name in (
        ("other", "Limit"),
        ("layers", "Limit"),
        ("adagrad", "Steps done"),
        ("staleness", "Workers"),
    ):
        part = page.locator(f"#{key}")
        before = part.locator(".gl-readout").inner_text()
        part.get_by_role("slider", name=name, exact=True).press("Home")
        page.wait_for_function(
            "([key, before]) => document.querySelector(`#${key} .gl-readout`).innerText !== before",
            arg=[key, before],
        )
    assert path.stat().st_size < 5_000_000
    assert troubles == []
    page.close()


@pytest.mark.parametrize(("made", "labs"), [("path", 4), ("compared", 1)])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    made: str, labs: int, chromium: Any, request: pytest.FixtureRequest
) -> None:
    troubles: list[str] = []
    path = request.getfixturevalue(made)
    page = opened(chromium, path, troubles, labs, color_scheme="light", bypass_csp=True)  # for axe
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for color_scheme, width in (("light", 1100), ("dark", 390)):
        page.emulate_media(color_scheme=color_scheme)
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(
            "(count) => document.querySelectorAll('.gl-live.gl-dark').length === count",
            arg=page.locator(".gl-live").count() if color_scheme == "dark" else 0,
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page, "html") == [], (color_scheme, width)
    assert troubles == []
    page.close()
