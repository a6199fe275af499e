import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { placesFor } from "../../../gradlab/live/web/column.js";

const PARTS = { main: "main", panel: "panel", more: "more" };
const placed = (specs) => specs.map(placesFor(specs, PARTS));

describe("beside the picture", () => {
  test("the main control is the first slider", () => {
    const specs = [{ kind: "menu" }, { kind: "slider" }, { kind: "slider" }];
    assert.deepEqual(placed(specs), ["panel", "main", "panel"]);
  });

  test("a range is a slider, too", () => {
    assert.deepEqual(placed([{ kind: "toggle" }, { kind: "range" }]), ["panel", "main"]);
  });

  test("a slider that is hidden is not the main control", () => {
    const specs = [{ kind: "slider", hidden: true }, { kind: "slider" }];
    assert.deepEqual(placed(specs), ["panel", "main"]);
  });

  test("without a slider the main control is the first one", () => {
    assert.deepEqual(placed([{ kind: "menu" }, { kind: "toggle" }]), ["main", "panel"]);
  });
});
