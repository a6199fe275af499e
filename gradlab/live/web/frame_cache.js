// Pictures by the key of their state: those the kernel sent ahead, and those it was asked for.

import { unpack } from "./packed.js";

const MOST_BYTES = 32 * 2 ** 20;
const PIECE = 4096; // bytes of a list before those of the next, as in frame_cache.py
const REACH = 8; // positions within which a neighbor's picture will do for the moment

export function newFrameCache() {
  const entries = new Map();
  let bytes = 0;

  function remove(key) {
    bytes -= entries.get(key)?.list.byteLength ?? 0;
    entries.delete(key);
  }
  function keep(key, entry) {
    remove(key);
    entries.set(key, entry);
    bytes += entry.list.byteLength;
    for (const oldest of entries.keys()) {
      if (bytes <= MOST_BYTES) break;
      remove(oldest);
    }
  }
  // The entry whose key differs least, and only in the part number `axis`.
  function nearest(key, axis) {
    const parts = key.split(",");
    const here = Number(parts[axis]);
    const at = (position) => entries.get(parts.with(axis, position).join(","));
    for (let away = 1; away <= REACH; away++) {
      const entry = at(here + away) ?? at(here - away);
      if (entry) return entry;
    }
    return undefined;
  }
  return {
    keep,
    nearest,
    get: (key) => entries.get(key),
    clear() {
      entries.clear();
      bytes = 0;
    },
  };
}

// Unpacks what the kernel sent ahead: [key, entry] pairs.
export async function unpackFrames(packed) {
  const { contents, next } = await unpack(packed);
  const lists = contents.map(([, length]) => new Uint8Array(length));
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let at = 0; at < longest; at += PIECE) {
    for (const list of lists) {
      if (at < list.length) list.set(next(Math.min(PIECE, list.length - at)), at);
    }
  }
  return contents.map(([key, , words], k) => [key, { list: lists[k], words }]);
}
