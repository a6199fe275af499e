import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  distance,
  positionAfter,
  sketchDirection,
  standsAt,
  valuesAt,
  valuesUnder,
} from "../../../gradlab/live/web/areas.js";

const TENTHS = { minimum: 0, maximum: 10, step: 0.1, count: 100, digits: 1 };
const LOG = { minimum: 0.01, maximum: 100, count: 400, digits: 3, scale: "log" };
const CONTROLS = new Map([
  ["x", { spec: TENTHS, value: 2.5 }],
  ["limit", { spec: LOG, value: 1 }],
  ["k0", { spec: TENTHS, value: 0 }],
  ["k1", { spec: TENTHS, value: 5 }],
  ["k2", { spec: TENTHS, value: 10 }],
]);

const X = { name: "x", first: 0, last: 10, log: false };
const LIMIT = { name: "limit", first: 0.01, last: 100, log: true };
const POINT = { x: X, y: LIMIT, at: null };
const CURVE = ["k0", "k1", "k2"].map((name, k) => ({
  x: null,
  y: { name, first: 0, last: 10, log: false },
  at: 0.25 + 0.25 * k,
}));

describe("a handle", () => {
  test("stands where the values of its sliders are", () => {
    assert.deepEqual(standsAt(POINT, CONTROLS), { x: 0.25, y: 0.5 });
  });

  test("of one direction stands at its place along the other", () => {
    assert.deepEqual(standsAt(CURVE[1], CONTROLS), { x: 0.5, y: 0.5 });
  });

  test("without a place lies all along the other direction", () => {
    assert.deepEqual(standsAt({ x: X, y: null, at: null }, CONTROLS), { x: 0.25, y: null });
  });

  test("takes the values of the place to which it is put", () => {
    assert.deepEqual(valuesAt(POINT, { x: 0.5, y: 0.75 }, CONTROLS), { x: 5, limit: 10 });
  });

  test("takes values at which its sliders can stand", () => {
    assert.deepEqual(valuesAt({ x: X, at: null }, { x: 0.333, y: 0 }, CONTROLS), { x: 3.3 });
  });

  test("stays in the range of its sliders", () => {
    assert.deepEqual(valuesAt(POINT, { x: 7, y: -3 }, CONTROLS), { x: 10, limit: 0.01 });
  });
});

describe("a distance", () => {
  const size = { x: 12, y: 16 };

  test("is in pixels", () => {
    assert.equal(distance({ x: 0.5, y: 0.5 }, { x: 0.75, y: 0.25 }, size, null), 5);
  });

  test("to a line counts across the line alone", () => {
    assert.equal(distance({ x: null, y: 0.5 }, { x: 0.9, y: 0.25 }, size, null), 4);
  });

  test("while a curve is sketched counts along the curve alone", () => {
    assert.equal(distance({ x: 0.5, y: 0 }, { x: 0.25, y: 1 }, size, "x"), 3);
  });
});

describe("a sketch", () => {
  test("goes along x over handles that move up and down", () => {
    assert.equal(sketchDirection(CURVE), "x");
  });

  test("goes along y over handles that move left and right", () => {
    assert.equal(sketchDirection(CURVE.map(({ y, at }) => ({ x: y, y: null, at }))), "y");
  });

  test("needs two handles, each with a place of its own", () => {
    assert.equal(sketchDirection(CURVE.slice(0, 1)), null);
    assert.equal(sketchDirection([POINT, POINT]), null);
    assert.equal(sketchDirection([CURVE[0], { ...CURVE[1], at: null }]), null);
  });

  test("moves every handle that a stroke passes over", () => {
    const values = valuesUnder(CURVE, { x: 0.2, y: 0 }, { x: 0.6, y: 0.8 }, "x", CONTROLS);
    assert.deepEqual(values, { k0: 1, k1: 6 });
  });

  test("moves nothing between two handles", () => {
    assert.deepEqual(valuesUnder(CURVE, { x: 0.3, y: 0 }, { x: 0.4, y: 1 }, "x", CONTROLS), {});
  });
});

describe("the keys of a slider", () => {
  test("go a step, ten steps or to an end", () => {
    assert.equal(positionAfter("ArrowLeft", 50, 100), 49);
    assert.equal(positionAfter("ArrowUp", 50, 100), 51);
    assert.equal(positionAfter("PageDown", 50, 100), 40);
    assert.equal(positionAfter("Home", 50, 100), 0);
    assert.equal(positionAfter("End", 50, 100), 100);
  });

  test("are no others", () => {
    assert.equal(positionAfter("a", 50, 100), undefined);
  });
});
