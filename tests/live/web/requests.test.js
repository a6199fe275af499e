// tests/live/test_requests_in_browser.py has the kernel's side as well.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";

import { newRequests } from "../../../gradlab/live/web/requests.js";

const VIEW = "v1";

function open(have = () => false) {
  const sent = [];
  const requests = newRequests({ send: (message) => sent.push(message) }, VIEW, have);
  const move = (values) => {
    requests.add(values);
    requests.flush();
  };
  const values = () => sent.filter(({ kind }) => kind === "set").map((message) => message.values);
  const kinds = () => sent.map(({ kind }) => kind);
  return { requests, move, sent, values, kinds };
}

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

describe("a request", () => {
  test("goes off at once and says whose it is", () => {
    const { move, sent } = open();
    move({ limit: 5 });
    assert.deepEqual(sent, [{ kind: "set", view: VIEW, id: 1, values: { limit: 5 }, have: false }]);
  });

  test("waits for the answer to the last one, and has the newest values", () => {
    const { requests, move, values } = open();
    move({ limit: 1 });
    move({ limit: 2 });
    move({ limit: 3, phase: 4 });
    assert.deepEqual(values(), [{ limit: 1 }]);
    requests.answered([VIEW, 1]);
    requests.flush();
    assert.deepEqual(values(), [{ limit: 1 }, { limit: 3, phase: 4 }]);
  });

  test("is not answered by what another view or an earlier request was told", () => {
    const { requests, move, values } = open();
    move({ limit: 1 });
    move({ limit: 2 });
    requests.answered(["v2", 1]);
    requests.answered([VIEW, 0]);
    requests.answered(undefined);
    requests.flush();
    assert.equal(values().length, 1);
  });

  test("that is lost blocks others for ten seconds", () => {
    const { move, values } = open();
    move({ limit: 1 });
    move({ limit: 2 });
    mock.timers.tick(9999);
    assert.equal(values().length, 1);
    mock.timers.tick(1);
    assert.deepEqual(values().at(-1), { limit: 2 });
  });

  test("leaves the kernel alone for a moment where the browser has the picture", () => {
    const { move, values } = open(() => true);
    move({ limit: 1 });
    move({ limit: 2 });
    mock.timers.tick(99);
    assert.deepEqual(values(), []);
    mock.timers.tick(1);
    assert.deepEqual(values(), [{ limit: 2 }]);
  });
});

describe("a late answer", () => {
  test("is nudged twice", () => {
    const { move, kinds } = open();
    move({ limit: 1 });
    for (let k = 0; k < 9; k++) mock.timers.tick(30);
    assert.deepEqual(kinds(), ["set", "nudge", "nudge"]);
  });

  test("is not nudged once it is there", () => {
    const { requests, move, kinds } = open();
    move({ limit: 1 });
    requests.answered([VIEW, 1]);
    mock.timers.tick(1000);
    assert.deepEqual(kinds(), ["set"]);
  });

  test("of a server that sends at once is not nudged", () => {
    const { requests, move, kinds } = open();
    requests.promptly();
    move({ limit: 1 });
    mock.timers.tick(1000);
    assert.deepEqual(kinds(), ["set"]);
  });
});

test("a value is held while it waits and while it is under way", () => {
  const { requests, move } = open();
  move({ limit: 1 });
  requests.add({ phase: 2 });
  assert.ok(requests.holds("limit") && requests.holds("phase"));
  assert.ok(!requests.holds("steps"));
  requests.answered([VIEW, 1]);
  assert.ok(!requests.holds("limit"));
  assert.ok(!requests.idle());
});

test("without a kernel everything is dropped", () => {
  const { requests, move, values } = open();
  move({ limit: 1 });
  move({ limit: 2 });
  requests.drop();
  assert.ok(requests.idle());
  requests.flush();
  mock.timers.tick(20_000);
  assert.deepEqual(values(), [{ limit: 1 }]);
});
