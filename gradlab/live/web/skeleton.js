// The nodes of a view, in the order in which they are read.

import { KEYS, element } from "./dom.js";

export function buildSkeleton(el) {
  const root = element("div", "gl-live", el, { role: "group" });
  // As wide as the root lets it: what stands beside what depends on that.
  const frame = element("div", "gl-frame", root);
  const head = element("div", "gl-head", frame);
  const picture = element("div", "gl-picture", frame);
  const canvas = element("canvas", "gl-moving", picture, { role: "img" });
  // Where items and zoom take the pointer and the keys.
  const field = element("div", "gl-field", picture, KEYS);
  const areas = element("div", "gl-areas", picture);
  const layer = element("div", "gl-layer", picture); // marks over the picture
  const main = element("div", "gl-main", frame);
  const side = element("div", "gl-side", frame);
  const panel = element("div", "gl-controls", side);
  // Above "More", which would move it out of the window.
  const starts = element("div", "gl-starts", side);
  const more = element("details", "gl-more", side);
  const tools = element("div", "gl-tools", side);
  const foot = element("div", "gl-foot", frame);
  return {
    root,
    frame,
    head,
    picture,
    canvas,
    field,
    areas,
    layer,
    main,
    panel,
    more,
    starts,
    tools,
    foot,
  };
}

// What the keys do on the picture, said when it takes the focus; it takes the focus only if they do
// something.
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
