import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { stateAfter, stateAt, stuckAt } from "../../../gradlab/live/web/nearby.js";

const slider = (name, maximum) => ({
  kind: "slider",
  name,
  minimum: 0,
  maximum,
  step: 1,
  count: maximum,
  digits: 0,
});
const SPECS = new Map([
  ["step", slider("step", 10)], // the axis
  ["limit", slider("limit", 4)],
  ["rule", { kind: "menu", name: "rule" }],
]);

// Saved: every step of two limits by one rule, and one step of the other rule.
const STATES = [0, 2, 4, 6, 8, 10]
  .flatMap((step) => [1, 3].map((limit) => ({ values: { step, limit, rule: "sgd" } })))
  .concat([{ values: { step: 4, limit: 1, rule: "adam" } }]);
const find = (step, limit, rule = "sgd") =>
  STATES.find(
    ({ values }) => values.step === step && values.limit === limit && values.rule === rule,
  );

// `held` says whether the pointer moves a slider; otherwise a key was pressed.
const move = (here, values, { held = false, chips = [] } = {}) =>
  stateAfter(STATES, { here, specs: SPECS, axis: "step", chips }, values, held).values;

describe("the state of a link", () => {
  test("is the nearest", () => {
    assert.equal(stateAt(STATES, SPECS, { step: 5, limit: 3, rule: "sgd" }), find(4, 3));
  });

  test("has what moves here before what is fixed", () => {
    const specs = new Map(SPECS).set("rule", { ...SPECS.get("rule"), fixed: true });
    const wanted = { step: 10, limit: 1, rule: "adam" };
    assert.equal(stateAt(STATES, specs, wanted), find(10, 1));
  });
});

describe("a move", () => {
  test("along the axis goes to the nearest step", () => {
    assert.deepEqual(move(find(4, 1), { step: 7.4 }), { step: 8, limit: 1, rule: "sgd" });
  });

  test("of another control keeps the step", () => {
    assert.deepEqual(move(find(6, 1), { limit: 3 }), { step: 6, limit: 3, rule: "sgd" });
  });

  test("takes the axis along where the step was not saved", () => {
    assert.deepEqual(move(find(10, 1), { rule: "adam" }), { step: 4, limit: 1, rule: "adam" });
  });

  test("by the pointer stays until another state is nearer", () => {
    const held = { held: true };
    assert.deepEqual(move(find(4, 1), { step: 4.9 }, held), { step: 4, limit: 1, rule: "sgd" });
    assert.deepEqual(move(find(4, 1), { step: 5.1 }, held), { step: 6, limit: 1, rule: "sgd" });
  });

  test("by one key goes on to the next state there is", () => {
    assert.deepEqual(move(find(4, 1), { step: 5 }), { step: 6, limit: 1, rule: "sgd" });
    assert.deepEqual(move(find(4, 1), { limit: 2 }), { step: 4, limit: 3, rule: "sgd" });
    assert.deepEqual(move(find(10, 1), { step: 9 }), { step: 8, limit: 1, rule: "sgd" });
  });

  test("by a preset goes to another sheet at once", () => {
    const preset = { step: 4, limit: 1, rule: "adam" };
    assert.deepEqual(move(find(10, 3), preset, { chips: [preset] }), preset);
  });
});

test("a control is stuck where no state beside this one has another value of it", () => {
  assert.deepEqual(stuckAt(STATES, find(4, 1), "step"), []);
  assert.deepEqual(stuckAt(STATES, find(4, 1, "adam"), "step"), ["step", "limit"]);
  assert.deepEqual(stuckAt([STATES[0]], STATES[0], "step"), ["step", "limit", "rule"]);
});
