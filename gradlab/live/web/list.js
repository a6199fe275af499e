// Reading a display list (see display_list.py): 32-bit words, each operation led by its code and
// its length.

export const CODES = {
  CLIP: 1,
  STYLE: 2,
  PATH: 3,
  MARKS: 4,
  STAMPS: 5,
  IMAGE: 6,
  TEXT: 7,
  ITEMS: 8,
};

export function readWords(list) {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(list) ? list : new Uint8Array(list);
  const aligned = byteOffset % 4 === 0;
  const words = aligned ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  const first = aligned ? byteOffset : 0;
  return {
    u32: new Uint32Array(words, first, byteLength >> 2),
    f32: new Float32Array(words, first, byteLength >> 2),
  };
}

export function forEachOperation({ u32 }, act) {
  for (let at = 0; at < u32.length; at += u32[at + 1]) act(u32[at], at + 2);
}

export function bytesAt({ u32 }, at, count) {
  return new Uint8Array(u32.buffer, u32.byteOffset + 4 * at, count);
}

export function readPath(data, at) {
  const count = data.u32[at];
  const first = at + 1 + Math.ceil(count / 4);
  const end = first + 2 * count;
  return { count, codes: bytesAt(data, at + 1, count), xy: data.f32.subarray(first, end), end };
}

// Where each panel shows the items, in device pixels, and the columns of their values.
export function readItems(list) {
  const data = readWords(list);
  let items = { count: 0, places: [], columns: [] };
  forEachOperation(data, (code, at) => {
    if (code === CODES.ITEMS) items = itemsAt(data, at);
  });
  return items;
}

function itemsAt({ u32, f32 }, at) {
  const panels = u32[at];
  const count = u32[at + 1];
  const first = at + 2;
  const then = first + 2 * count * panels;
  const cut = (start, size, k) => f32.subarray(start + k * size, start + (k + 1) * size);
  return {
    count,
    places: Array.from({ length: panels }, (_, k) => cut(first, 2 * count, k)),
    columns: Array.from({ length: u32[then] }, (_, k) => cut(then + 1, count, k)),
  };
}
