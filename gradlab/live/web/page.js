// A page without a kernel: this takes its part, with the states that were recorded when the page
// was saved.

import { render } from "./figure.js";
import { joinOwner } from "./owner.js";
import { stateAfter, stateAt, stuckAt } from "./nearby.js";
import { unpackMasks, unpackStates } from "./states.js";
import { isDark, watchTheme } from "./theme.js";

function bytesOf(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let k = 0; k < plain.length; k++) bytes[k] = plain.charCodeAt(k);
  return bytes;
}

// A state: the values of all controls, its key, its words, and a function that gives its display
// list.
async function statesOf(packed, masks, start) {
  const states = await unpackStates(bytesOf(packed), await masks);
  return states.map(({ row: [values, key, words], list }) => ({
    values: { ...start, ...values },
    key,
    words,
    list,
  }));
}

// Whether a pointer is down: then a slider follows it, and a step is not the press of a key.
let held = false;
for (const kind of ["pointerdown", "pointerup", "pointercancel"]) {
  window.addEventListener(
    kind,
    () => {
      held = kind === "pointerdown";
    },
    true,
  );
}

// What a view takes for the model of a widget.
class SavedModel {
  constructor({ layouts, masks }) {
    const { setup } = layouts[0];
    this.layouts = layouts;
    this.masks = unpackMasks(bytesOf(masks));
    this.specs = new Map(setup.controls.map((spec) => [spec.name, spec]));
    this.axis = setup.axis;
    this.start = setup.start;
    this.chips = [...setup.presets.map((preset) => preset.values), setup.start];
    this.values = { ...setup.start };
    this.traits = {};
    this.listeners = [];
    this.edition = this.number = 0;
  }

  on(event, listener) {
    if (event === "msg:custom") this.listeners.push(listener);
  }
  off(event, listener) {
    this.listeners = this.listeners.filter((one) => one !== listener);
  }
  get(name) {
    return this.traits[name];
  }
  set(name, value) {
    this.traits[name] = value;
  }
  save_changes() {}

  send(message) {
    if (message.kind === "open") this.open(message);
    if (message.kind === "set") this.move(message);
  }
  say(message, ...lists) {
    // after the one who asked has gone on, as a kernel would
    queueMicrotask(() => {
      for (const listener of this.listeners) listener(message, lists);
    });
  }

  async open({ view, dark, narrow }) {
    const layout = this.layouts.at(narrow ? -1 : 0);
    layout.unpacked ??= statesOf(layout.states, this.masks, this.start);
    this.states = await layout.unpacked;
    if (layout !== this.layout) this.edition += 1; // pictures of the other layout are of no use now
    this.layout = layout;
    const state = this.go(stateAt(this.states, this.specs, this.values));
    const still = new DataView(bytesOf(layout.stills[dark ? "dark" : "light"]).buffer);
    const sentences = this.states.map(({ words }) => words.summary);
    this.say({ ...layout.setup, view, dark, sentences, ...this.told(state) }, still, state.list());
  }
  move({ view, id, values, have }) {
    const answer = [view, id];
    this.go(stateAfter(this.states, this, values, held));
    if (have) this.say({ kind: "answer", answer, values: { ...this.values } });
    else
      this.say(
        { kind: "frame", ratio: this.layout.setup.ratio, answer, ...this.told(this.here) },
        this.here.list(),
      );
  }
  go(state) {
    this.values = { ...state.values };
    this.here = state;
    return state;
  }
  told({ key, words }) {
    this.number += 1;
    const stuck = stuckAt(this.states, this.here, this.axis);
    return {
      number: this.number,
      edition: this.edition,
      key,
      values: { ...this.values },
      ...words,
      stuck,
    };
  }
}

function addThemeButton(node) {
  const show = () => {
    node.textContent = isDark() ? "Light page" : "Dark page";
  };
  node.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  });
  node.hidden = false;
  watchTheme(show);
  show();
}

function show(part) {
  const [figure] = part.children;
  if (window.DecompressionStream) {
    render({
      model: new SavedModel(JSON.parse(part.querySelector("script").textContent)),
      el: figure,
    });
  } else {
    // a browser from before 2023
    figure.innerHTML = part.querySelector("noscript").textContent;
  }
}

if (window.parent !== window) joinOwner();
addThemeButton(document.getElementById("theme"));
for (const part of document.querySelectorAll(".gl-saved")) show(part);
