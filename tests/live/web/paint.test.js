import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CODES } from "../../../gradlab/live/web/list.js";
import { paint } from "../../../gradlab/live/web/paint.js";
import { displayList, floats } from "./display_lists.js";

const RED = 0xff0000ff; // opaque; the lowest byte is red
const BLUE = 0xffff0000;
const BLACK = 0xff000000;

// What a canvas is told: names and arguments of calls, and what is set.
function newContext() {
  const told = [];
  const ctx = new Proxy(
    { canvas: { width: 60, height: 40 } },
    {
      get: (target, name) => target[name] ?? ((...args) => told.push([name, ...args])),
      set(target, name, value) {
        told.push([name, value]);
        return true;
      },
    },
  );
  return { ctx, told };
}

function painted(list, scheme) {
  const { ctx, told } = newContext();
  paint(ctx, list, scheme);
  return told;
}

const styled = (color, width) => [
  CODES.STYLE,
  [color, ...floats(width), 1, 0, ...floats(0), 2, ...floats(4, 2)],
];
// A face of no color, then a line from (1, 2) to (3, 4).
const LINE = [CODES.PATH, [0, 2, 0x0201, ...floats(1, 2, 3, 4)]];

test("every picture begins with an empty canvas", () => {
  const told = painted(displayList([CODES.ITEMS, [0, 0, 0]]));
  assert.deepEqual(told, [
    ["setTransform", 1, 0, 0, 1, 0, 0],
    ["clearRect", 0, 0, 60, 40],
    ["save"],
    ["restore"],
  ]);
});

test("a line has its color, its width, its ends and its dashes", () => {
  const told = painted(displayList(styled(RED, 2), LINE));
  for (const expected of [
    ["lineWidth", 2],
    ["lineCap", "round"],
    ["lineJoin", "miter"],
    ["setLineDash", new Float32Array([4, 2])],
    ["moveTo", 1, 2],
    ["lineTo", 3, 4],
    ["strokeStyle", "rgba(255,0,0,1)"],
  ]) {
    assert.ok(
      told.some((call) => JSON.stringify(call) === JSON.stringify(expected)),
      `${expected} in ${JSON.stringify(told)}`,
    );
  }
});

test("a line thinner than a pixel is fainter instead", () => {
  const told = Object.fromEntries(painted(displayList(styled(BLACK, 0.5), LINE)));
  assert.equal(told.lineWidth, 1.002);
  assert.equal(told.strokeStyle, `rgba(0,0,0,${128 / 255})`);
});

describe("on a dark page", () => {
  const scheme = new Map([[RED, BLUE]]);

  test("a color has its counterpart", () => {
    const told = Object.fromEntries(painted(displayList(styled(RED, 1), LINE), scheme));
    assert.equal(told.strokeStyle, "rgba(0,0,255,1)");
  });

  test("a color without one stays", () => {
    const told = Object.fromEntries(painted(displayList(styled(BLACK, 1), LINE), scheme));
    assert.equal(told.strokeStyle, "rgba(0,0,0,1)");
  });
});
