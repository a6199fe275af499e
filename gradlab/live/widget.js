// A figure whose moving parts are painted here: the still parts arrive once as a PNG, the moving ones as a display list
// (see display_list.py). Controls are native inputs; one request per view is under way at a time and the newest value wins.

const CAPS = ["butt", "round", "square"], JOINS = ["miter", "round", "bevel"];
const CLIP = 1, STYLE = 2, PATH = 3, MARKS = 4, STAMPS = 5, IMAGE = 6, TEXT = 7;
const MOVETO = 1, LINETO = 2, CURVE3 = 3, CURVE4 = 4, CLOSEPOLY = 79;
const IDENTITY = [1, 0, 0, 1, 0, 0];
const ANNOUNCE_MS = 1000, LOST_MS = 10000, NUDGE_MS = 30, NUDGES = 2;

// ---- painting -------------------------------------------------------------------------------------------------------

const styles = new Map();
function css(word) {
  let text = styles.get(word);
  if (text === undefined) {
    text = `rgba(${word & 255},${(word >> 8) & 255},${(word >> 16) & 255},${(word >>> 24) / 255})`;
    if (styles.size > 4096) styles.clear();
    styles.set(word, text);
  }
  return text;
}

function aligned(view) {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(view) ? view : new Uint8Array(view);
  return byteOffset % 4 ? { buffer: buffer.slice(byteOffset, byteOffset + byteLength), byteOffset: 0, byteLength }
    : { buffer, byteOffset, byteLength };
}

function readPath(data, at) {
  const count = data.u32[at], words = Math.ceil(count / 4);
  const first = at + 1 + words;
  return { count, codes: new Uint8Array(data.u32.buffer, data.u32.byteOffset + 4 * (at + 1), count),
    xy: data.f32.subarray(first, first + 2 * count), end: first + 2 * count };
}

function picture(bytes, width, height) {
  const pixels = new OffscreenCanvas(width, height);
  pixels.getContext("2d").putImageData(new ImageData(bytes, width, height), 0, 0);
  return pixels;
}

function trace(target, { codes, xy, count }, [a, b, c, d, e, f] = IDENTITY) {
  const X = (i) => a * xy[2 * i] + c * xy[2 * i + 1] + e, Y = (i) => b * xy[2 * i] + d * xy[2 * i + 1] + f;
  for (let i = 0; i < count; i++) {
    switch (codes[i]) {
      case MOVETO: target.moveTo(X(i), Y(i)); break;
      case LINETO: target.lineTo(X(i), Y(i)); break;
      case CURVE3: target.quadraticCurveTo(X(i), Y(i), X(i + 1), Y(i + 1)); i += 1; break;
      case CURVE4: target.bezierCurveTo(X(i), Y(i), X(i + 1), Y(i + 1), X(i + 2), Y(i + 2)); i += 2; break;
      case CLOSEPOLY: target.closePath(); break;
    }
  }
}

function ink(ctx, face, edge, shape) {
  if (face) { ctx.fillStyle = css(face); shape ? ctx.fill(shape) : ctx.fill(); }
  if (edge) { ctx.strokeStyle = css(edge); shape ? ctx.stroke(shape) : ctx.stroke(); }
}

