// The nodes of a view, in the order in which they are read.

import { KEYS, button, element } from "./dom.js";

export function buildSkeleton(el) {
  const root = element("div", "gl-live", el, { role: "group" });
  const picture = element("div", "gl-picture", root);
  const canvas = element("canvas", "gl-moving", picture, { role: "img" });
  const field = element("div", "gl-field", picture, KEYS); // where items and zoom take the pointer and the keys
  const areas = element("div", "gl-areas", picture);
  const layer = element("div", "gl-layer", picture); // marks over the picture
  const panel = element("div", "gl-controls", root);
  const tools = element("div", "gl-tools", root);
  return { root, picture, canvas, field, areas, layer, panel, tools };
}

// What the keys do on the picture, said when it takes the focus; it takes the focus only if they do something.
export function describeField(field, itemName, zooming) {
  const uses = [];
  if (itemName) uses.push(`Left and Right go from ${itemName} to ${itemName}, Escape lets go`);
  if (zooming) uses.push("plus and minus zoom, Shift with an arrow moves, 0 shows all");
  if (!uses.length) {
    for (const name of ["role", "aria-label", "tabindex"]) field.removeAttribute(name);
    return;
  }
  field.setAttribute("role", "application"); // or a screen reader would keep the keys
  field.setAttribute("aria-label", `Picture: ${uses.join("; ")}.`);
  field.tabIndex = 0;
}

export function addPresets(tools, presets, start, moved) {
  if (presets.length) {
    const group = element("span", "gl-presets", tools, { role: "group", "aria-label": "Presets" });
    for (const { label, values } of presets) button(group, label, () => moved(values));
  }
  if (Object.keys(start).length) button(tools, "Reset", () => moved(start));
}
