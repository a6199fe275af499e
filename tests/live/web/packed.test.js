import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../gradlab/live/web/packed.js";
import { pack } from "./packing.js";

test("the table of contents comes back", async () => {
  const { contents } = await unpack(await pack([["a", 2], { b: "−3" }]));
  assert.deepEqual(contents, [["a", 2], { b: "−3" }]);
});

test("bytes are taken in their order", async () => {
  const { next } = await unpack(await pack([], [1, 2, 3, 4, 5]));
  assert.deepEqual([...next(2)], [1, 2]);
  assert.deepEqual([...next(0)], []);
  assert.deepEqual([...next(3)], [3, 4, 5]);
});

test("the rest is what was not taken yet", async () => {
  const { next, rest } = await unpack(await pack("table", [1, 2, 3]));
  next(1);
  assert.deepEqual([...rest()], [2, 3]);
});
