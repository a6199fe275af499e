// The lab alone, as large as the screen, for a lecture: arrow keys, and the Page keys that a
// presenter's remote sends, go from preset to preset; Escape leaves.

import { KEYS, button, clamp } from "./dom.js";

const EDGE = 24; // CSS pixels around it
// From here the controls stand beside the picture, and all of it grows; below, the page scrolls as
// it does.
const WIDE = 916;
const WAYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const OWN_ARROWS = "input, select, [role=application]"; // they move what has the focus

// `enlarge(times)` asks for pictures that are sharp at so many times their size; `onEnter()` is
// called when it begins.
export function addPresenter({ root, frame, tools }, enlarge, onEnter) {
  const toggle = button(tools, "Present", () => (on() ? leave() : enter(true)), "gl-present");
  const observer = new ResizeObserver(fit);
  const on = () => root.classList.contains("gl-presenting");

  // Only what a reader presses may take the whole screen; all else, or where that is not allowed,
  // takes the window.
  async function enter(pressed) {
    if (on()) return;
    onEnter();
    root.classList.add("gl-presenting");
    toggle.textContent = "Leave";
    Object.entries(KEYS).forEach(([name, value]) => root.setAttribute(name, value));
    root.tabIndex = -1;
    try {
      if (!pressed) throw new Error("not pressed");
      await root.requestFullscreen();
    } catch {
      root.popover = "auto"; // over everything, whatever holds the lab, and Escape closes it
      root.showPopover();
    }
    root.focus({ preventScroll: true });
    for (const node of [root, frame]) observer.observe(node);
  }
  function leave() {
    if (!on()) return;
    root.classList.remove("gl-presenting");
    observer.disconnect();
    if (document.fullscreenElement === root) document.exitFullscreen();
    for (const name of ["popover", "tabindex", ...Object.keys(KEYS)]) root.removeAttribute(name);
    frame.style.transform = "";
    enlarge(1);
    toggle.textContent = "Present";
    toggle.focus({ preventScroll: true });
  }
  function fit() {
    if (!on()) return;
    const [width, height] = [root.clientWidth, root.clientHeight].map((size) => size - 2 * EDGE);
    const all = Math.min(width / frame.offsetWidth, height / frame.offsetHeight);
    const scale = root.clientWidth < WIDE ? 1 : clamp(all, 0.75, 4);
    const [left, top] = [width - scale * frame.offsetWidth, height - scale * frame.offsetHeight];
    const shift = `translate(${Math.max(left, 0) / 2}px, ${Math.max(top, 0) / 2}px)`;
    frame.style.transform = `${shift} scale(${scale})`;
    enlarge(Math.ceil(4 * Math.max(scale, 1)) / 4); // no new pictures for every pixel of a window
  }

  function step(way) {
    const chips = [...root.querySelectorAll(".gl-chip")];
    const pressed = (chip) => chip.getAttribute("aria-pressed") === "true";
    const here = way > 0 ? chips.findLastIndex(pressed) : chips.findIndex(pressed);
    chips[clamp(here + way, 0, chips.length - 1)]?.click();
  }
  root.addEventListener("keydown", (event) => {
    const way = WAYS[event.key];
    if (event.key === "Escape") leave();
    if (!on() || !way || (event.key.startsWith("Arrow") && event.target.matches(OWN_ARROWS)))
      return;
    event.preventDefault();
    step(way);
  });
  const ended = () => {
    if (document.fullscreenElement !== root && !root.matches(":popover-open")) leave();
  };
  for (const event of ["fullscreenchange", "toggle"]) root.addEventListener(event, ended);
  return { enter, stop: leave };
}
