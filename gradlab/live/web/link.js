// The state of a lab in a link: #gl=1&lab=NAME&control=value, with every control,
// for the one who opens it may have started elsewhere.

import { addressFor, basePath, openedHash } from "./address.js";
import { holdsValue } from "./controls.js";
import { KEYS, button, element, same } from "./dom.js";
import { fromPosition, toPosition } from "./positions.js";

const VERSION = "1";
const MOST = 300; // characters that survive every chat and every course page

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
  menu: {
    // the words of an option stand for values that are no text
    write: (value, { spec }) =>
      typeof value === "string" ? value : spec.options.find(([one]) => one === value)[1],
    read: (text, { spec }) =>
      spec.options.find(([value, label]) => [label, String(value)].includes(text))?.[0],
  },
};

export function writeLink(name, controls) {
  const parts = new URLSearchParams({ gl: VERSION, lab: name });
  for (const [key, control] of controls) {
    if (holdsValue(control))
      parts.set(key, VALUES[control.spec.kind].write(control.value, control));
  }
  return `#${parts}`.replaceAll("%7E", "~");
}

const isFor = (parts, name) => parts.has("gl") && parts.get("lab") === name;

// Whether the link of this page is for a lab of this name, and none has taken it.
export function awaitsLink(name) {
  const hash = openedHash();
  return (
    isFor(new URLSearchParams(hash.slice(1)), name) && !window.gradlabLinks?.has(`${name} ${hash}`)
  );
}

// What the link of this page asks of the first lab of this name that opens. Each widget has its own
// copy of this module.
export function takeLink(name, controls) {
  const hash = openedHash();
  const taken = (window.gradlabLinks ??= new Set());
  const link = `${name} ${hash}`;
  if (taken.has(link)) return { values: {}, note: "" };
  taken.add(link);
  return readLink(hash, name, controls);
}

// What the hash of a page asks of this lab: values, and kind words on what was left out.
function readLink(hash, name, controls) {
  const parts = new URLSearchParams(hash.slice(1));
  const values = {};
  const notes = [];
  const leaveOut = (why) => notes.push(`The link ${why}; it was left out.`);
  if (!isFor(parts, name)) return { values, note: "" };
  if (parts.get("gl") !== VERSION) {
    leaveOut(`was made by another version (gl=${parts.get("gl")})`);
    return { values, note: notes[0] };
  }
  for (const [key, text] of parts) {
    if (key === "gl" || key === "lab") continue;
    const control = controls.get(key);
    const value = control && VALUES[control.spec.kind]?.read(text, control);
    if (!control) leaveOut(`names '${key}', which this lab does not have`);
    else if (value === undefined)
      leaveOut(`gives '${key}' the value '${text}', which it does not take`);
    else if (!control.spec.fixed) values[key] = value;
    else if (!same(value, control.value))
      leaveOut(`sets '${key}', which does not move on this page`);
  }
  return { values, note: notes.join(" ") };
}

export function addCopyLink(tools, write, launch, said) {
  const copy = button(
    tools,
    "Copy link",
    async () => {
      const hash = write();
      if (hash.length > MOST) {
        said(
          "This state is too long for a link; lab.code() in a cell writes it as a line of Python.",
        );
        return;
      }
      const link = addressFor(location.href, hash, basePath(), launch);
      try {
        await navigator.clipboard.writeText(link);
        said("The link is copied.");
      } catch {
        offer(link); // the page may not write to the clipboard: the reader can
      }
    },
    "gl-small gl-copy",
  );
  const attributes = { type: "text", readonly: "", "aria-label": "Link", hidden: "", ...KEYS };
  const field = element("input", "gl-link", tools, attributes);
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