const OPERATIONS = {
  [CLIP](ctx, data, at) {
    ctx.restore();
    ctx.save();
    if (data.u32[at]) {
      const [x0, y0, x1, y1] = data.f32.subarray(at + 1, at + 5);
      ctx.beginPath(); ctx.rect(x0, y0, x1 - x0, y1 - y0); ctx.clip();
    }
    const path = readPath(data, at + 5);
    if (path.count) { ctx.beginPath(); trace(ctx, path); ctx.clip(); }
    applyStyle(ctx, data);
  },
  [STYLE](ctx, data, at) { data.style = at; applyStyle(ctx, data); },
  [PATH](ctx, data, at) {
    ctx.beginPath();
    trace(ctx, readPath(data, at + 1));
    ink(ctx, data.u32[at], data.edge);
  },
  [MARKS](ctx, data, at) {
    const path = readPath(data, at + 1), shape = new Path2D();
    trace(shape, path);
    for (let i = 0, n = data.u32[path.end], p = path.end + 1; i < n; i++, p += 2) {
      ctx.setTransform(1, 0, 0, 1, data.f32[p], data.f32[p + 1]);
      ink(ctx, data.u32[at], data.edge, shape);
    }
    ctx.setTransform(...IDENTITY);
  },
  [STAMPS](ctx, data, at) {
    const path = readPath(data, at);
    for (let i = 0, n = data.u32[path.end], p = path.end + 1; i < n; i++, p += 9) {
      ctx.beginPath();
      trace(ctx, path, data.f32.subarray(p, p + 6));
      ink(ctx, data.u32[p + 6], pen(ctx, data.u32[p + 7], data.f32[p + 8]));
    }
    applyStyle(ctx, data);
  },
  [IMAGE](ctx, data, at) {
    const width = data.u32[at + 7], height = data.u32[at + 8];
    const bytes = new Uint8ClampedArray(data.u32.buffer, data.u32.byteOffset + 4 * (at + 9), 4 * width * height);
    const pixels = picture(bytes.slice(), width, height);
    ctx.globalAlpha = data.f32[at + 6];
    ctx.imageSmoothingEnabled = false; // data cells stay cells
    ctx.setTransform(...data.f32.subarray(at, at + 6));
    ctx.drawImage(pixels, 0, 0);
    ctx.setTransform(...IDENTITY);
    ctx.globalAlpha = 1;
  },
  [TEXT](ctx, data, at) { // coverage as Agg painted it
    const face = data.u32[at], left = data.u32[at + 1] | 0, top = data.u32[at + 2] | 0;
    const width = data.u32[at + 3], height = data.u32[at + 4], count = width * height;
    if (!count || !face) return;
    const mask = new Uint8Array(data.u32.buffer, data.u32.byteOffset + 4 * (at + 5), count), pixels = new Uint32Array(count);
    const rgb = face & 0xffffff, opacity = face >>> 24;
    for (let i = 0; i < count; i++) pixels[i] = rgb | (mask[i] * opacity / 255 + 0.5) << 24;
    ctx.drawImage(picture(new Uint8ClampedArray(pixels.buffer), width, height), left, top);
  },
};

// Skia draws pens of one pixel and less as hairlines, Agg by the area they cover: a slightly wider, fainter pen does that.
function pen(ctx, edge, width) {
  ctx.lineWidth = Math.max(width, 1.002);
  return width >= 1 ? edge : ((edge & 0xffffff) | Math.round((edge >>> 24) * width) << 24) >>> 0;
}

function applyStyle(ctx, data) {
  const at = data.style;
  if (at === undefined) return;
  data.edge = pen(ctx, data.u32[at], data.f32[at + 1]);
  ctx.lineCap = CAPS[data.u32[at + 2]];
  ctx.lineJoin = JOINS[data.u32[at + 3]];
  ctx.setLineDash(data.f32.subarray(at + 6, at + 6 + data.u32[at + 5]));
  ctx.lineDashOffset = data.f32[at + 4];
}

export function paint(ctx, list) {
  const { buffer, byteOffset, byteLength } = aligned(list);
  const data = { u32: new Uint32Array(buffer, byteOffset, byteLength >> 2), f32: new Float32Array(buffer, byteOffset, byteLength >> 2) };
  ctx.setTransform(...IDENTITY);
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.save();
  for (let at = 0; at < data.u32.length; at += data.u32[at + 1]) OPERATIONS[data.u32[at]]?.(ctx, data, at + 2);
  ctx.restore();
}

// ---- controls -------------------------------------------------------------------------------------------------------

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export const fromPosition = (s, position) => {
  if (position <= 0) return s.minimum;
  if (position >= s.count) return s.maximum;
  if (s.scale === "log") return Number((s.minimum * (s.maximum / s.minimum) ** (position / s.count)).toPrecision(s.digits));
  return Number((s.minimum + s.step * position).toFixed(s.digits));
};
export const toPosition = (s, value) => clamp(Math.round(s.scale === "log"
  ? s.count * Math.log(value / s.minimum) / Math.log(s.maximum / s.minimum) : (value - s.minimum) / s.step), 0, s.count);
const shown = (s, value) => {
  const fixed = s.scale === "log" ? String(Number(value.toPrecision(s.digits))) : value.toFixed(s.digits);
  const number = Number(fixed) === value ? fixed : String(Number(value.toPrecision(6)));
  return s.unit ? `${number} ${s.unit}` : number;
};

function element(tag, className, parent, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}

const KEYS = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab leaves the arrow keys of such an element alone

function labelled(tag, spec, parent, attributes) {
  const row = element("div", `gl-control gl-${spec.kind}`, parent);
  const id = `gl-${Math.random().toString(36).slice(2)}`; // its own among the controls of all labs in a page
  element("label", "", row, { for: id }).textContent = spec.label;
  return [row, element(tag, "", row, { id, ...KEYS, ...attributes })];
}

