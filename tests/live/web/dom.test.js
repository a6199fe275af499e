import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clamp,
  contains,
  isClick,
  partsOf,
  placeBox,
  same,
  setText,
} from "../../../gradlab/live/web/dom.js";

test("clamp keeps a number between two others", () => {
  assert.equal(clamp(5, 0, 10), 5);
  assert.equal(clamp(-1, 0, 10), 0);
  assert.equal(clamp(11, 0, 10), 10);
});

test("same compares what values hold", () => {
  assert.ok(same([1, 2], [1, 2]));
  assert.ok(same({ a: [1] }, { a: [1] }));
  assert.ok(!same([1, 2], [2, 1]));
  assert.ok(!same(null, 0));
});

test("a text that is there already is not written again", () => {
  const node = {
    written: [],
    get textContent() {
      return this.written.at(-1) ?? "";
    },
    set textContent(text) {
      this.written.push(text);
    },
  };
  setText(node, "limit 1");
  setText(node, "limit 1");
  setText(node, "limit 2");
  assert.deepEqual(node.written, ["limit 1", "limit 2"]);
});

test("a box is placed in percent of the picture", () => {
  const node = { style: {} };
  placeBox(node, { left: 0.25, top: 0, width: 0.5, height: 1 });
  assert.deepEqual(node.style, { left: "25%", top: "0%", width: "50%", height: "100%" });
});

test("the pointer is at parts of a node from its top left corner", () => {
  const node = {
    getBoundingClientRect: () => ({ left: 100, top: 50, width: 200, height: 100 }),
  };
  assert.deepEqual(partsOf({ clientX: 150, clientY: 125 }, node), { x: 0.25, y: 0.75 });
});

test("a press that moves at most four pixels is a click", () => {
  const down = { clientX: 10, clientY: 10 };
  assert.ok(isClick(down, { clientX: 10, clientY: 14 }));
  assert.ok(isClick(down, { clientX: 12, clientY: 13 }));
  assert.ok(!isClick(down, { clientX: 13, clientY: 13 }));
});

test("a box contains its edges", () => {
  const box = { left: 0.2, top: 0.2, width: 0.5, height: 0.5 };
  assert.ok(contains(box, { x: 0.2, y: 0.7 }));
  assert.ok(!contains(box, { x: 0.1, y: 0.5 }));
  assert.ok(!contains(box, { x: 0.5, y: 0.8 }));
});
