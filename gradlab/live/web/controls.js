// Controls. One shows its value by `set`; what the reader does with it goes to `moved({name:
// value})`, which sets it. `key(value)` names a value in the key of a state; `idle` says whether it
// changes nothing just now.

import { KEYS, button, clamp, element, partsOf, setText } from "./dom.js";
import { fromPosition, keyOf, shown, shownNumber, toPosition, withUnit } from "./positions.js";

let made = 0;
// Unique among the controls of all labs in a page.
const uniqueId = () => `gl-${Date.now().toString(36)}-${++made}`;

function rowOf(spec, parent) {
  const row = element("div", `gl-control gl-${spec.kind}`, parent);
  row.hidden = Boolean(spec.hidden);
  return row;
}

function labeled(tag, spec, parent, attributes) {
  const row = rowOf(spec, parent);
  const id = uniqueId();
  const label = element("label", "", row, { for: id });
  label.textContent = spec.label;
  const input = element(tag, "", row, { id, ...KEYS, ...attributes });
  const idle = idles(spec, row, [input]);
  return { row, label, input, idle };
}

// What does nothing cannot be moved, so that nobody looks for what it did.
function idles(spec, row, inputs) {
  let now = null;
  function idle(yes) {
    if (yes === now) return;
    now = yes;
    row.classList.toggle("gl-idle", yes);
    for (const input of inputs) input.disabled = yes || Boolean(spec.fixed);
  }
  idle(false);
  return idle;
}

const output = (row, ids) => element("output", "gl-value", row, { for: ids, "aria-live": "off" });

const sliderAttributes = (spec) => ({ type: "range", min: 0, max: spec.count, step: 1 });

function slider(spec, parent, moved) {
  const { row, input, idle } = labeled("input", spec, parent, sliderAttributes(spec));
  const text = output(row, input.id);
  const control = {
    spec,
    row,
    input,
    idle,
    value: spec.minimum,
    set(value) {
      control.value = value;
      input.value = toPosition(spec, value);
      row.style.setProperty("--gl-to", input.value / spec.count);
      setText(text, shown(spec, value));
      input.setAttribute("aria-valuetext", text.textContent);
    },
    key: (value) => keyOf(spec, value),
    position: () => toPosition(spec, control.value),
    move: (position) => moved({ [spec.name]: fromPosition(spec, clamp(position, 0, spec.count)) }),
    refit(next) {
      Object.assign(spec, next);
      input.max = spec.count;
      control.set(control.value);
    },
  };
  input.addEventListener("input", () => control.move(Number(input.value)));
  return control;
}

// Two native sliders lie over one track. They take the keys; the track takes the pointer, so that
// the nearer end moves.
function range(spec, parent, moved) {
  const row = rowOf(spec, parent);
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", spec.label);
  element("span", "gl-label", row).textContent = spec.label;
  const track = element("span", "gl-track", row);
  const ends = ["from", "to"].map((end) =>
    element("input", "", track, {
      ...sliderAttributes(spec),
      id: uniqueId(),
      "aria-label": `${spec.label}, ${end}`,
      ...KEYS,
    }),
  );
  const text = output(row, ends.map((end) => end.id).join(" "));
  const control = {
    spec,
    row,
    input: ends[0],
    idle: idles(spec, row, ends),
    value: [spec.minimum, spec.maximum],
    set(value) {
      control.value = value;
      value.forEach((one, k) => showEnd(spec, track, ends[k], k, one));
      setText(text, withUnit(spec, value.map((one) => shownNumber(spec, one)).join(" – ")));
    },
    key: (value) => value.map((one) => keyOf(spec, one)).join("-"),
    position: (k) => toPosition(spec, control.value[k]),
    moveEnd(k, position) {
      const places = [0, 1].map(control.position);
      places[k] = k ? clamp(position, places[0], spec.count) : clamp(position, 0, places[1]);
      moved({ [spec.name]: places.map((place) => fromPosition(spec, place)) });
    },
  };
  ends.forEach((end, k) =>
    end.addEventListener("input", () => control.moveEnd(k, Number(end.value))),
  );
  followPointer(control, track, ends);
  return control;
}

