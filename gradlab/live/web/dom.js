// Building blocks of the page.

// JupyterLab leaves the keys of a focused element that carries this alone.
export const KEYS = { "data-lm-suppress-shortcuts": "true" };

const ICONS = {
  back: "M11 3v10L4 8zM3 3h1.6v10H3z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5zM11.4 3H13v10h-1.6z",
  loop: "M8 3.2V1l3.6 3L8 7V4.8A3.4 3.4 0 1 0 11.4 8.2H13A5 5 0 1 1 8 3.2z",
};

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export function element(tag, className, parent, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}

// Words that are there already are not written again: that would lay out what is around them.
export const setText = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

export function button(parent, label, press, className = "gl-small") {
  const node = element("button", className, parent, { type: "button", ...KEYS });
  node.textContent = label;
  node.addEventListener("click", press);
  return node;
}

export function iconButton(parent, icon, label, press) {
  const node = button(parent, "", press, "gl-icon");
  drawIcon(node, icon, label);
  return node;
}

export function drawIcon(node, icon, label) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[icon]);
  svg.append(path);
  node.replaceChildren(svg);
  node.setAttribute("aria-label", label);
  node.title = label;
}

// Boxes, panels and areas are fractions of the picture from its top left corner.
export function placeBox(node, { left, top, width, height }) {
  const parts = { left, top, width, height };
  for (const [side, part] of Object.entries(parts)) node.style[side] = `${100 * part}%`;
}

export function partsOf(event, node) {
  const box = node.getBoundingClientRect();
  return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
}

const CLICK = 4; // CSS pixels within which a press is no drag

export const isClick = (down, { clientX, clientY }) =>
  Math.hypot(clientX - down.clientX, clientY - down.clientY) <= CLICK;

export const contains = ({ left, top, width, height }, { x, y }) =>
  x >= left && x <= left + width && y >= top && y <= top + height;
