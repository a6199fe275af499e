// Painting a display list on a canvas.

import { CODES, bytesAt, forEachOperation, readPath, readWords } from "./list.js";

const CAPS = ["butt", "round", "square"];
const JOINS = ["miter", "round", "bevel"];
const MOVETO = 1;
const LINETO = 2;
const CURVE3 = 3;
const CURVE4 = 4;
const CLOSEPOLY = 79;
const IDENTITY = [1, 0, 0, 1, 0, 0];
const REMEMBERED = 4096;
const REMEMBERED_TEXTS = 1024; // several times what a picture holds

const styles = new Map();
const texts = new Map();

function remember(memory, most, key, made) {
  if (memory.size >= most) memory.delete(memory.keys().next().value); // the oldest
  memory.set(key, made);
  return made;
}

function css(word) {
  return (
    styles.get(word) ??
    remember(
      styles,
      REMEMBERED,
      word,
      `rgba(${word & 255},${(word >> 8) & 255},${(word >> 16) & 255},${(word >>> 24) / 255})`,
    )
  );
}

function picture(bytes, width, height) {
  const pixels = new OffscreenCanvas(width, height);
  // Painted by the processor, as the canvas it goes to.
  const ctx = pixels.getContext("2d", { willReadFrequently: true });
  ctx.putImageData(new ImageData(bytes, width, height), 0, 0);
  return pixels;
}

function trace(target, { codes, xy, count }, [a, b, c, d, e, f] = IDENTITY) {
  const X = (i) => a * xy[2 * i] + c * xy[2 * i + 1] + e;
  const Y = (i) => b * xy[2 * i] + d * xy[2 * i + 1] + f;
  for (let i = 0; i < count; i++) {
    switch (codes[i]) {
      case MOVETO:
        target.moveTo(X(i), Y(i));
        break;
      case LINETO:
        target.lineTo(X(i), Y(i));
        break;
      case CURVE3:
        target.quadraticCurveTo(X(i), Y(i), X(i + 1), Y(i + 1));
        i += 1;
        break;
      case CURVE4:
        target.bezierCurveTo(X(i), Y(i), X(i + 1), Y(i + 1), X(i + 2), Y(i + 2));
        i += 2;
        break;
      case CLOSEPOLY:
        target.closePath();
        break;
    }
  }
}

function ink(ctx, face, edge, shape) {
  if (face) {
    ctx.fillStyle = css(face);
    shape ? ctx.fill(shape) : ctx.fill();
  }
  if (edge) {
    ctx.strokeStyle = css(edge);
    shape ? ctx.stroke(shape) : ctx.stroke();
  }
}

// Skia draws pens of one pixel and less as hairlines, Agg by the area they cover: a wider, fainter
// pen does that.
function pen(ctx, edge, width) {
  ctx.lineWidth = Math.max(width, 1.002);
  return width >= 1 ? edge : ((edge & 0xffffff) | (Math.round((edge >>> 24) * width) << 24)) >>> 0;
}

function applyStyle(ctx, data) {
  const at = data.style;
  if (at === undefined) return;
  data.edge = pen(ctx, data.color(data.u32[at]), data.f32[at + 1]);
  ctx.lineCap = CAPS[data.u32[at + 2]];
  ctx.lineJoin = JOINS[data.u32[at + 3]];
  ctx.setLineDash(data.f32.subarray(at + 6, at + 6 + data.u32[at + 5]));
  ctx.lineDashOffset = data.f32[at + 4];
}

// A text is coverage as Agg painted it; most texts stay from frame to frame, so their colored
// pixels are kept.
function lettering(data, at, face, width, height) {
  const size = Math.ceil((width * height) / 4);
  const mask = data.u32.subarray(at, at + size);
  let hash = face;
  for (const word of mask) hash = Math.imul(hash ^ word, 0x01000193);
  const key = `${hash} ${width} ${height}`;
  const known = texts.get(key);
  if (known && known.face === face && known.mask.every((word, i) => word === mask[i]))
    return known.pixels;
  const pixels = colored(bytesAt(data, at, width * height), face, width, height);
  return remember(texts, REMEMBERED_TEXTS, key, { face, mask: mask.slice(), pixels }).pixels;
}

