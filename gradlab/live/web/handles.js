// Handles in the picture that move sliders. Each is a slider itself; pressing in an area takes its
// nearest handle.

import {
  distance,
  positionAfter,
  sketchDirection,
  standsAt,
  valuesAt,
  valuesUnder,
} from "./areas.js";
import { KEYS, clamp, element, isClick, partsOf, placeBox } from "./dom.js";
import { shown } from "./positions.js";

// `press` is shared by all who listen to the pointer: whoever has used a press sets `taken`.
// `onItem(event, away)` says whether a click belongs to the items of the picture, the handle being
// `away`: then only a drag moves the handle.
export function addHandles(layer, controls, moved, press, onItem) {
  let groups = [];
  let shape = "";

  function show(areas) {
    const moves = (axis) => !axis || !controls.get(axis.name).spec.fixed;
    const usable = areas.filter((area) => moves(area.x) && moves(area.y));
    const place = ({ left, top, width, height }) => [left, top, width, height].join();
    const sorted = [...Map.groupBy(usable, place).values()];
    const now = JSON.stringify(
      sorted.map((all) => all.map(({ label, x, y }) => [label, x?.name, y?.name])),
    );
    if (now !== shape) build(sorted);
    shape = now;
    groups.forEach((group, k) => renew(group, sorted[k]));
    follow();
  }
  function build(sorted) {
    // only when there are other handles: a new node would lose the focus
    layer.replaceChildren();
    groups = sorted.map((areas) => newGroup(layer, areas, controls));
    groups.forEach((group) => listen(group, controls, moved, press, onItem));
  }
  function follow() {
    for (const { node, areas, nodes } of groups) {
      areas.forEach((area, k) => showHandle(nodes[k], area, controls));
      node.hidden = nodes.every((handle) => handle.hidden);
    }
  }
  return { show, follow };
}

function newGroup(layer, areas, controls) {
  const node = element("div", "gl-area", layer);
  return { node, areas, nodes: areas.map((area) => newHandle(node, area, controls)) };
}

function renew(group, areas) {
  group.areas = areas;
  group.sketch = sketchDirection(areas);
  placeBox(group.node, areas[0]);
  const x = areas.some((area) => area.x);
  const y = areas.some((area) => area.y);
  group.node.style.touchAction = x && y ? "none" : x ? "pan-y" : "pan-x";
  group.node.style.cursor = x && y ? "move" : x ? "ew-resize" : "ns-resize";
}

function newHandle(parent, area, controls) {
  const axes = [area.x, area.y].filter(Boolean).map((axis) => controls.get(axis.name));
  const names = axes.map((control) => control.spec.label).join(" and ");
  const node = element("div", "gl-handle", parent, {
    role: "slider",
    tabindex: "0",
    "aria-label": area.label || `${names}, in the picture`,
    ...KEYS,
  });
  if (axes.length === 1) node.setAttribute("aria-orientation", area.y ? "vertical" : "horizontal");
  node.addEventListener("keydown", (event) => pressKey(event, axes));
  return node;
}

function showHandle(node, area, controls) {
  const stand = standsAt(area, controls);
  const axes = [area.x, area.y].filter(Boolean).map(({ name }) => controls.get(name));
  node.hidden = axes.some(({ stuck }) => stuck);
  const percent = (part) => (part === null ? "" : `${100 * clamp(part, 0, 1)}%`);
  node.style.left = percent(stand.x);
  node.style.top = percent(stand.y === null ? null : 1 - stand.y);
  node.classList.toggle("gl-row", stand.x === null);
  node.classList.toggle("gl-column", stand.y === null);
  const texts = axes.map(
    ({ spec, value }) => (axes.length > 1 ? `${spec.label} ` : "") + shown(spec, value),
  );
  const [{ spec, value }] = axes;
  const said = {
    valuenow: value,
    valuemin: spec.minimum,
    valuemax: spec.maximum,
    valuetext: texts.join(", "),
  };
  for (const [name, text] of Object.entries(said)) node.setAttribute(`aria-${name}`, text);
}

// A point goes left and right by one slider and up and down by the other; the long keys belong to
// the first.
function pressKey(event, axes) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const upright = axes.length > 1 && (event.key === "ArrowUp" || event.key === "ArrowDown");
  const control = axes[upright ? 1 : 0];
  const position = positionAfter(event.key, control.position(), control.spec.count);
  if (position === undefined) return;
  event.preventDefault();
  control.move(position);
}

function listen(group, controls, moved, press, onItem) {
  const { node } = group;
  let start = null;
  let last = null;

  const place = (event) => {
    const { x, y } = partsOf(event, node);
    return { x, y: 1 - y };
  };
  const nearest = (event) => {
    const here = place(event);
    const box = node.getBoundingClientRect();
    const size = { x: box.width, y: box.height };
    const to = (area, k) =>
      group.nodes[k].hidden
        ? Infinity
        : distance(standsAt(area, controls), here, size, group.sketch);
    const away = group.areas.map(to);
    return { k: away.indexOf(Math.min(...away)), away: Math.min(...away) };
  };
  function take() {
    press.taken = start.taken = true;
    group.nodes[start.k].focus({ preventScroll: true });
    last = start.place;
    moved(valuesAt(group.areas[start.k], last, controls));
  }
  function drag(event) {
    const here = place(event);
    if (group.sketch) {
      const { k } = nearest(event);
      const under = valuesUnder(group.areas, last, here, group.sketch, controls);
      if (group.nodes[k] !== document.activeElement) group.nodes[k].focus({ preventScroll: true });
      moved({ ...under, ...valuesAt(group.areas[k], here, controls) });
    } else moved(valuesAt(group.areas[start.k], here, controls));
    last = here;
  }
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault(); // no text selection
    node.setPointerCapture(event.pointerId);
    const { k, away } = nearest(event);
    start = { down: event, place: place(event), k, taken: false };
    if (!onItem(event, away)) take();
  });
  node.addEventListener("pointermove", (event) => {
    if (!start || !node.hasPointerCapture(event.pointerId)) return;
    if (!start.taken && isClick(start.down, event)) return;
    if (!start.taken) take();
    drag(event);
  });
  for (const end of ["pointerup", "pointercancel"])
    node.addEventListener(end, () => {
      start = null;
    });
}
