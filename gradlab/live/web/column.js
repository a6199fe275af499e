// What stands beside the picture, or under it on a narrow page: the main control, a few others, the
// rest under "More", and the presets. What follows the values gives a function to call when they
// have changed.

import { holdsValue } from "./controls.js";
import { KEYS, button, element, same } from "./dom.js";

const isSlider = ({ kind }) => kind === "slider" || kind === "range";
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Where each control goes. The main one is the first slider that is seen, or the first control
// where there is none.
export function placesFor(specs, { main, panel, more }) {
  const seen = specs.filter(({ hidden, folded }) => !hidden && !folded);
  const first = seen.find(isSlider) ?? seen[0];
  const fold = specs.some(({ folded }) => folded) ? foldIn(more) : more;
  return (spec) => (spec === first ? main : spec.folded ? fold : panel);
}

function foldIn(more) {
  const summary = element("summary", "", more, KEYS);
  element("span", "", summary).textContent = "More";
  element("span", "gl-count", summary);
  return element("div", "gl-controls", more);
}

// How many controls are folded, and how many of them are not where they started.
export function addMore(more, controls, start) {
  const folded = [...controls.values()].filter(({ spec }) => spec.folded);
  const words = more.querySelector(".gl-count");
  let told = null;
  more.hidden = !folded.length;
  return () => {
    const moved = folded.filter(
      (one) => holdsValue(one) && !same(one.value, start[one.spec.name]),
    ).length;
    if (moved === told || !words) return;
    told = moved;
    words.textContent = counted(folded.length, "setting") + (moved ? `, ${moved} changed` : "");
    words.classList.toggle("gl-changed", moved > 0);
  };
}

// A chip for each preset; the one whose values the controls have is marked.
export function addPresets({ starts, tools }, presets, start, controls, moved) {
  if (Object.keys(start).length) button(tools, "Reset", () => moved(start));
  starts.hidden = !presets.length;
  element("span", "gl-label", starts, { "aria-hidden": "true" }).textContent = "Start from";
  const group = element("span", "gl-presets", starts, {
    role: "group",
    "aria-label": "Start from",
  });
  const chips = presets.map((preset) => {
    const chip = button(group, preset.label, () => moved(preset.values), "gl-chip");
    return { chip, values: () => Object.entries(preset.values), on: null };
  });
  return () => {
    for (const one of chips) {
      const on = one.values().every(([name, value]) => same(controls.get(name).value, value));
      if (on !== one.on) one.chip.setAttribute("aria-pressed", String(on));
      one.on = on;
    }
  };
}
