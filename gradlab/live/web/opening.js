// What a view asks to be drawn for: the pixels of the screen, a dark page or a light one, a narrow
// one or a wide one.

import { same } from "./dom.js";
import { isNarrow, pixelRatio, watchRatio, watchWidth } from "./measure.js";
import { isDark, watchTheme } from "./theme.js";

// Without an answer the view would stay empty; a busy kernel is asked ever more rarely.
const UNANSWERED_MS = 5000;
const RARELY_MS = 320000;

// `send` asks the kernel, again whenever something changes.
export function newOpening(root, send) {
  let asked = null;
  let shown = null;
  let arranges = false;
  let timer = null;
  let scale = 1;

  function ask(again = false, patience = UNANSWERED_MS) {
    clearTimeout(timer);
    timer = setTimeout(ask, patience, true, Math.min(2 * patience, RARELY_MS));
    send({ ...asked, again });
  }

  function open() {
    const wanted = { ratio: scale * pixelRatio(), dark: isDark(), narrow: isNarrow(root) };
    root.classList.toggle("gl-dark", wanted.dark);
    if (wanted.narrow === null || same(wanted, asked)) return;
    asked = wanted;
    ask();
  }
  // All views share one arrangement: the one that the reader turns to has it. None asks by itself,
  // or two would fight.
  function turnedTo() {
    if (!arranges || shown === asked.narrow) return;
    shown = asked.narrow;
    ask();
  }
  for (const kind of ["pointerdown", "focusin"]) root.addEventListener(kind, turnedTo);
  const stops = [watchTheme(open), watchRatio(open), watchWidth(root, open)];
  open();
  return {
    answered({ dark, narrow }) {
      if (dark === asked.dark) clearTimeout(timer); // else it is the answer to an earlier question
      arranges = narrow === asked.narrow; // or the kernel knows one arrangement only
    },
    arranged({ narrow }) {
      shown = narrow;
    },
    repeat() {
      if (asked) ask();
    }, // after a lost connection the page may have missed an answer
    enlarge(times) {
      scale = times;
      open();
    }, // the picture is shown so many times as large
    stop() {
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}
