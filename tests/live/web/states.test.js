// tests/live/test_packed.py packs real pictures; here are the smallest states, byte by byte.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CODES, forEachOperation, readWords } from "../../../gradlab/live/web/list.js";
import { unpackMasks, unpackStates } from "../../../gradlab/live/web/states.js";
import { pack } from "./packing.js";

const NEW = 1; // an operation that has not been seen; 0 is that of the state before, 2 and more an earlier one
const folded = (number) => (number < 0 ? -2 * number - 1 : 2 * number);

// A style of one word: not a coordinate, so it comes back as it is.
const style = (word) => [NEW, CODES.STYLE, 1, 0, folded(word)];

async function lists(...states) {
  const bytes = states.flatMap((operations) => [operations.length, ...operations.flat()]);
  const rows = states.map((_, k) => `row ${k}`);
  const unpacked = await unpackStates(await pack(rows, bytes), []);
  return unpacked.map(({ list }) => {
    const data = readWords(list());
    const operations = [];
    forEachOperation(data, (code, at) => operations.push([code, ...data.u32.slice(at, at + 1)]));
    return operations;
  });
}

test("a state has its row and a display list", async () => {
  const states = await unpackStates(await pack([{ limit: 1 }], [1, ...style(5)]), []);
  assert.deepEqual(
    states.map(({ row }) => row),
    [{ limit: 1 }],
  );
  const { u32 } = readWords(states[0].list());
  assert.deepEqual([...u32], [CODES.STYLE, 3, 5]);
});

describe("an operation", () => {
  test("may be that of the state before", async () => {
    const [, second] = await lists([style(5), style(6)], [[0], style(7)]);
    assert.deepEqual(second, [
      [CODES.STYLE, 5],
      [CODES.STYLE, 7],
    ]);
  });

  test("may be one of an earlier state", async () => {
    const [, , third] = await lists([style(5)], [style(6)], [[2 + 0]]);
    assert.deepEqual(third, [[CODES.STYLE, 5]]);
  });

  test("may be what was added to that of the state before", async () => {
    const more = [NEW, CODES.STYLE, 1, 1, folded(-2)];
    const [, second] = await lists([style(5)], [more]);
    assert.deepEqual(second, [[CODES.STYLE, 3]]);
  });
});

test("numbers from 128 take several bytes", async () => {
  const thousand = [NEW, CODES.STYLE, 1, 0, 128 | (2000 & 127), 2000 >> 7];
  assert.deepEqual(await lists([thousand]), [[[CODES.STYLE, 1000]]]);
});

test("coordinates are sixteenths of a pixel", async () => {
  // A path without a color: one point, at (1.5, −0.25).
  const words = [0, 1, 1, 24, -4];
  const operation = [NEW, CODES.PATH, words.length, 0, ...words.map(folded)];
  const [{ list }] = await unpackStates(await pack(["row"], [1, ...operation]), []);
  const { f32 } = readWords(list());
  assert.deepEqual([...f32.slice(-2)], [1.5, -0.25]);
});

test("a text is in 16 shades, column by column, two rows to a byte", async () => {
  const [mask] = await unpackMasks(await pack([2, 2], [0x0f, 0xf0]));
  const words = mask();
  assert.deepEqual([...words.slice(0, 2)], [2, 2]);
  assert.deepEqual([...new Uint8Array(words.buffer, 8)], [0, 255, 255, 0]);
});
