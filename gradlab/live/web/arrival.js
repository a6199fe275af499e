// A link opens a notebook at its top, and running all cells leads to its end: the lab that the link
// is for comes into view, at once rather than by scrolling past all that is between, and not if the
// reader has turned to something else.

import { awaitsLink } from "./link.js";

// In JupyterLab a node is not told when it is put into the page where nobody looks.
const LOOK_MS = 100;
const SETTLE_MS = 3000; // labs above it grow when they are painted, and push it down
const TURNS = ["wheel", "touchmove", "pointerdown", "keydown"];

export function newArrival(root, name) {
  let timer = null;
  let turned = false;
  const turn = () => {
    turned = true;
  };

  function watch() {
    for (const kind of TURNS) window.addEventListener(kind, turn, { capture: true, passive: true });
  }
  function stop() {
    clearTimeout(timer);
    for (const kind of TURNS) window.removeEventListener(kind, turn, true);
  }
  function show() {
    const used = document.activeElement?.closest(".gl-live");
    if (!turned && (!used || used === root))
      root.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
  // Out of view it has no size, so it would neither ask for its picture nor take the link.
  function approach() {
    if (!awaitsLink(name)) return;
    if (root.isConnected) show();
    else timer = setTimeout(approach, LOOK_MS);
  }
  function stay(end) {
    show();
    if (turned || Date.now() > end) stop();
    else timer = setTimeout(stay, LOOK_MS, end);
  }
  if (awaitsLink(name)) {
    watch();
    approach();
  }
  return {
    landed() {
      // it is painted, at its full size
      watch();
      stay(Date.now() + SETTLE_MS);
    },
    stop,
  };
}
