// Things that several panels show: pointing at one marks it in all of them, and a click or the keys select it.

import { contains, element, partsOf } from "./dom.js";
import { readItems } from "./list.js";

const REACH_PIXELS = 24;
const CLICK_PIXELS = 4;
const NONE = { count: 0, places: [], columns: [] };

const written = (number) => (Number.isFinite(number) ? String(Number(number.toPrecision(4))) : "–");

export function addItems({ picture, field, canvas, layer }, model, press, changed) {
  const pointed = newRings(layer, "gl-ring"), chosen = newRings(layer, "gl-ring gl-chosen");
  const tip = element("div", "gl-tip", layer, { "aria-hidden": "true", hidden: "" });
  let meta = null, panels = [], items = NONE, hovered = null, selected = null;

  const panelAt = (place) => panels.findIndex((panel) => contains(panel, place));
  const exists = (index) => index !== null && index >= 0 && index < items.count;

  // Parts of the picture from its top left corner; null where a panel does not show the item.
  function spot(panel, index) {
    const x = items.places[panel]?.[2 * index], y = items.places[panel]?.[2 * index + 1];
    return Number.isFinite(x) && Number.isFinite(y) ? { x: x / canvas.width, y: y / canvas.height } : null;
  }
  function near(event) { // the nearest item of the panel under the pointer
    const place = partsOf(event, picture), panel = panelAt(place), { width, height } = picture.getBoundingClientRect();
    let best = null;
    for (let index = 0; panel >= 0 && index < items.count; index++) {
      const there = spot(panel, index);
      const away = there ? Math.hypot((there.x - place.x) * width, (there.y - place.y) * height) : Infinity;
      if (away <= (best?.away ?? REACH_PIXELS)) best = { panel, index, away };
    }
    return best;
  }
  function values(index) {
    return meta.columns.map((name, k) => [name, written(items.columns[k][index])]);
  }
  function text() {
    if (!exists(selected)) return "";
    const numbers = values(selected).map((pair) => pair.join(" ")).join(", ");
    return numbers ? `${meta.name} ${selected}: ${numbers}` : `${meta.name} ${selected}`;
  }
  function mark() {
    const spots = (index) => (exists(index) ? panels.map((_, panel) => spot(panel, index)).filter(Boolean) : []);
    chosen(spots(selected));
    pointed(hovered && hovered.index !== selected ? spots(hovered.index) : []);
    const index = hovered?.index ?? selected;
    const there = (hovered && spot(hovered.panel, hovered.index)) ?? spots(index)[0];
    tip.hidden = !exists(index) || !there;
    if (!tip.hidden) showTip(tip, there, `${meta.name} ${index}`, values(index));
  }
  function select(index, mine = true) {
    selected = index;
    mark();
    changed();
    if (!mine) return;
    model.set("selected", index);
    model.save_changes();
  }
  function hover(next) {
    if (next?.index === hovered?.index && next?.panel === hovered?.panel) return;
    hovered = next;
    mark();
  }
  const usable = () => Boolean(meta) && items.count > 0;

  picture.addEventListener("pointermove", (event) => { if (usable()) hover(event.buttons ? null : near(event)); });
  picture.addEventListener("pointerleave", () => hover(null));
  let down = null;
  picture.addEventListener("pointerdown", (event) => {
    press.taken = false;
    down = { x: event.clientX, y: event.clientY };
  }, true);
  picture.addEventListener("pointerup", (event) => {
    const still = down && Math.hypot(event.clientX - down.x, event.clientY - down.y) <= CLICK_PIXELS;
    down = null;
    if (event.button || press.taken || !still || !usable()) return;
    const item = near(event);
    if (!item) return;
    field.focus({ preventScroll: true }); // the keys go on from here
    select(item.index === selected ? null : item.index);
  });
  field.addEventListener("keydown", (event) => {
    if (!usable() || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = indexAfter(event.key, selected, items.count);
    if (next === undefined || (next === null && selected === null)) return;
    event.preventDefault();
    if (next !== selected) select(next);
  });
  const heard = () => {
    const index = model.get("selected") ?? null;
    if (index !== selected) select(index, false);
  };
  model.on("change:selected", heard);

  return {
    show(next, boxes) {
      meta = next;
      panels = boxes;
      if (selected === null) selected = model.get("selected") ?? null;
    },
    frame(list) {
      items = meta ? readItems(list) : NONE;
      mark();
    },
    text,
    closer: (event, away) => usable() && (near(event)?.away ?? Infinity) < away,
    name: () => (usable() ? meta.name : ""),
    stop: () => model.off("change:selected", heard),
  };
}

// Which item a key leads to; null: none, undefined: the key means nothing here.
function indexAfter(key, index, count) {
  const last = count - 1;
  switch (key) {
    case "ArrowRight": return index === null ? 0 : Math.min(index + 1, last);
    case "ArrowLeft": return index === null ? last : Math.max(index - 1, 0);
    case "Home": return 0;
    case "End": return last;
    case "Escape": return null;
    default: return undefined;
  }
}

function newRings(layer, className) {
  const rings = [];
  return (spots) => {
    while (rings.length < spots.length) rings.push(element("div", className, layer));
    rings.forEach((ring, k) => {
      ring.hidden = k >= spots.length;
      if (!ring.hidden) Object.assign(ring.style, { left: `${100 * spots[k].x}%`, top: `${100 * spots[k].y}%` });
    });
  };
}

function showTip(tip, { x, y }, title, rows) {
  tip.replaceChildren();
  element("strong", "", tip).textContent = title;
  for (const [name, value] of rows) element("span", "", tip).textContent = `${name} ${value}`;
  Object.assign(tip.style, { left: `${100 * x}%`, top: `${100 * y}%` });
  tip.classList.toggle("gl-left", x > 0.5); // into the larger part of the picture
  tip.classList.toggle("gl-above", y > 0.5);
}