function showEnd(spec, track, end, k, value) {
  const position = toPosition(spec, value);
  end.value = position;
  end.setAttribute("aria-valuetext", shown(spec, value));
  track.style.setProperty(k ? "--gl-to" : "--gl-from", position / spec.count);
}

function followPointer(control, track, ends) {
  let held = null;
  const places = () => [0, 1].map(control.position);
  const under = (event) => {
    // the middle of a thumb never reaches the ends of the track
    const { width } = track.getBoundingClientRect();
    const thumb = parseFloat(getComputedStyle(track).getPropertyValue("--gl-thumb"));
    return Math.round(
      ((partsOf(event, track).x * width - thumb / 2) / (width - thumb)) * control.spec.count,
    );
  };
  const nearer = (position) => {
    const [low, high] = places();
    if (low === high) return position < low ? 0 : position > high ? 1 : null;
    return Math.abs(position - low) < Math.abs(position - high) ? 0 : 1;
  };
  const follow = (event) => {
    held ??= nearer(under(event));
    if (held === null) return; // both ends are here: the direction will tell
    ends[held].focus({ preventScroll: true });
    control.moveEnd(held, under(event));
  };
  track.addEventListener("pointerdown", (event) => {
    if (event.button || ends[0].disabled) return;
    event.preventDefault();
    track.setPointerCapture(event.pointerId);
    held = null;
    follow(event);
  });
  track.addEventListener("pointermove", (event) => {
    if (track.hasPointerCapture(event.pointerId)) follow(event);
  });
}

function menu(spec, parent, moved) {
  const { row, input, idle } = labeled("select", spec, parent, {});
  const values = spec.options.map(([value]) => value);
  spec.options.forEach(([, label], k) => {
    element("option", "", input, { value: k }).textContent = label;
  });
  const control = {
    spec,
    row,
    input,
    idle,
    value: values[0],
    set(value) {
      control.value = value;
      input.value = values.indexOf(value);
    },
    key: (value) => values.indexOf(value),
  };
  input.addEventListener("change", () => moved({ [spec.name]: values[Number(input.value)] }));
  return control;
}

function toggle(spec, parent, moved) {
  const { row, label, input, idle } = labeled("input", spec, parent, {
    type: "checkbox",
    role: "switch",
  });
  row.append(label); // the words follow the switch
  const control = {
    spec,
    row,
    input,
    idle,
    value: false,
    set(value) {
      control.value = value;
      input.checked = value;
    },
    key: (value) => Number(value),
  };
  input.addEventListener("change", () => moved({ [spec.name]: input.checked }));
  return control;
}

function pressed(spec, parent, moved, press) {
  const input = button(parent, spec.label, () => press(spec.name), "gl-control gl-button");
  input.disabled = Boolean(spec.fixed);
  const busy = (yes) => {
    input.disabled = yes || Boolean(spec.fixed);
    input.setAttribute("aria-busy", String(yes));
  };
  return { spec, input, busy };
}

const CONTROLS = { slider, range, menu, toggle, button: pressed };

export const controlOf = (spec, parent, moved, press) =>
  CONTROLS[spec.kind](spec, parent, moved, press);

// A button holds no value.
export const holdsValue = (control) => "value" in control;

export const valuesOf = (controls) =>
  Object.fromEntries(
    [...controls.values()].filter(holdsValue).map(({ spec, value }) => [spec.name, value]),
  );

// The key of a state in the frame cache: of these values, or of the controls as they are.
export const stateKey = (controls, values = valuesOf(controls)) =>
  [...controls.values()]
    .filter(holdsValue)
    .map((control) => control.key(values[control.spec.name]))
    .join(",");
