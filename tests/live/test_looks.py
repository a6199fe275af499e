"""Colors of the page and of the moving parts, light and dark."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.conftest import Wire, canvas_url
from tests.live.everything import everything

pytestmark = pytest.mark.browser

# Lab's own colors, as its two themes set them.
LAB = {
    "light": {
        "--jp-ui-font-color1": "rgba(0,0,0,.87)",
        "--jp-ui-font-color2": "rgba(0,0,0,.54)",
        "--jp-layout-color0": "white",
        "--jp-layout-color1": "white",
        "--jp-brand-color1": "#1976d2",
    },
    "dark": {
        "--jp-ui-font-color1": "rgba(255,255,255,.87)",
        "--jp-ui-font-color2": "rgba(255,255,255,.54)",
        "--jp-layout-color0": "#111",
        "--jp-layout-color1": "#212121",
        "--jp-brand-color1": "#2196f3",
    },
}

CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1), ctx = canvas.getContext("2d", { willReadFrequently: true });
  const over = (...colors) => {
    for (const color of colors) { ctx.fillStyle = color; ctx.fillRect(0, 0, 1, 1); }
    return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const linear = (part) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const root = document.querySelector(".gl-live"), page = getComputedStyle(root).backgroundColor;
  const probe = root.appendChild(document.createElement("i"));
  const color = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
  const against = (name, ground) => contrast(over(page, ground, color(name)), over(page, ground));
  const face = color("--gl-face");
  const found = {
    text: against("--gl-text", page), button: against("--gl-text", face), error: against("--gl-error", page),
    pressed: against("--gl-page", color("--gl-accent")),
    edge: against("--gl-faint", page), accent: against("--gl-accent", page), focus: against("--gl-accent", face),
  };
  probe.remove();
  return found;
}"""


@pytest.fixture
def wire(page: Any) -> Iterator[Wire]:
    wire = Wire(everything(), page)
    wire.open()
    yield wire
    page.emulate_media(color_scheme="light", forced_colors="none")
    page.evaluate("""() => {
      for (const node of [document.documentElement, document.body]) {
        node.removeAttribute("style"); delete node.dataset.theme; delete node.dataset.jpThemeLight;
      }
    }""")


def opened(wire: Wire) -> list[bool]:
    """Whether the page is dark, as the browser says each time it says so."""
    wire.frames()
    return [message["dark"] for message in wire.both() if message["kind"] == "open"]


def test_the_page_decides_lab_first(wire: Wire) -> None:
    page = wire.page
    page.emulate_media(color_scheme="dark")
    assert opened(wire) == [True]
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert opened(wire) == [False]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert opened(wire) == [True]
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    assert opened(wire) == [False]
    page.emulate_media(color_scheme="light")
    assert opened(wire) == []
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert opened(wire) == [True]


def test_moving_parts_take_the_dark_colors_with_the_dark_picture(wire: Wire) -> None:
    light = canvas_url(wire.page)
    still = wire.page.locator(".gl-still").get_attribute("src")
    wire.page.emulate_media(color_scheme="dark")
    wire.page.wait_for_function("window.sent.length")
    assert canvas_url(wire.page) == light  # until the still picture is here
    wire.both()
    wire.page.wait_for_function(
        "(old) => document.querySelector('.gl-still').src !== old", arg=still
    )
    frame, colors = wire.live.frame(), list(wire.live._state.scene.colors.items())
    same = wire.page.evaluate(
        """([list, scheme]) => [null, scheme].map((colors) => {
          const seen = document.querySelector(".gl-moving"), canvas = document.createElement("canvas");
          Object.assign(canvas, { width: seen.width, height: seen.height });
          window.paint(canvas, list, colors);
          return canvas.toDataURL() === seen.toDataURL();
        })""",
        [wire.text(frame), colors],
    )
    assert same == [False, True]
    wire.live.set(limit=2)
    wire.reply()
    wire.page.emulate_media(color_scheme="light")
    assert opened(wire) == [False]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lab", [False, True], ids=["alone", "lab"])
def test_contrast_is_enough(wire: Wire, theme: str, lab: bool) -> None:
    wire.page.emulate_media(color_scheme=theme)
    if lab:
        wire.page.evaluate(
            """([theme, colors]) => {
              document.body.dataset.jpThemeLight = String(theme === "light");
              for (const [name, value] of Object.entries(colors)) document.body.style.setProperty(name, value);
            }""",
            [theme, LAB[theme]],
        )
    wire.frames()
    contrasts = wire.page.evaluate(CONTRASTS)
    for name in ("text", "button", "error", "pressed"):
        assert contrasts[name] >= 4.5, (name, contrasts)
    for name in ("edge", "accent", "focus"):
        assert contrasts[name] >= 3, (name, contrasts)


def test_forced_colors_leave_what_a_background_says(wire: Wire) -> None:
    """Whether a switch is on and a button pressed; and that the track of a range is there."""
    wire.page.emulate_media(forced_colors="active")
    found = wire.page.evaluate("""() => {
      const root = document.querySelector(".gl-live"), page = getComputedStyle(root).backgroundColor;
      const ground = (selector, part) => getComputedStyle(root.querySelector(selector), part).backgroundColor;
      const pressed = root.querySelector(".gl-player [aria-pressed]");
      pressed.setAttribute("aria-pressed", "true");
      const seen = [ground("[role=switch]:checked", "::before"), ground("[aria-pressed=true]"),
        ground(".gl-track", "::before"), ground(".gl-handle", "::before")];
      pressed.setAttribute("aria-pressed", "false");
      return [page, ground("[role=switch]", "::after"), ...seen];
    }""")
    page, knob, *seen = found
    assert knob == page
    assert page not in seen, found


def test_texts_that_stay_are_colored_once(page: Any) -> None:
    made = page.evaluate("""() => {
      const word = new Uint32Array([7, 9, 0xff0000ff, 2, 3, 2, 2, 0, 0]), words = [...word];
      words[7] = 0xff80ff00;
      const list = new Uint32Array(words), canvas = document.createElement("canvas");
      Object.assign(canvas, { width: 8, height: 8 });
      const ctx = canvas.getContext("2d"), Original = window.OffscreenCanvas;
      let count = 0;
      window.OffscreenCanvas = class extends Original { constructor(...size) { super(...size); count += 1; } };
      try {
        const pixel = () => [...ctx.getImageData(3, 3, 1, 1).data];
        module.paint(ctx, new Uint8Array(list.buffer));
        const first = pixel();
        module.paint(ctx, new Uint8Array(list.buffer));
        const again = pixel(), made = count;
        module.paint(ctx, new Uint8Array(list.buffer), new Map([[0xff0000ff, 0xff00ff00]]));
        return [first, again, made, pixel(), count];
      } finally { window.OffscreenCanvas = Original; }
    }""")
    assert made == [[255, 0, 0, 255], [255, 0, 0, 255], 1, [0, 255, 0, 255], 2]
