// Plays a slider like a film. Nothing starts by itself.

import { KEYS, clamp, drawIcon, element, iconButton } from "./dom.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];
const CALM_RATE = 4; // positions a second, for readers who asked for less motion
// Seconds that one step of the clock may count: a page in the background has none.
const LONGEST = 0.25;

export function addPlayer(control) {
  const { spec, input, row } = control;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const group = element("span", "gl-player", row, {
    role: "group",
    "aria-label": `Play ${spec.label}`,
  });
  let frame = null;
  let last = 0;
  let due = 0;

  const rate = () => {
    const wanted = clamp(spec.count / 8, 2, 30) * Number(speed.value);
    return calm.matches ? Math.min(wanted, CALM_RATE) : wanted;
  };
  const looping = () => loop.getAttribute("aria-pressed") === "true";

  function advance(steps) {
    const next = control.position() + steps;
    control.move(next > spec.count && looping() ? next % (spec.count + 1) : next);
    if (next >= spec.count && !looping()) pause();
  }
  function tick(now) {
    frame = requestAnimationFrame(tick);
    due += Math.min((now - last) / 1000, LONGEST) * rate();
    last = now;
    const steps = Math.floor(due);
    due -= steps;
    if (steps) advance(steps);
  }
  function play() {
    if (control.position() === spec.count) control.move(0);
    last = performance.now();
    due = 0;
    frame = requestAnimationFrame(tick);
    drawIcon(button, "pause", "Pause");
  }
  function pause() {
    if (frame === null) return;
    cancelAnimationFrame(frame);
    frame = null;
    drawIcon(button, "play", "Play");
  }
  const toggle = () => (frame === null ? play() : pause());
  const step = (by) => {
    pause();
    control.move(control.position() + by);
  };

  iconButton(group, "back", "Step back", () => step(-1));
  const button = iconButton(group, "play", "Play", toggle);
  iconButton(group, "forward", "Step forward", () => step(1));
  const speed = speedMenu(group);
  const loop = iconButton(group, "loop", "Loop", () =>
    loop.setAttribute("aria-pressed", String(!looping())),
  );
  loop.setAttribute("aria-pressed", "false");
  input.addEventListener("pointerdown", pause); // whoever takes the handle wants to hold it
  input.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    toggle();
  });
  return pause;
}

function speedMenu(group) {
  const menu = element("select", "gl-speed", group, {
    "aria-label": "Speed",
    title: "Speed",
    ...KEYS,
  });
  for (const speed of SPEEDS)
    element("option", "", menu, { value: speed }).textContent = `${speed}×`;
  menu.value = "1";
  return menu;
}
