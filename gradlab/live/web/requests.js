// What the reader chose goes to the kernel, one request at a time; what changes meanwhile is kept,
// newest value only.

const LOST_MS = 10000; // an answer that never came must not block for good
const QUIET_MS = 100; // how long the kernel is left alone while the browser shows what it has
const NUDGE_MS = 30;
const NUDGES = 2;

// `have` says whether the browser shows the current state already.
export function newRequests(model, view, have) {
  let waiting = {};
  let flying = null;
  let sent = 0;
  let timer = null;
  let nudges = NUDGES;

  function flush() {
    if (flying || !Object.keys(waiting).length) return;
    if (have()) timer ??= setTimeout(send, QUIET_MS);
    else send();
  }
  function send() {
    clearTimeout(timer);
    timer = null;
    const request = { id: ++sent, values: waiting, lost: setTimeout(lose, LOST_MS) };
    flying = request;
    waiting = {};
    model.send({ kind: "set", view, id: request.id, values: request.values, have: have() });
    if (nudges) setTimeout(nudge, NUDGE_MS, request.id, nudges);
  }
  function land() {
    clearTimeout(flying?.lost);
    flying = null;
  }
  function drop() {
    clearTimeout(timer);
    timer = null;
    waiting = {};
    land();
  }
  function lose() {
    land();
    flush();
  }
  // A server without TCP_NODELAY writes a small packet only when its last one was acknowledged, and
  // a browser with nothing to say acknowledges after 40 ms: the picture waits behind the kernel's
  // status notes. Any word sends it off. `gradlab lab` starts its server with TCP_NODELAY; its
  // kernels say so, and need no nudge.
  function nudge(id, left) {
    if (flying?.id !== id || !left) return;
    model.send({ kind: "nudge" });
    setTimeout(nudge, NUDGE_MS, id, left - 1);
  }
  return {
    flush,
    promptly() {
      nudges = 0;
    },
    add(values) {
      Object.assign(waiting, values);
    },
    idle: () => !flying && !Object.keys(waiting).length,
    holds: (name) => name in waiting || Boolean(flying && name in flying.values),
    answered(answer) {
      if (answer?.[0] === view && answer[1] === flying?.id) land();
    },
    drop, // for a page without a kernel: no answer will come
    stop: drop,
  };
}
