// A picture that is older than the controls is dimmed and says so, after a moment: an answer that comes at once must not
// flicker.

import { element, setText } from "./dom.js";

const SOON_MS = 300;
const LONG_MS = 10000; // then the kernel may be busy with a cell, or lost

export function newComputing({ root, head, picture, canvas }) {
  const pill = element("p", "gl-pill", picture, { role: "status" });
  let timer = null, dimmed = false;

  function dim(on, text) {
    dimmed = on;
    root.classList.toggle("gl-computing", on);
    for (const node of [head, canvas]) {
      if (on) node.setAttribute("aria-busy", "true");
      else node.removeAttribute("aria-busy");
    }
    setText(pill, text);
  }
  function begin() {
    dim(true, "computing");
    timer = setTimeout(() => setText(pill, "no answer from the kernel yet"), LONG_MS);
  }
  function end() {
    clearTimeout(timer);
    timer = null;
    if (dimmed) dim(false, "");
  }
  return {
    follow(outdated) {
      if (!outdated) end();
      else timer ??= setTimeout(begin, SOON_MS);
    },
    // A newer picture has come, if not yet the newest: while pictures follow a drag, none is old.
    renew() {
      if (dimmed) return;
      clearTimeout(timer);
      timer = null;
    },
    stop: end,
  };
}
