// tests/live/test_positions_in_browser.py compares every position with Python's.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  fromPosition,
  keyOf,
  landed,
  shown,
  shownNumber,
  toPosition,
  withUnit,
} from "../../../gradlab/live/web/positions.js";

const LINEAR = { minimum: -1, maximum: 1, step: 0.025, count: 80, digits: 3 };
const LOG = { minimum: 0.01, maximum: 100, count: 4, digits: 3, scale: "log" };
const PLACES = { places: [1, 2, 5, 10], count: 3 };
const LOG_PLACES = { places: [1, 10, 100], count: 2, scale: "log" };

describe("a linear slider", () => {
  test("has a value at each position", () => {
    assert.equal(fromPosition(LINEAR, 0), -1);
    assert.equal(fromPosition(LINEAR, 1), -0.975);
    assert.equal(fromPosition(LINEAR, 40), 0);
    assert.equal(fromPosition(LINEAR, 80), 1);
  });

  test("has no digits of rounding errors in its values", () => {
    const tenths = { minimum: 0, maximum: 1, step: 0.1, count: 10, digits: 1 };
    assert.equal(fromPosition(tenths, 3), 0.3);
  });

  test("stays at its ends", () => {
    assert.equal(fromPosition(LINEAR, -5), -1);
    assert.equal(fromPosition(LINEAR, 99), 1);
    assert.equal(toPosition(LINEAR, -9), 0);
    assert.equal(toPosition(LINEAR, 9), 80);
  });

  test("may end with a shorter step", () => {
    const thirds = { minimum: 0, maximum: 1, step: 0.3, count: 4, digits: 1 };
    assert.equal(fromPosition(thirds, 3), 0.9);
    assert.equal(fromPosition(thirds, 4), 1);
    assert.equal(toPosition(thirds, 1), 4);
  });

  test("takes a value between two positions to the nearer one", () => {
    assert.equal(toPosition(LINEAR, 0.012), 40);
    assert.equal(toPosition(LINEAR, 0.013), 41);
    assert.equal(landed(LINEAR, 0.013), 0.025);
  });
});

describe("a logarithmic slider", () => {
  test("multiplies by the same factor at each step", () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((position) => fromPosition(LOG, position)),
      [0.01, 0.1, 1, 10, 100],
    );
  });

  test("takes a value to the position with the nearest ratio", () => {
    assert.equal(toPosition(LOG, 3), 2);
    assert.equal(toPosition(LOG, 4), 3);
  });
});

describe("a slider with places", () => {
  test("stands only at its places", () => {
    assert.equal(fromPosition(PLACES, 2), 5);
    assert.equal(fromPosition(PLACES, 7), 10);
    assert.equal(toPosition(PLACES, 4), 2);
    assert.equal(landed(PLACES, 7), 5);
  });

  test("measures ratios on a logarithmic scale", () => {
    assert.equal(toPosition(LOG_PLACES, 3), 0);
    assert.equal(toPosition(LOG_PLACES, 4), 1);
  });
});

describe("a key", () => {
  test("is the position of the value", () => {
    assert.equal(keyOf(LINEAR, 0), "40");
    assert.equal(keyOf(PLACES, 10), "3");
  });

  test("is the bits of a value between two positions", () => {
    assert.equal(keyOf(LINEAR, 0.01), "=3f847ae147ae147b");
    assert.equal(keyOf(LOG, 2), "=4000000000000000");
  });
});

describe("the number beside a slider", () => {
  test("has the digits of its step", () => {
    assert.equal(shownNumber(LINEAR, 0.5), "0.500");
    assert.equal(shownNumber(LINEAR, -0.5), "−0.500");
  });

  test("has more digits where the value lies between two steps", () => {
    assert.equal(shownNumber(LINEAR, 1 / 3), "0.333333");
  });

  test("has no zeros at its end on a logarithmic scale", () => {
    assert.equal(shownNumber(LOG, 10), "10");
    assert.equal(shownNumber({ ...LOG, maximum: 1e4 }, 1000), "1,000");
  });

  test("is followed by the unit", () => {
    assert.equal(withUnit({ unit: "N" }, "5"), "5 N");
    assert.equal(withUnit({}, "5"), "5");
    assert.equal(shown({ ...LOG, unit: "ms" }, 10), "10 ms");
  });
});
