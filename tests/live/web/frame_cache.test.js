import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { newFrameCache, unpackFrames } from "../../../gradlab/live/web/frame_cache.js";
import { pack } from "./packing.js";

const entry = (bytes = 4) => ({ list: new Uint8Array(bytes), words: {} });
const MEGABYTE = 2 ** 20;

describe("a cache of frames", () => {
  test("has what it was given, until it is cleared", () => {
    const cache = newFrameCache();
    const one = entry();
    cache.keep("1,2", one);
    assert.equal(cache.get("1,2"), one);
    assert.equal(cache.get("1,3"), undefined);
    cache.clear();
    assert.equal(cache.get("1,2"), undefined);
  });

  test("drops the oldest beyond 32 MB", () => {
    const cache = newFrameCache();
    for (let k = 0; k < 40; k++) cache.keep(String(k), entry(MEGABYTE));
    const kept = Array.from({ length: 40 }, (_, k) => Boolean(cache.get(String(k))));
    assert.deepEqual(kept, [...Array(8).fill(false), ...Array(32).fill(true)]);
  });

  test("counts a frame that comes again once", () => {
    const cache = newFrameCache();
    cache.keep("first", entry(MEGABYTE));
    for (let k = 0; k < 99; k++) cache.keep("again", entry(MEGABYTE));
    assert.ok(cache.get("first"));
  });
});

describe("the nearest frame", () => {
  const cache = newFrameCache();
  const [low, high] = [entry(), entry()];
  cache.keep("10,5,0", low);
  cache.keep("16,5,0", high);

  test("differs along the axis alone", () => {
    assert.equal(cache.nearest("12,5,0", 0), low);
    assert.equal(cache.nearest("14,5,0", 0), high);
    assert.equal(cache.nearest("12,6,0", 0), undefined);
  });

  test("of two as near is the one beyond", () => {
    assert.equal(cache.nearest("13,5,0", 0), high);
  });

  test("is at most eight positions away", () => {
    assert.equal(cache.nearest("24,5,0", 0), high);
    assert.equal(cache.nearest("25,5,0", 0), undefined);
  });
});

test("frames that were sent ahead come in pieces, each of every frame", async () => {
  const piece = (value) => Array(4096).fill(value);
  const contents = [
    ["a", 4096 + 2, "words of a"],
    ["b", 4096, "words of b"],
  ];
  const frames = await unpackFrames(await pack(contents, [...piece(1), ...piece(2), 3, 3]));
  const [[, first], [, second]] = frames;
  assert.deepEqual(
    frames.map(([key]) => key),
    ["a", "b"],
  );
  assert.deepEqual([...first.list], [...piece(1), 3, 3]);
  assert.deepEqual([...second.list], piece(2));
  assert.equal(first.words, "words of a");
});
