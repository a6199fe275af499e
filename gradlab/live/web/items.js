// Things that several panels show: pointing at one marks it in all of them, and a click or the keys
// select it.

import { contains, element, isClick, partsOf } from "./dom.js";
import { readItems } from "./list.js";
import { plain } from "./numbers.js";

const REACH_PIXELS = 24;
const NONE = { count: 0, places: [], columns: [] };

class Items {
  constructor({ picture, field, canvas, layer }, model, press, changed) {
    Object.assign(this, { picture, field, canvas, model, press, changed });
    this.pointed = newRings(layer, "gl-ring");
    this.chosen = newRings(layer, "gl-ring gl-chosen");
    this.tip = element("div", "gl-tip", layer, { "aria-hidden": "true", hidden: "" });
    this.meta = null; // what an item is called, and its columns
    this.panels = [];
    this.items = NONE;
    this.hovered = this.selected = this.down = null;
    this.listen();
  }

  listen() {
    this.picture.addEventListener("pointermove", (event) => {
      if (this.usable()) this.hover(event.buttons ? null : this.near(event));
    });
    this.picture.addEventListener("pointerleave", () => this.hover(null));
    this.picture.addEventListener(
      "pointerdown",
      (event) => {
        this.press.taken = false;
        this.down = event;
      },
      true,
    );
    this.picture.addEventListener("pointerup", this.endPress);
    this.field.addEventListener("keydown", this.pressKey);
    this.model.on("change:selected", this.heard);
  }
  stop = () => this.model.off("change:selected", this.heard);

  usable() {
    return Boolean(this.meta) && this.items.count > 0;
  }
  name() {
    return this.usable() ? this.meta.name : "";
  }
  exists(index) {
    return index !== null && index >= 0 && index < this.items.count;
  }
  spot(panel, index) {
    return spotOf(this.items, panel, index, this.canvas);
  }
  near(event) {
    // the nearest item of the panel under the pointer
    const place = partsOf(event, this.picture);
    const size = this.picture.getBoundingClientRect();
    const panel = this.panels.findIndex((box) => contains(box, place));
    return panel < 0
      ? null
      : nearestItem(this.items.count, (index) => this.spot(panel, index), place, size, panel);
  }
  // Whether a click here is not meant for a handle that is `away` pixels off: it would throw a
  // state away.
  closer = (event, away) =>
    this.usable() && (away > REACH_PIXELS || (this.near(event)?.away ?? Infinity) < away);
  values(index) {
    return this.meta.columns.map((name, k) => [name, written(this.items.columns[k][index])]);
  }
  text() {
    if (!this.exists(this.selected)) return "";
    const numbers = this.values(this.selected)
      .map((pair) => pair.join(" "))
      .join(", ");
    const title = this.title(this.selected);
    return numbers ? `${title}: ${numbers}` : title;
  }
  title(index) {
    return this.meta.names?.[index] ?? `${this.meta.name} ${index}`;
  }

  show(meta, panels) {
    this.meta = meta;
    this.panels = panels;
    this.selected ??= this.model.get("selected") ?? null;
  }
  frame(list) {
    this.items = this.meta ? readItems(list) : NONE;
    this.mark();
  }
  mark() {
    const { hovered, selected } = this;
    const spots = (index) => this.panels.map((_, panel) => this.spot(panel, index)).filter(Boolean);
    const marked = (index) => (this.exists(index) ? spots(index) : []);
    this.chosen(marked(selected));
    this.pointed(hovered && hovered.index !== selected ? marked(hovered.index) : []);
    const index = hovered?.index ?? selected;
    const there = (hovered && this.spot(hovered.panel, hovered.index)) ?? marked(index)[0];
    this.tip.hidden = !this.exists(index) || !there;
    if (!this.tip.hidden) showTip(this.tip, there, this.title(index), this.values(index));
  }
  hover(next) {
    if (next?.index === this.hovered?.index && next?.panel === this.hovered?.panel) return;
    this.hovered = next;
    this.mark();
  }
  choose(index) {
    this.selected = index;
    this.mark();
    this.changed();
  }
  select(index) {
    this.choose(index);
    this.model.set("selected", index);
    this.model.save_changes();
  }

  heard = () => {
    const index = this.model.get("selected") ?? null;
    if (index !== this.selected) this.choose(index);
  };
  endPress = (event) => {
    const click = this.down && isClick(this.down, event);
    this.down = null;
    if (event.button || this.press.taken || !click || !this.usable()) return;
    const item = this.near(event);
    if (!item) return;
    this.field.focus({ preventScroll: true }); // the keys go on from here
    this.select(item.index === this.selected ? null : item.index);
  };
  pressKey = (event) => {
    if (!this.usable() || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = indexAfter(event.key, this.selected, this.items.count);
    if (next === undefined || (next === null && this.selected === null)) return;
    event.preventDefault();
    this.hovered = null; // where the pointer rests is not what the reader is looking at now
    if (next !== this.selected) this.select(next);
  };
}

// `press` is as for handles; `changed` hears that another item is selected.
export const addItems = (parts, model, press, changed) => new Items(parts, model, press, changed);

const written = (number) =>
  Number.isFinite(number) ? plain(String(Number(number.toPrecision(4)))) : "–";

// Parts of the picture from its top left corner; null where a panel does not show the item.
function spotOf({ places }, panel, index, { width, height }) {
  const x = places[panel]?.[2 * index];
  const y = places[panel]?.[2 * index + 1];
  return Number.isFinite(x) && Number.isFinite(y) ? { x: x / width, y: y / height } : null;
}

function nearestItem(count, spot, place, { width, height }, panel) {
  let best = null;
  for (let index = 0; index < count; index++) {
    const there = spot(index);
    const away = there
      ? Math.hypot((there.x - place.x) * width, (there.y - place.y) * height)
      : Infinity;
    if (away <= (best?.away ?? REACH_PIXELS)) best = { panel, index, away };
  }
  return best;
}

// Which item a key leads to; null: none, undefined: the key means nothing here.
function indexAfter(key, index, count) {
  const last = count - 1;
  switch (key) {
    case "ArrowRight":
      return index === null ? 0 : Math.min(index + 1, last);
    case "ArrowLeft":
      return index === null ? last : Math.max(index - 1, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Escape":
      return null;
    default:
      return undefined;
  }
}

function newRings(layer, className) {
  const rings = [];
  return (spots) => {
    while (rings.length < spots.length) rings.push(element("div", className, layer));
    rings.forEach((ring, k) => {
      ring.hidden = k >= spots.length;
      if (!ring.hidden)
        Object.assign(ring.style, { left: `${100 * spots[k].x}%`, top: `${100 * spots[k].y}%` });
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
