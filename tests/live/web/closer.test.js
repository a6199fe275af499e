import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";

import {
  boxBetween,
  movedBy,
  nearerTo,
  newZoomRequests,
  partAfter,
} from "../../../gradlab/live/web/closer.js";

const PIXELS = { x: 100, y: 100 };

test("a closer look keeps the place under the pointer where it is", () => {
  assert.deepEqual(nearerTo({ x: 0.5, y: 0 }, 2), { x: [0.25, 0.75], y: [0, 0.5] });
});

test("a drag to the right shows what is on the left", () => {
  const part = movedBy({ x: 0.25, y: 0.5 }, { x: 0.5, y: 0.5 });
  assert.deepEqual(part, { x: [-0.25, 0.75], y: [0, 1] });
});

describe("a box", () => {
  test("lies between two corners, whichever comes first", () => {
    const box = { x: [0.25, 0.75], y: [0.5, 1] };
    assert.deepEqual(boxBetween({ x: 0.25, y: 0.5 }, { x: 0.75, y: 1 }, PIXELS), box);
    assert.deepEqual(boxBetween({ x: 0.75, y: 1 }, { x: 0.25, y: 0.5 }, PIXELS), box);
  });

  test("ends with the panel", () => {
    const box = boxBetween({ x: 0.5, y: 0.5 }, { x: 3, y: -2 }, PIXELS);
    assert.deepEqual(box, { x: [0.5, 1], y: [0, 0.5] });
  });

  test("that is thin leaves that direction as it is", () => {
    const box = boxBetween({ x: 0.25, y: 0.5 }, { x: 0.75, y: 0.52 }, PIXELS);
    assert.deepEqual(box, { x: [0.25, 0.75], y: [0, 1] });
  });

  test("of a few pixels is not meant", () => {
    assert.equal(boxBetween({ x: 0.5, y: 0.5 }, { x: 0.53, y: 0.53 }, PIXELS), null);
  });
});

describe("the keys", () => {
  test("plus and minus zoom about the middle", () => {
    assert.deepEqual(partAfter({ key: "+" }), nearerTo({ x: 0.5, y: 0.5 }, 1.5));
    assert.deepEqual(partAfter({ key: "-" }), nearerTo({ x: 0.5, y: 0.5 }, 1 / 1.5));
  });

  test("Shift with an arrow moves by a quarter", () => {
    const part = partAfter({ key: "ArrowUp", shiftKey: true });
    assert.deepEqual(part, { x: [0, 1], y: [0.25, 1.25] });
  });

  test("0 shows all, and others mean nothing", () => {
    assert.equal(partAfter({ key: "0" }), null);
    assert.equal(partAfter({ key: "ArrowUp", shiftKey: false }), undefined);
    assert.equal(partAfter({ key: "z" }), undefined);
  });
});

describe("requests", () => {
  const MIDDLE = { x: [0.25, 0.75], y: [0, 1] };

  test("go off one at a time", () => {
    const sent = [];
    const requests = newZoomRequests((message) => sent.push(message));
    requests.change(0, MIDDLE);
    requests.change(0, MIDDLE);
    assert.deepEqual(sent, [{ panel: 0, ...MIDDLE }]);
    requests.stop();
  });

  test("that wait add up, relative to what is shown by then", () => {
    const sent = [];
    const requests = newZoomRequests((message) => sent.push(message));
    for (let k = 0; k < 3; k++) requests.change(0, MIDDLE);
    requests.landed();
    assert.deepEqual(sent[1], { panel: 0, x: [0.375, 0.625], y: [0, 1] });
    requests.stop();
  });

  test("for all panels replace those that wait", () => {
    const sent = [];
    const requests = newZoomRequests((message) => sent.push(message));
    requests.change(1, MIDDLE);
    requests.change(1, MIDDLE);
    requests.ask(null);
    requests.landed();
    assert.deepEqual(sent[1], { panel: null });
    requests.stop();
  });

  test("that were lost block no others", () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const sent = [];
    const requests = newZoomRequests((message) => sent.push(message));
    requests.change(0, MIDDLE);
    requests.ask(null);
    mock.timers.tick(3000);
    assert.deepEqual(sent.at(-1), { panel: null });
    mock.timers.reset();
  });
});
