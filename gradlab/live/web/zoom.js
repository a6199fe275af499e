// A closer look at a panel. The kernel moves the limits; here they are asked for, one request at a time.

import { button, clamp, contains, element, partsOf, placeBox } from "./dom.js";

const LOST_STILL_MS = 3000;
const LEAST_BOX = 8; // CSS pixels: a box thinner than this leaves that direction as it is
const KEY_STEP = 0.25;
const KEY_ZOOM = 1.5;
const WHOLE = { x: [0, 1], y: [0, 1] };

// Both are parts of a panel from its left and bottom: `wanted`, once `done` is what the panel shows.
const rebased = (wanted, done) => {
  const size = done[1] - done[0];
  return wanted.map((part) => (part - done[0]) / size);
};
const about = (middle, factor) => [middle - middle / factor, middle + (1 - middle) / factor];
const shifted = ([low, high], by) => [low + by * (high - low), high + by * (high - low)];

// `send` tells the kernel what to show, `switched` hears that the button was pressed; `press` is as for handles.
export function addZoom({ root, picture, field, layer }, tools, press, send, switched) {
  const on = button(tools, "Zoom", toggle), back = button(tools, "Reset view", () => ask(null));
  const box = element("div", "gl-box", layer, { hidden: "" });
  let panels = [], current = 0, flying = null, waiting = null, drag = null;
  on.setAttribute("aria-pressed", "false");
  on.hidden = back.hidden = true;

  const active = () => on.getAttribute("aria-pressed") === "true";
  function toggle() {
    const now = !active();
    on.setAttribute("aria-pressed", String(now));
    root.classList.toggle("gl-zooming", now);
    switched();
  }
  // What is asked while a request is under way refers to what will be shown then.
  function ask(wanted) {
    if (flying && performance.now() - flying.since < LOST_STILL_MS) waiting = { wanted };
    else start(wanted);
  }
  function start(wanted) {
    flying = { wanted, since: performance.now() };
    send({ panel: null, ...wanted });
  }
  function landed() {
    const done = flying?.wanted, next = waiting?.wanted;
    flying = null;
    if (!waiting) return;
    waiting = null;
    const same = next && done && next.panel === done.panel;
    start(same ? { panel: next.panel, x: rebased(next.x, done.x), y: rebased(next.y, done.y) } : next);
  }
  // Parts of what the panel shows now, whatever is still under way.
  function change(panel, xy) {
    const base = waiting?.wanted ?? flying?.wanted;
    const from = base?.panel === panel ? base : WHOLE;
    const part = (direction) => {
      const [low, high] = from[direction];
      return xy[direction].map((at) => low + at * (high - low));
    };
    current = panel;
    ask({ panel, x: part("x"), y: part("y") });
  }

  const find = (event) => panels.findIndex((panel) => contains(panel, partsOf(event, picture)));
  function inside(event, panel) { // parts of the panel from its left and bottom
    const { x, y } = partsOf(event, picture), { left, top, width, height } = panels[panel];
    return { x: (x - left) / width, y: 1 - (y - top) / height };
  }

  picture.addEventListener("wheel", (event) => {
    const panel = active() ? find(event) : -1;
    if (panel < 0) return;
    event.preventDefault();
    const factor = clamp(Math.exp(-event.deltaY * 0.002), 0.5, 2), { x, y } = inside(event, panel);
    change(panel, { x: about(x, factor), y: about(y, factor) });
  }, { passive: false });

  field.addEventListener("pointerdown", (event) => {
    const panel = active() && event.button < 2 ? find(event) : -1;
    if (panel < 0) return;
    if (event.button === 1) event.preventDefault(); // no scrolling by the middle button
    field.setPointerCapture(event.pointerId);
    drag = { panel, from: inside(event, panel), last: inside(event, panel), pan: event.shiftKey || event.button === 1 };
  });
  field.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const here = inside(event, drag.panel);
    if (drag.pan) pan(here);
    else showBox(here);
  });
  function pan(here) {
    const by = (direction) => shifted([0, 1], drag.last[direction] - here[direction]);
    press.taken = true;
    change(drag.panel, { x: by("x"), y: by("y") });
    drag.last = here;
  }
  const sides = (a, b) => [clamp(Math.min(a, b), 0, 1), clamp(Math.max(a, b), 0, 1)];
  function boxed(here) { // a thin box leaves one direction alone; null: too small
    const size = picture.getBoundingClientRect(), panel = panels[drag.panel], part = {};
    const pixels = { x: size.width * panel.width, y: size.height * panel.height };
    for (const direction of ["x", "y"]) {
      part[direction] = sides(drag.from[direction], here[direction]);
      if ((part[direction][1] - part[direction][0]) * pixels[direction] < LEAST_BOX) part[direction] = null;
    }
    return part.x || part.y ? { x: part.x ?? [0, 1], y: part.y ?? [0, 1] } : null;
  }
  function showBox(here) {
    const part = boxed(here), { left, top, width, height } = panels[drag.panel];
    box.hidden = !part;
    if (!part) return;
    press.taken = true;
    placeBox(box, {
      left: left + part.x[0] * width, width: (part.x[1] - part.x[0]) * width,
      top: top + (1 - part.y[1]) * height, height: (part.y[1] - part.y[0]) * height,
    });
  }
  function release(event) {
    const part = drag && !drag.pan && event.type === "pointerup" ? boxed(inside(event, drag.panel)) : null;
    if (part) change(drag.panel, part);
    cancel();
  }
  function cancel() { drag = null; box.hidden = true; }
  field.addEventListener("pointerup", release);
  field.addEventListener("pointercancel", release);
  field.addEventListener("dblclick", () => { if (active()) ask(null); });

  field.addEventListener("keydown", (event) => {
    if (!active() || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape" && drag) { cancel(); return; }
    const wanted = partAfter(event.key, event.shiftKey);
    if (wanted === undefined) return;
    event.preventDefault();
    if (wanted) change(current, wanted);
    else ask(null);
  });

  return {
    active,
    landed,
    show(next, zoomed, fixed) {
      panels = next;
      current = largest(panels, current);
      on.hidden = fixed || !panels.length;
      back.hidden = on.hidden || !zoomed;
      if (on.hidden && active()) toggle();
    },
  };
}

// What a key asks to see; null: all, undefined: the key means nothing here.
function partAfter(key, shift) {
  const steps = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
  if (shift && key in steps) return { ...WHOLE, [steps[key][0]]: shifted([0, 1], steps[key][1] * KEY_STEP) };
  if (key === "+" || key === "=") return { x: about(0.5, KEY_ZOOM), y: about(0.5, KEY_ZOOM) };
  if (key === "-") return { x: about(0.5, 1 / KEY_ZOOM), y: about(0.5, 1 / KEY_ZOOM) };
  return key === "0" ? null : undefined;
}

// Until a panel has been used, the keys mean the largest.
function largest(panels, current) {
  if (current && current < panels.length) return current;
  const sizes = panels.map(({ width, height }) => width * height);
  return Math.max(0, sizes.indexOf(Math.max(...sizes)));
}