const CONTROLS = {
  slider(spec, parent, send) {
    const [row, input] = labelled("input", spec, parent, { type: "range", min: 0, max: spec.count, step: 1 });
    const text = element("output", "gl-value", row, { for: input.id, "aria-live": "off" });
    const show = (value) => { text.textContent = shown(spec, value); input.setAttribute("aria-valuetext", text.textContent); };
    const set = (value) => { input.value = toPosition(spec, value); show(value); };
    input.addEventListener("input", () => {
      const value = fromPosition(spec, Number(input.value));
      show(value);
      send(spec.name, value);
    });
    const drag = (value) => {
      const landed = fromPosition(spec, toPosition(spec, value));
      if (Number.isNaN(landed)) return;
      set(landed);
      send(spec.name, landed);
    };
    return { set, drag, input };
  },
  menu(spec, parent, send) {
    const [, input] = labelled("select", spec, parent, {});
    spec.options.forEach((label, index) => { element("option", "", input, { value: index }).textContent = label; });
    input.addEventListener("change", () => send(spec.name, Number(input.value)));
    return { set: (index) => { input.value = index; }, input };
  },
  button(spec, parent, send, press) {
    const input = element("button", "gl-control gl-button", parent, { type: "button", ...KEYS });
    input.textContent = spec.label;
    input.addEventListener("click", () => press(spec.name));
    const busy = (yes) => { input.disabled = yes; input.setAttribute("aria-busy", String(yes)); };
    return { set() {}, busy, input };
  },
};

// ---- the widget -----------------------------------------------------------------------------------------------------

function rowsInto(table, rows) {
  while (table.rows.length > rows.length) table.deleteRow(-1);
  rows.forEach(([name, value], i) => {
    const row = table.rows[i] ?? table.insertRow();
    if (!row.cells.length) row.append(element("th", "", null, { scope: "row" }), element("td", "", null));
    if (row.cells[0].textContent !== name) row.cells[0].textContent = name;
    if (row.cells[1].textContent !== value) row.cells[1].textContent = value;
  });
}

// What is said aloud follows what is shown, at most once in ANNOUNCE_MS, and always ends with the newest text.
function announcer(node) {
  let timer = null, next = null;
  const say = () => {
    if (next === null) { timer = null; return; }
    node.textContent = next;
    next = null;
    timer = setTimeout(say, ANNOUNCE_MS);
  };
  return { say(text) { next = text; if (timer === null) say(); }, stop() { clearTimeout(timer); } };
}

// Maps a pointer inside a drag area to the values of its sliders.
function dragArea(area, parent, move) {
  const node = element("div", "gl-area", parent, { "aria-hidden": "true", title: area.label });
  Object.assign(node.style, Object.fromEntries(["left", "top", "width", "height"].map((k) => [k, `${100 * area[k]}%`])));
  node.style.cursor = area.x && area.y ? "move" : area.x ? "ew-resize" : "ns-resize";
  const value = ({ first, last, log }, part) => log ? first * (last / first) ** part : first + (last - first) * part;
  const follow = (event) => {
    const box = node.getBoundingClientRect();
    if (area.x) move(area.x.name, value(area.x, (event.clientX - box.left) / box.width));
    if (area.y) move(area.y.name, value(area.y, (box.bottom - event.clientY) / box.height));
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault(); // no text selection
    node.setPointerCapture(event.pointerId);
    move((area.x ?? area.y).name, null);
    follow(event);
  });
  node.addEventListener("pointermove", (event) => { if (node.hasPointerCapture(event.pointerId)) follow(event); });
  return node;
}

