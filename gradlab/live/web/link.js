// The state of a lab in a link: #gl=1&lab=NAME&control=value, with what differs from the start.

import { button, element, KEYS } from "./dom.js";
import { fromPosition, toPosition } from "./positions.js";

const VERSION = "1";
const SHOWN_MS = 2000;

const NUMBER = {
  write: (value) => String(value),
  read(text, { spec }) {
    const value = text.trim() === "" ? NaN : Number(text);
    if (!(value >= spec.minimum && value <= spec.maximum)) return undefined;
    return spec.scale === "integer" ? fromPosition(spec, toPosition(spec, value)) : value;
  },
};

const VALUES = {
  slider: NUMBER,
  range: {
    write: (value) => value.join("~"),
    read(text, control) {
      const ends = text.split("~").map((end) => NUMBER.read(end, control));
      return ends.length === 2 && ends[0] <= ends[1] ? ends : undefined;
    },
  },
  toggle: {
    write: (value) => String(Number(value)),
    read: (text) => ({ 1: true, 0: false, true: true, false: false })[text.toLowerCase()],
  },
  menu: { // the words of an option stand for values that are no text
    write: (value, { spec }) => (typeof value === "string" ? value : spec.options.find(([one]) => one === value)[1]),
    read: (text, { spec }) => spec.options.find(([value, label]) => [label, String(value)].includes(text))?.[0],
  },
};

const sameValue = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export function writeLink(name, controls, start) {
  const parts = new URLSearchParams({ gl: VERSION, lab: name });
  for (const [key, control] of controls) {
    if (key in start && !sameValue(control.value, start[key])) {
      parts.set(key, VALUES[control.spec.kind].write(control.value, control));
    }
  }
  return `#${parts}`;
}

// What the hash of a page asks of this lab: values, and kind words on what was left out.
export function readLink(hash, name, controls) {
  const parts = new URLSearchParams(hash.slice(1)), values = {}, notes = [];
  if (!parts.has("gl") || parts.get("lab") !== name) return { values, note: "" };
  if (parts.get("gl") !== VERSION) {
    return { values, note: `The link was made by another version (gl=${parts.get("gl")}); it was left out.` };
  }
  for (const [key, text] of parts) {
    if (key === "gl" || key === "lab") continue;
    const control = controls.get(key), value = control && VALUES[control.spec.kind]?.read(text, control);
    if (!control) notes.push(`The link names '${key}', which this lab does not have; it was left out.`);
    else if (control.spec.fixed) notes.push(`The link sets '${key}', which does not move on this page; it was left out.`);
    else if (value === undefined) notes.push(`The link gives '${key}' the value '${text}', which it does not take; it was left out.`);
    else values[key] = value;
  }
  return { values, note: notes.join(" ") };
}

export function addCopyLink(tools, write) {
  const copy = button(tools, "Copy link", async () => {
    const link = location.href.replace(/#.*/, "") + write();
    try {
      await navigator.clipboard.writeText(link);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy link"; }, SHOWN_MS);
    } catch {
      offer(link); // the page may not write to the clipboard: the reader can
    }
  });
  const field = element("input", "gl-link", tools, { type: "text", readonly: "", "aria-label": "Link", hidden: "", ...KEYS });
  function offer(link) {
    field.value = link;
    field.hidden = false;
    field.focus();
    field.select();
  }
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    copy.focus();
    field.hidden = true;
  });
  return copy;
}
