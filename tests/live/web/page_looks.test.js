// What a view reads off its page: theme, width, pixels; and what it says of its picture.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

globalThis.window = {};
const { isNarrow, pixelRatio } = await import("../../../gradlab/live/web/measure.js");
const { describeField } = await import("../../../gradlab/live/web/skeleton.js");

describe("a page is dark", () => {
  const system = { matches: false, addEventListener() {}, removeEventListener() {} };
  let isDark;

  beforeEach(async () => {
    window.matchMedia = () => system;
    ({ isDark } = await import("../../../gradlab/live/web/theme.js"));
  });
  const inPage = (body, html = {}) => {
    globalThis.document = { body: { dataset: body }, documentElement: { dataset: html } };
  };

  test("where JupyterLab's theme is", () => {
    inPage({ jpThemeLight: "false" });
    assert.equal(isDark(), true);
    inPage({ jpThemeLight: "true" });
    assert.equal(isDark(), false);
  });

  test("where the page says so", () => {
    inPage({}, { theme: "dark" });
    assert.equal(isDark(), true);
    inPage({ theme: "light" });
    assert.equal(isDark(), false);
  });

  test("or else as the screen is", () => {
    inPage({}, { theme: "auto" });
    system.matches = true;
    assert.equal(isDark(), true);
    system.matches = false;
    assert.equal(isDark(), false);
  });
});

describe("a view", () => {
  const wide = (width) => ({ getBoundingClientRect: () => ({ width }) });

  test("is narrow below 560 pixels", () => {
    assert.equal(isNarrow(wide(559)), true);
    assert.equal(isNarrow(wide(560)), false);
  });

  test("has no width while it is hidden", () => {
    assert.equal(isNarrow(wide(0)), null);
  });

  test("has the pixels of its screen, one where that does not say", () => {
    window.devicePixelRatio = 2;
    assert.equal(pixelRatio(), 2);
    delete window.devicePixelRatio;
    assert.equal(pixelRatio(), 1);
  });
});

describe("the picture says what the keys do on it", () => {
  const newField = () => ({
    attributes: {},
    setAttribute(name, value) {
      this.attributes[name] = value;
    },
    removeAttribute(name) {
      delete this.attributes[name];
    },
  });

  test("to items", () => {
    const field = newField();
    describeField(field, "worker", false);
    assert.equal(
      field.attributes["aria-label"],
      "Picture: Left and Right go from worker to worker, Escape lets go.",
    );
    assert.equal(field.tabIndex, 0);
  });

  test("to the zoom as well", () => {
    const field = newField();
    describeField(field, "step", true);
    assert.match(
      field.attributes["aria-label"],
      /^Picture: Left .* lets go; plus and minus zoom, /,
    );
  });

  test("and takes no focus where they do nothing", () => {
    const field = newField();
    describeField(field, "step", true);
    describeField(field, "", false);
    assert.deepEqual(field.attributes, {});
  });
});
