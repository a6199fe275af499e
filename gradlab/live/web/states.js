// The states of a saved page, as packed.py wrote them: display lists as their differences from the
// one before.

import { CODES } from "./list.js";
import { unpack } from "./packed.js";

const PARTS = 16; // of a pixel
const NOWHERE = -(2 ** 31);
const HEAD = 9; // words of an image before its pixels, of which each byte is a number
const SAME = 0;
const NEW = 1;
const EARLIER = 2;

// The coverage of all texts: functions that give a text as words.
export async function unpackMasks(packed) {
  const { contents: sizes, next } = await unpack(packed);
  const masks = [];
  for (let k = 0; k < sizes.length; k += 2) {
    const [width, height] = [sizes[k], sizes[k + 1]];
    const shades = next(width * Math.ceil(height / 2));
    masks.push(() => coverage(shades, width, height));
  }
  return masks;
}

function coverage(shades, width, height) {
  const words = new Uint32Array(2 + Math.ceil((width * height) / 4));
  const bytes = new Uint8Array(words.buffer, 8);
  words.set([width, height]);
  const column = Math.ceil(height / 2);
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) {
      const two = shades[x * column + (y >> 1)];
      bytes[y * width + x] = 17 * (y % 2 ? two & 15 : two >> 4);
    }
  }
  return words;
}

// The states of a layout: what each says of itself, and a function that gives its display list.
export async function unpackStates(packed, masks) {
  const { contents: rows, rest } = await unpack(packed);
  const read = reader(rest());
  const known = [];
  let before = [];
  return rows.map((row) => {
    const now = Array.from({ length: read() }, (_, place) => operation(read, before[place], known));
    before = now;
    return { row, list: () => listOf(now, masks) };
  });
}

function reader(bytes) {
  let at = 0;
  return () => {
    let number = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      number += (byte & 127) * scale;
      if (byte < 128) return number;
      scale *= 128;
    }
  };
}

function operation(read, before, known) {
  const what = read();
  if (what === SAME) return before;
  if (what >= EARLIER) return known[what - EARLIER];
  const code = read();
  const words = new Int32Array(read());
  const alike = read();
  for (let k = 0; k < words.length; k++) {
    const folded = read();
    words[k] = (folded % 2 ? -(folded + 1) / 2 : folded / 2) + (alike ? before.words[k] : 0);
  }
  known.push({ code, words });
  return known.at(-1);
}

function listOf(operations, masks) {
  const parts = operations.map(({ code, words }) => [
    code,
    (LISTED[code] ?? placed)(words, code, masks),
  ]);
  const list = new Uint32Array(parts.reduce((sum, [, words]) => sum + words.length + 2, 0));
  let at = 0;
  for (const [code, words] of parts) {
    list.set([code, words.length + 2], at);
    list.set(words, at + 2);
    at += words.length + 2;
  }
  return new DataView(list.buffer);
}

function lettered(words, _code, masks) {
  const mask = masks[words[3]]();
  const whole = new Uint32Array(3 + mask.length);
  whole.set(words.subarray(0, 3));
  whole.set(mask, 3);
  return whole;
}

function pictured(words) {
  const whole = new Uint32Array(HEAD + (words.length - HEAD) / 4);
  whole.set(words.subarray(0, HEAD));
  new Uint8Array(whole.buffer, 4 * HEAD).set(words.subarray(HEAD));
  return whole;
}

const LISTED = { [CODES.TEXT]: lettered, [CODES.IMAGE]: pictured };

// Coordinates become pixels again.
function placed(words, code) {
  const whole = new Uint32Array(words.buffer.slice(0));
  const pixels = new Float32Array(whole.buffer);
  for (const [start, end] of coordinates(words, code)) {
    for (let k = start; k < end; k++) pixels[k] = words[k] === NOWHERE ? NaN : words[k] / PARTS;
  }
  return whole;
}

// Which words of an operation, without the two that lead it, are coordinates.
function coordinates(words, code) {
  const path = (at) => {
    const count = words[at];
    const first = at + 1 + Math.ceil(count / 4);
    return [first, first + 2 * count];
  };
  switch (code) {
    case CODES.CLIP:
      return [[1, 5], path(5)];
    case CODES.PATH:
      return [path(1)];
    case CODES.MARKS: {
      const [first, end] = path(1);
      return [
        [first, end],
        [end + 1, end + 1 + 2 * words[end]],
      ];
    }
    case CODES.ITEMS:
      return [[2, 2 + 2 * words[0] * words[1]]];
    default:
      return [];
  }
}
