import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { awaitsLink, takeLink, writeLink } from "../../../gradlab/live/web/link.js";

const LIMIT = { kind: "slider", name: "limit", minimum: 0.01, maximum: 100, count: 80, digits: 3 };
const STEPS = { ...LIMIT, name: "steps", scale: "integer", minimum: 1, step: 1, digits: 0 };
const WINDOW = { ...LIMIT, kind: "range", name: "window" };
const RULE = {
  kind: "menu",
  name: "rule",
  options: [
    [null, "none"],
    [2, "two"],
    ["ada", "Adagrad"],
  ],
};
const ON = { kind: "toggle", name: "on" };
const TRAIN = { kind: "button", name: "train" };

const CONTROLS = new Map([
  ["limit", { spec: { ...LIMIT, scale: "log" }, value: 1 }],
  ["window", { spec: WINDOW, value: [5, 20] }],
  ["rule", { spec: RULE, value: 2 }],
  ["on", { spec: ON, value: true }],
  ["steps", { spec: STEPS, value: 3 }],
  ["train", { spec: TRAIN }],
]);

const read = (hash) => {
  globalThis.location = { hash };
  return takeLink("everything", CONTROLS);
};

beforeEach(() => {
  globalThis.window = {}; // which remembers the links that were taken
});

test("a link has every value, and no buttons", () => {
  assert.equal(
    writeLink("everything", CONTROLS),
    "#gl=1&lab=everything&limit=1&window=5~20&rule=two&on=1&steps=3",
  );
});

test("a link that was written sets the same values", () => {
  assert.deepEqual(read(writeLink("everything", CONTROLS)), {
    values: { limit: 1, window: [5, 20], rule: 2, on: true, steps: 3 },
    note: "",
  });
});

describe("a link", () => {
  test("names an option by its value or by its label", () => {
    assert.deepEqual(read("#gl=1&lab=everything&rule=none").values, { rule: null });
    assert.deepEqual(read("#gl=1&lab=everything&rule=2").values, { rule: 2 });
    assert.deepEqual(read("#gl=1&lab=everything&rule=ada").values, { rule: "ada" });
    assert.deepEqual(read("#gl=1&lab=everything&rule=Adagrad").values, { rule: "ada" });
  });

  test("sets a slider to any value in its range", () => {
    assert.deepEqual(read("#gl=1&lab=everything&limit=0.123").values, { limit: 0.123 });
  });

  test("sets a slider of whole numbers to the nearest one", () => {
    assert.deepEqual(read("#gl=1&lab=everything&steps=4.4").values, { steps: 4 });
  });

  test("turns a switch with words, too", () => {
    assert.deepEqual(read("#gl=1&lab=everything&on=False").values, { on: false });
  });

  test("is taken once", () => {
    assert.deepEqual(read("#gl=1&lab=everything&steps=5").values, { steps: 5 });
    assert.deepEqual(read("#gl=1&lab=everything&steps=5").values, {});
  });

  test("to another lab says nothing to this one", () => {
    assert.deepEqual(read("#gl=1&lab=other&limit=5"), { values: {}, note: "" });
  });

  test("is awaited by the lab of its name until that has taken it", () => {
    globalThis.location = { hash: "#gl=1&lab=everything" };
    assert.ok(awaitsLink("everything"));
    assert.ok(!awaitsLink("other"));
    takeLink("everything", CONTROLS);
    assert.ok(!awaitsLink("everything"));
  });
});

describe("what a link cannot set is named", () => {
  const noteOn = (text) => read(`#gl=1&lab=everything&${text}`).note;

  test("a control that this lab does not have", () => {
    assert.equal(
      noteOn("limmit=5"),
      "The link names 'limmit', which this lab does not have; it was left out.",
    );
  });

  test("a value out of range, and one that is none", () => {
    for (const text of ["limit=101", "limit=", "window=30~3", "on=maybe", "rule=four", "train=5"]) {
      assert.match(
        noteOn(text),
        /^The link gives '\w+' the value '.*', which it does not take; it was/,
      );
    }
  });

  test("a control that does not move on this page", () => {
    const fixed = new Map([["on", { spec: { ...ON, fixed: true }, value: true }]]);
    globalThis.location = { hash: "#gl=1&lab=everything&on=0" };
    assert.deepEqual(takeLink("everything", fixed), {
      values: {},
      note: "The link sets 'on', which does not move on this page; it was left out.",
    });
  });

  test("a link of another version", () => {
    assert.equal(
      read("#gl=2&lab=everything&limit=5").note,
      "The link was made by another version (gl=2); it was left out.",
    );
  });

  test("one sentence for each", () => {
    assert.equal(noteOn("a=1&b=2").split("it was left out.").length - 1, 2);
  });
});
