// Dims a picture that is older than the controls and says that the new one is computed. This begins
// after a moment only, or each answer that comes at once would flicker.

import { element, setText } from "./dom.js";

const DIM_AFTER_MS = 300;
const NO_ANSWER_AFTER_MS = 10000; // then the kernel may be busy with a cell, or lost

export function newComputing({ root, head, picture, canvas }) {
  const pill = element("p", "gl-pill", picture, { role: "status" });
  let isDimmed = false;
  let timer = null; // first until the picture is dimmed, then until there is still no answer

  function setDimmed(on, text) {
    isDimmed = on;
    root.classList.toggle("gl-computing", on);
    for (const node of [head, canvas]) {
      if (on) node.setAttribute("aria-busy", "true");
      else node.removeAttribute("aria-busy");
    }
    setText(pill, text);
  }
  function begin() {
    setDimmed(true, "computing");
    timer = setTimeout(() => setText(pill, "no answer from the kernel yet"), NO_ANSWER_AFTER_MS);
  }
  function end() {
    clearTimeout(timer);
    timer = null;
    if (isDimmed) setDimmed(false, "");
  }
  return {
    follow(isOutdated) {
      if (!isOutdated) end();
      else timer ??= setTimeout(begin, DIM_AFTER_MS);
    },
    // A newer picture has come, though not the newest: wait again from here, or a long drag would
    // dim pictures that follow it closely. A picture that is dimmed already stays so until the
    // newest one is there.
    restart() {
      if (isDimmed) return;
      clearTimeout(timer);
      timer = null;
    },
    stop: end,
  };
}
