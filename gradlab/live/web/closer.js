// Parts of a panel that shall fill it. A part is {x: [from, to], y: [from, to]}, from the panel's
// left and bottom.

import { clamp } from "./dom.js";

const LOST_STILL_MS = 3000;
const LEAST_BOX = 8; // CSS pixels: a box thinner than this leaves that direction as it is
const KEY_STEP = 0.25;
const KEY_ZOOM = 1.5;
const WHOLE = { x: [0, 1], y: [0, 1] };

const bothWays = (make) => ({ x: make("x"), y: make("y") });
const within = ([low, high], part) => part.map((at) => low + at * (high - low));
const rebased = ([low, high], part) => part.map((at) => (at - low) / (high - low));
const about = (middle, factor) => [middle - middle / factor, middle + (1 - middle) / factor];
const sides = (a, b) => [clamp(Math.min(a, b), 0, 1), clamp(Math.max(a, b), 0, 1)];

export const nearerTo = (place, factor) => bothWays((way) => about(place[way], factor));

// What a panel shows when the place that was at `from` comes to `to`.
export const movedBy = (from, to) =>
  bothWays((way) => [from[way] - to[way], 1 + from[way] - to[way]]);

// The part between two corners in a panel of this many pixels; null: too small to be meant.
export function boxBetween(from, to, pixels) {
  const part = bothWays((way) => sides(from[way], to[way]));
  const thick = bothWays((way) => (part[way][1] - part[way][0]) * pixels[way] >= LEAST_BOX);
  return thick.x || thick.y ? bothWays((way) => (thick[way] ? part[way] : WHOLE[way])) : null;
}

const SHIFTS = {
  ArrowLeft: ["x", -1],
  ArrowRight: ["x", 1],
  ArrowDown: ["y", -1],
  ArrowUp: ["y", 1],
};
const FACTORS = { "+": KEY_ZOOM, "=": KEY_ZOOM, "-": 1 / KEY_ZOOM };

// What a key asks to see; null: all, undefined: the key means nothing here.
export function partAfter({ key, shiftKey }) {
  if (shiftKey && key in SHIFTS) {
    const [way, step] = SHIFTS[key];
    return { ...WHOLE, [way]: [step * KEY_STEP, 1 + step * KEY_STEP] };
  }
  if (key in FACTORS) return nearerTo({ x: 0.5, y: 0.5 }, FACTORS[key]);
  return key === "0" ? null : undefined;
}

// One request at a time; what is asked meanwhile adds up. A request is {panel, x, y}, or null for
// all.
export function newZoomRequests(send) {
  let flying = null;
  let waiting = null;

  function start(wanted) {
    flying = { wanted, lost: setTimeout(goOn, LOST_STILL_MS) };
    send({ panel: null, ...wanted });
  }
  function ask(wanted) {
    if (flying) waiting = { wanted };
    else start(wanted);
  }
  // What waits was asked of what was shown before: `done` is the part of it that is shown now.
  function goOn(done = null) {
    clearTimeout(flying?.lost);
    const next = waiting?.wanted ?? null;
    const asked = waiting !== null;
    flying = waiting = null;
    if (!asked) return;
    const same = next && done && next.panel === done.panel;
    start(same ? { panel: next.panel, ...bothWays((way) => rebased(done[way], next[way])) } : next);
  }
  return {
    ask,
    // A part of what the panel will show once all that is under way is done.
    change(panel, part) {
      const base = waiting?.wanted ?? flying?.wanted;
      const from = base?.panel === panel ? base : WHOLE;
      ask({ panel, ...bothWays((way) => within(from[way], part[way])) });
    },
    landed() {
      goOn(flying?.wanted);
    },
    stop() {
      clearTimeout(flying?.lost);
    },
  };
}
