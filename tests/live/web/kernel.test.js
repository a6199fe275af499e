// tests/live/test_kernel_in_browser.py shows what a reader sees of this.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";

import { AWAY, GONE, HERE, kernelWords, watchKernel } from "../../../gradlab/live/web/kernel.js";

const newSignal = () => {
  const listeners = new Set();
  return {
    connect: (listener) => listeners.add(listener),
    disconnect: (listener) => listeners.delete(listener),
    emit: (...args) => listeners.forEach((listener) => listener(...args)),
  };
};

function watch(send = () => {}) {
  const kernel = {
    isDisposed: false,
    statusChanged: newSignal(),
    connectionStatusChanged: newSignal(),
    disposed: newSignal(),
  };
  const heard = [];
  const model = { widget_manager: { kernel }, send, on() {}, off() {} };
  const watched = watchKernel(
    model,
    (state) => heard.push(state),
    () => heard.push("reconnected"),
  );
  return { kernel, heard, watched };
}

for (const status of ["dead", "terminating", "restarting", "autorestarting"]) {
  test(`a kernel that is ${status} is gone`, () => {
    const { kernel, heard } = watch();
    kernel.statusChanged.emit(kernel, status);
    assert.deepEqual(heard, [GONE]);
  });
}

test("a kernel that works is not", () => {
  const { kernel, heard } = watch();
  for (const status of ["busy", "idle", "unknown"]) kernel.statusChanged.emit(kernel, status);
  assert.deepEqual(heard, []);
});

describe("a send that fails", () => {
  test("at once means that the kernel is gone", () => {
    const { heard, watched } = watch(() => {
      throw new Error("no comm");
    });
    watched.send({ kind: "set" });
    watched.send({ kind: "set" });
    assert.deepEqual(heard, [GONE]);
  });

  test("later means the same", async () => {
    const { heard, watched } = watch(() => Promise.reject(new Error("no comm")));
    watched.send({ kind: "set" });
    await new Promise(setImmediate);
    assert.deepEqual(heard, [GONE]);
  });
});

describe("a lost connection", () => {
  test("may come back, and the kernel is here with its next message", () => {
    const { kernel, heard, watched } = watch();
    kernel.connectionStatusChanged.emit(kernel, "connecting");
    kernel.connectionStatusChanged.emit(kernel, "connected");
    watched.setHere();
    assert.deepEqual(heard, [AWAY, "reconnected", HERE]);
  });

  test("of a kernel that was disposed does not", () => {
    const { kernel, heard } = watch();
    kernel.isDisposed = true;
    kernel.connectionStatusChanged.emit(kernel, "disconnected");
    assert.deepEqual(heard, [GONE]);
  });
});

test("a kernel that is gone never comes back", () => {
  const { kernel, heard, watched } = watch();
  kernel.disposed.emit();
  kernel.connectionStatusChanged.emit(kernel, "connected");
  watched.setHere();
  assert.deepEqual(heard, [GONE]);
});

test("after the view is closed nothing is heard", () => {
  const { kernel, heard, watched } = watch();
  watched.stop();
  kernel.statusChanged.emit(kernel, "dead");
  assert.deepEqual(heard, []);
});

describe("a reader is told what to do", () => {
  const inPage = (dataset) => {
    globalThis.document = { body: { dataset } };
  };
  afterEach(() => delete globalThis.document);

  test("in a notebook", () => {
    inPage({});
    assert.equal(kernelWords(HERE), "");
    assert.equal(kernelWords(AWAY), "No connection to the kernel.");
    assert.equal(kernelWords(GONE), "No kernel: run the cell again.");
  });

  test("in Voila, which has no cells to run", () => {
    inPage({ voila: "true" });
    assert.equal(kernelWords(GONE), "No kernel: reload the page.");
  });
});
