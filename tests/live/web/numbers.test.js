// Numbers look like those that Python writes into sentences and pictures (tests/_base/test_numbers.py).

import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "../../../gradlab/live/web/numbers.js";

test("whole numbers from 1,000 have commas", () => {
  assert.equal(plain("999"), "999");
  assert.equal(plain("1000"), "1,000");
  assert.equal(plain("12346"), "12,346");
  assert.equal(plain("1000000"), "1,000,000");
});

test("digits after the point have none", () => {
  assert.equal(plain("0.25"), "0.25");
  assert.equal(plain("0.12345"), "0.12345");
  assert.equal(plain("1234.5678"), "1,234.5678");
});

test("a negative number has a true minus", () => {
  assert.equal(plain("-3"), "−3");
  assert.equal(plain("-12346"), "−12,346");
});

test("an exponent keeps its sign", () => {
  assert.equal(plain("1e+22"), "1e+22");
  assert.equal(plain("-1e-7"), "−1e-7");
});