function colored(coverage, face, width, height) {
  const pixels = new Uint32Array(coverage.length);
  const rgb = face & 0xffffff;
  const opacity = face >>> 24;
  coverage.forEach((part, i) => {
    pixels[i] = rgb | (((part * opacity) / 255 + 0.5) << 24);
  });
  return picture(new Uint8ClampedArray(pixels.buffer), width, height);
}

const OPERATIONS = {
  [CODES.CLIP](ctx, data, at) {
    ctx.restore();
    ctx.save();
    if (data.u32[at]) {
      const [x0, y0, x1, y1] = data.f32.subarray(at + 1, at + 5);
      ctx.beginPath();
      ctx.rect(x0, y0, x1 - x0, y1 - y0);
      ctx.clip();
    }
    const path = readPath(data, at + 5);
    if (path.count) {
      ctx.beginPath();
      trace(ctx, path);
      ctx.clip();
    }
    applyStyle(ctx, data);
  },
  [CODES.STYLE](ctx, data, at) {
    data.style = at;
    applyStyle(ctx, data);
  },
  [CODES.PATH](ctx, data, at) {
    ctx.beginPath();
    trace(ctx, readPath(data, at + 1));
    ink(ctx, data.color(data.u32[at]), data.edge);
  },
  // Stamping a picture of the marker is no faster than filling its path again: both take about 4 us
  // each.
  [CODES.MARKS](ctx, data, at) {
    const path = readPath(data, at + 1);
    const shape = new Path2D();
    const face = data.color(data.u32[at]);
    trace(shape, path);
    for (let i = 0, n = data.u32[path.end], p = path.end + 1; i < n; i++, p += 2) {
      ctx.setTransform(1, 0, 0, 1, data.f32[p], data.f32[p + 1]);
      ink(ctx, face, data.edge, shape);
    }
    ctx.setTransform(...IDENTITY);
  },
  [CODES.STAMPS](ctx, data, at) {
    const path = readPath(data, at);
    for (let i = 0, n = data.u32[path.end], p = path.end + 1; i < n; i++, p += 9) {
      ctx.beginPath();
      trace(ctx, path, data.f32.subarray(p, p + 6));
      ink(ctx, data.color(data.u32[p + 6]), pen(ctx, data.color(data.u32[p + 7]), data.f32[p + 8]));
    }
    applyStyle(ctx, data);
  },
  [CODES.IMAGE](ctx, data, at) {
    const width = data.u32[at + 7];
    const height = data.u32[at + 8];
    const pixels = picture(
      new Uint8ClampedArray(bytesAt(data, at + 9, 4 * width * height)),
      width,
      height,
    );
    ctx.globalAlpha = data.f32[at + 6];
    ctx.imageSmoothingEnabled = false; // data cells stay cells
    ctx.setTransform(...data.f32.subarray(at, at + 6));
    ctx.drawImage(pixels, 0, 0);
    ctx.setTransform(...IDENTITY);
    ctx.globalAlpha = 1;
  },
  [CODES.TEXT](ctx, data, at) {
    const face = data.color(data.u32[at]);
    const width = data.u32[at + 3];
    const height = data.u32[at + 4];
    if (!width || !height || !face) return;
    ctx.drawImage(
      lettering(data, at + 5, face, width, height),
      data.u32[at + 1] | 0,
      data.u32[at + 2] | 0,
    );
  },
};

// `scheme` takes the colors of the list, which are those of a light page, to those of a dark one.
export function paint(ctx, list, scheme = null) {
  const data = readWords(list);
  data.color = scheme ? (word) => scheme.get(word) ?? word : (word) => word;
  ctx.setTransform(...IDENTITY);
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.save();
  forEachOperation(data, (code, at) => OPERATIONS[code]?.(ctx, data, at));
  ctx.restore();
}
