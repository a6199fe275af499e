import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  CODES,
  forEachOperation,
  readItems,
  readPath,
  readWords,
} from "../../../gradlab/live/web/list.js";
import { displayList, floats } from "./display_lists.js";

// Two panels show three items; one column holds their values.
const ITEMS = displayList([
  CODES.ITEMS,
  [2, 3, ...floats(0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15), 1, ...floats(0.5, 1.5, 2.5)],
]);

test("operations come one after another, each with its code and place", () => {
  const seen = [];
  const list = displayList([CODES.STYLE, [7, 8]], [CODES.TEXT, []], [CODES.CLIP, [9]]);
  forEachOperation(readWords(list), (code, at) => seen.push([code, at]));
  assert.deepEqual(seen, [
    [CODES.STYLE, 2],
    [CODES.TEXT, 6],
    [CODES.CLIP, 8],
  ]);
});

test("a list may begin at any byte of a message", () => {
  const message = new Uint8Array(1 + ITEMS.byteLength);
  message.set(new Uint8Array(ITEMS.buffer), 1);
  assert.equal(readItems(message.subarray(1)).count, 3);
});

test("a path has its codes, four to a word, and then its points", () => {
  const triangle = displayList([CODES.PATH, [3, 0x020201, ...floats(0, 0, 8, 0, 0, 6)]]);
  const path = readPath(readWords(triangle), 2);
  assert.equal(path.count, 3);
  assert.deepEqual([...path.codes], [1, 2, 2]);
  assert.deepEqual([...path.xy], [0, 0, 8, 0, 0, 6]);
});

describe("items", () => {
  test("have a place in each panel, and values", () => {
    const { count, places, columns } = readItems(ITEMS);
    assert.equal(count, 3);
    assert.deepEqual([...places[0]], [0, 1, 2, 3, 4, 5]);
    assert.deepEqual([...places[1]], [10, 11, 12, 13, 14, 15]);
    assert.deepEqual([...columns[0]], [0.5, 1.5, 2.5]);
  });

  test("are none where the list has none", () => {
    assert.deepEqual(readItems(displayList([CODES.STYLE, [1]])), {
      count: 0,
      places: [],
      columns: [],
    });
  });
});