function render({ model, el }) {
  const view = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  const root = element("div", "gl-live", el, { role: "group" });
  const picture = element("div", "gl-picture", root);
  const still = element("img", "gl-still", picture, { alt: "", "aria-hidden": "true" });
  const canvas = element("canvas", "gl-moving", picture, { role: "img" });
  const panel = element("div", "gl-controls", root);
  const readout = element("p", "gl-readout", root, { "aria-hidden": "true" });
  const said = announcer(element("p", "gl-said", root, { "aria-live": "polite" }));
  const details = element("details", "gl-values", root);
  element("summary", "", details, KEYS).textContent = "Values";
  const table = element("table", "", details);
  let values = []; // filled in while it is open, for layout costs time on every frame
  details.addEventListener("toggle", () => rowsInto(table, values));
  const ctx = canvas.getContext("2d", { willReadFrequently: true }); // painted by the processor: no trip to a GPU and back
  const controls = new Map();
  let ratio = 0, newest = -1, newestStill = -1, latest = null, areas = [], url = null, gone = false;

  // One request at a time; what changes meanwhile is kept, newest value only.
  let waiting = {}, flying = null, sent = 0;
  function flush() {
    const lost = flying && performance.now() - flying.since > LOST_MS; // an answer that never came must not block for good
    if ((flying && !lost) || !Object.keys(waiting).length) return;
    flying = { id: ++sent, values: waiting, since: performance.now() };
    waiting = {};
    model.send({ kind: "set", view, id: flying.id, values: flying.values });
    setTimeout(nudge, NUDGE_MS, flying.id);
  }
  // A server without TCP_NODELAY writes a small packet only when its last one was acknowledged, and a browser with nothing
  // to say acknowledges after 40 ms: the picture waits behind the kernel's status notes. Any word sends it off. `gradlab
  // lab` starts its server with TCP_NODELAY, and answers come before the first nudge.
  function nudge(id, left = NUDGES) {
    if (flying?.id !== id || !left) return;
    model.send({ kind: "nudge" });
    setTimeout(nudge, NUDGE_MS, id, left - 1);
  }
  const send = (name, value) => { waiting[name] = value; flush(); };
  const press = (name) => model.send({ kind: "press", view, name });
  const move = (name, value) => {
    const control = controls.get(name);
    value === null ? control.input.focus({ preventScroll: true }) : control.drag(value);
  };
  function answered(answer) {
    if (!answer || answer[0] !== view || answer[1] !== flying?.id) return;
    flying = null;
  }
  function place(values) { // a control that the reader is moving keeps the reader's value
    for (const [name, value] of Object.entries(values)) {
      if (!(name in waiting) && !(flying && name in flying.values)) controls.get(name)?.set(value);
    }
  }

  function tell(text, error = false) {
    if (readout.textContent !== text) { readout.textContent = text; said.say(text); }
    readout.classList.toggle("gl-error", error);
  }
  function describe({ alt, summary, table: rows }) {
    canvas.setAttribute("aria-label", alt);
    tell(summary);
    values = rows;
    if (details.open) rowsInto(table, values);
    details.hidden = !rows.length;
  }
  function show(message, list) {
    if (message.number < newest) return false; // overtaken
    newest = message.number;
    latest = [message, list];
    paint(ctx, list);
    root.dataset.frame = newest;
    describe(message);
    return true;
  }
  async function showStill(message, png, list) {
    newestStill = message.number;
    const next = URL.createObjectURL(new Blob([png], { type: "image/png" })), image = new Image();
    image.src = next;
    await image.decode().catch(() => {});
    if (gone || message.number < newestStill) { URL.revokeObjectURL(next); return; }
    still.src = next;
    if (url) URL.revokeObjectURL(url);
    url = next;
    const [width, height] = message.size;
    picture.style.maxWidth = `${width}px`;
    picture.style.aspectRatio = `${width} / ${height}`;
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    areas.forEach((area) => area.remove());
    areas = message.areas.map((area) => dragArea(area, picture, move));
    // Frames that arrived while the still picture was decoded are newer than the one that came with it.
    const newer = latest && latest[0].number > message.number && latest[0].ratio === ratio;
    newest = -1;
    show(...(newer ? latest : [message, list]));
  }
  function setup(message, [png, list]) {
    if (message.view !== view) return;
    ratio = message.ratio;
    if (!controls.size) {
      root.setAttribute("aria-label", message.label);
      panel.hidden = !message.controls.length;
      for (const spec of message.controls) controls.set(spec.name, CONTROLS[spec.kind](spec, panel, send, press));
    }
    for (const name of message.busy) controls.get(name).busy(true);
    place(message.values);
    showStill(message, png, list).then(() => {
      if (message.status.text) tell(message.status.text, message.status.error);
    });
  }

  const handlers = {
    setup,
    still(message, [png, list]) { if (message.ratio === ratio) { place(message.values); showStill(message, png, list); } },
    frame(message, [list]) {
      if (message.ratio !== ratio) return;
      answered(message.answer);
      flush(); // the kernel works on the next one while this one is painted
      if (show(message, list)) place(message.values);
    },
    answer(message) { answered(message.answer); place(message.values); flush(); },
    status: (message) => tell(message.text, message.error),
    busy: (message) => controls.get(message.name)?.busy(message.busy),
  };
  const receive = (message, buffers) => handlers[message?.kind]?.(message, buffers ?? []);

  const open = () => model.send({ kind: "open", view, ratio: window.devicePixelRatio || 1 });
  let screen = null;
  function watchScreen() { // zooming, or moving to another screen
    screen = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    screen.addEventListener("change", changed, { once: true });
  }
  function changed() { watchScreen(); open(); }

  root.addEventListener("keydown", (event) => event.stopPropagation()); // keys here are not the notebook's
  model.on("msg:custom", receive);
  watchScreen();
  open();

  return () => {
    gone = true;
    model.off("msg:custom", receive);
    screen.removeEventListener("change", changed);
    said.stop();
    if (url) URL.revokeObjectURL(url);
    model.send({ kind: "close", view });
    root.remove();
  };
}

export default { render };
