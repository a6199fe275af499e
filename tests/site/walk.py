"""What the pages of the site ask their readers to do, and a reader who does it."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from typing import Any

VERBS = (
    "press",
    "select",
    "drag",
    "draw",
    "reach",
    "target",
    "choose",
    "click",
    "set",
    "put",
    "point",
    "write",
)
ASKS = re.compile(rf"\b({'|'.join(VERBS)})\b", re.IGNORECASE)
MOVE_FIRST = "move your guess first"
# Press a button where a reader would, and find nothing before it. Playwright's own click takes ten
# times as long.
PRESS = """async (button) => {
  button.scrollIntoView({ block: "center", behavior: "instant" });
  const box = button.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  const found = document.elementFromPoint(x, y);
  if (found !== button) throw new Error(`${button.textContent} is under ${found?.outerHTML}`);
  button.click();
  for (let k = 0; k < 300 && button.ariaPressed === "false"; k++) await new Promise(requestAnimationFrame);
  if (button.ariaPressed === "false") throw new Error(`${button.textContent} does nothing`);
}"""
ANSWER = f"""async (place) => {{
  const press = {PRESS}, said = place.querySelector("[role=status]"), told = [];
  for (const button of place.querySelectorAll("button")) {{
    await press(button);
    told.push([said.innerText, said.className]);
  }}
  return told }}"""
PRESETS = f"""async (chips) => {{
  const press = {PRESS};
  for (const chip of chips) await press(chip);
  return chips.length }}"""


def sentences(html: str) -> list[str]:
    """The sentences of a page that ask for something."""
    article = re.search(r"<article.*?</article>", html, re.DOTALL)
    prose = re.findall(r"<(?:li|p)>(.*?)</(?:li|p)>", article[0] if article else "", re.DOTALL)
    cut = [one for text in prose for one in re.split(r"(?<=[.?!:])\s+(?=[A-Z<])", text)]
    return [unescape(one) for one in cut if ASKS.search(re.sub("<[^>]*>", "", one))]


def named(said: list[str]) -> set[tuple[str, str]]:
    """What the sentences ask for by name: a verb, and every name in italics that comes after it.

    >>> sorted(named(["Press <em>Luck</em>.", "Then set <em>Color</em> to <em>age</em>.", "A <em>norm</em>: drag it."]))
    [('press', 'Luck'), ('set', 'Color'), ('set', 'age')]
    """
    found = set()
    for one in said:
        for name in re.finditer("<em>(.*?)</em>", one):
            if verbs := ASKS.findall(one[: name.start()]):
                found.add((verbs[-1].lower(), name[1].replace("\u2019", "'")))
    return found


def whole(page: Any) -> Counter[str]:
    """Do what an open page asks for: answer and predict, press every preset, drag every handle;
    count these.
    """
    done: Counter[str] = Counter()
    for place in page.locator(".asked").all():
        done["questions"] += 1
        if place.locator("svg").count():
            predict(page, place)
        else:
            answer(place)
    for place in page.locator(".lab[data-page]").all():
        place.scroll_into_view_if_needed()
        place.locator("iframe:not(.arriving)").wait_for(timeout=60_000)
        lab = place.frame_locator("iframe")
        done["handles"] += drag(page, lab)
        done["presets"] += lab.locator(".gl-chip").evaluate_all(PRESETS)
    return done


def answer(place: Any) -> None:
    """Answer a multiple-choice question with every letter; one of them is right."""
    told = place.evaluate(ANSWER)
    assert all(len(words) > 20 for words, _ in told)
    assert [kind for _, kind in told].count("right") == 1


def predict(page: Any, place: Any) -> None:
    """Reveal too early, draw a guess across the picture, correct it by a key, and reveal it."""
    reveal, said = place.locator("button"), place.locator("[role=status]")
    handle, picture = place.locator("circle").first, place.locator("svg")
    reveal.evaluate(PRESS)
    assert MOVE_FIRST in said.inner_text()
    before = handle.get_attribute("aria-valuetext")
    picture.scroll_into_view_if_needed()
    box, first = picture.bounding_box(), handle.bounding_box()
    page.mouse.move(first["x"] + first["width"] / 2, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.3, steps=3)
    page.mouse.up()
    drawn = handle.get_attribute("aria-valuetext")
    handle.press("ArrowUp")
    assert before != drawn
    reveal.evaluate(PRESS)
    told: str = said.inner_text()
    assert told.startswith("Your guess is ") and "The result: " in told and "NaN" not in told
    assert place.locator("path.result").get_attribute("d")


def drag(page: Any, lab: Any) -> int:
    """Move every handle in the picture of a lab with the mouse, back and forth; give their number."""
    handles = lab.locator(".gl-handle:visible")
    for handle in handles.all():
        handle.scroll_into_view_if_needed()
        box, values = handle.bounding_box(), set()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        for away in (80, -80):  # pixels; a page of a few states moves in long steps
            page.mouse.move(x + away, y + away)
            values.add(handle.get_attribute("aria-valuetext"))
        page.mouse.up()
        assert len(values) == 2
    return int(handles.count())
