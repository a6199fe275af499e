import assert from "node:assert/strict";
import { afterEach, describe, mock, test } from "node:test";

import { addressFor, basePath, openedHash } from "../../../gradlab/live/web/address.js";

const HASH = "#gl=1&lab=clipping";

afterEach(() => {
  mock.restoreAll();
  delete globalThis.location;
  delete globalThis.document;
});

describe("the address for others", () => {
  test("is that of the page, with the state", () => {
    const page = "https://example.org/notebooks/02.html#limits";
    assert.equal(
      addressFor(page, HASH, "/", ""),
      "https://example.org/notebooks/02.html#gl=1&lab=clipping",
    );
  });

  test("has neither the token nor the workspace of its reader", () => {
    const page = "http://localhost:8888/lab/workspaces/auto-Q/tree/02.ipynb?token=s3cret&a=b";
    assert.equal(
      addressFor(page, HASH, "/", ""),
      "http://localhost:8888/lab/tree/02.ipynb?a=b#gl=1&lab=clipping",
    );
  });

  test("leaves a query without a token as it was written", () => {
    assert.equal(addressFor("http://x/a?b=c%20d", "#e", "/", ""), "http://x/a?b=c%20d#e");
  });

  test("on a hub starts the server of whoever opens it", () => {
    const page = "https://hub.org/user/ada/lab/tree/02.ipynb";
    assert.equal(
      addressFor(page, HASH, "/user/ada/", ""),
      "https://hub.org/hub/user-redirect/lab/tree/02.ipynb#gl=1&lab=clipping",
    );
  });

  test("on Binder launches, with the path encoded twice", () => {
    const page = "https://binder.org/user/x-1/lab/tree/02.ipynb";
    const launch = "https://mybinder.org/v2/gh/o/r/binder?urlpath=";
    assert.equal(
      addressFor(page, "#gl=1", "/user/x-1/", launch),
      `${launch}lab/tree/02.ipynb%2523gl%253D1`,
    );
  });
});

describe("the hash with which the page was opened", () => {
  const open = (address) => {
    mock.method(performance, "getEntriesByType", () => [{ name: address }]);
  };

  test("is that of the address", () => {
    globalThis.location = new URL(`http://x/lab${HASH}`);
    assert.equal(openedHash(), HASH);
  });

  test("stays known where the host has dropped it", () => {
    globalThis.location = new URL("http://x/lab");
    open(`http://x/lab${HASH}`);
    assert.equal(openedHash(), HASH);
  });

  test("ends before a query that a server put behind it", () => {
    globalThis.location = new URL(`http://x/lab${HASH}?token=s3cret`);
    assert.equal(openedHash(), HASH);
  });
});

describe("the path at which a server begins", () => {
  test("is written in the page by Jupyter", () => {
    const textContent = '{"baseUrl": "/user/ada/"}';
    globalThis.document = { getElementById: () => ({ textContent }) };
    assert.equal(basePath(), "/user/ada/");
  });

  test("is the root of any other page", () => {
    globalThis.document = { getElementById: () => null };
    assert.equal(basePath(), "/");
  });
});
