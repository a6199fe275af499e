// A page without a kernel: this takes its part, with the states that were recorded when the page was saved.

import { render } from "./figure.js";
import { joinOwner } from "./owner.js";
import { unpack } from "./packed.js";
import { isDark, watchTheme } from "./theme.js";

function bytesOf(text) {
  const plain = atob(text), bytes = new Uint8Array(plain.length);
  for (let k = 0; k < plain.length; k++) bytes[k] = plain.charCodeAt(k);
  return bytes;
}

// Unpacks what `page.packed` wrote: states whose display lists share blocks.
async function unpackStates(text) {
  const { contents: { lengths, states }, next } = await unpack(bytesOf(text));
  const blocks = lengths.map(next);
  return states.map(([values, key, words, numbers]) => {
    const list = () => joined(numbers.map((number) => blocks[number]));
    return { values, key, words, list };
  });
}

function joined(blocks) {
  const list = new Uint8Array(blocks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const block of blocks) {
    list.set(block, at);
    at += block.byteLength;
  }
  return new DataView(list.buffer);
}

const placeOn = (spec, value) => (spec.scale === "log" ? Math.log(value) : value);

// The state nearest to what is wanted: only the slider may differ.
function nearestState(states, specs, wanted) {
  let best, least = Infinity;
  for (const state of states) {
    let away = 0;
    for (const [name, value] of Object.entries(state.values)) {
      const spec = specs.get(name);
      if (spec.kind === "slider") away += Math.abs(placeOn(spec, value) - placeOn(spec, wanted[name]));
      else if (value !== wanted[name]) away = Infinity;
    }
    if (away < least) [best, least] = [state, away];
  }
  return best;
}

// What a view takes for the model of a widget.
class SavedModel {
  constructor(layouts) {
    const { setup } = layouts[0];
    this.layouts = layouts;
    this.specs = new Map(setup.controls.map((spec) => [spec.name, spec]));
    this.values = { ...setup.values };
    this.traits = {};
    this.listeners = [];
    this.edition = this.number = 0;
  }

  on(event, listener) { if (event === "msg:custom") this.listeners.push(listener); }
  off(event, listener) { this.listeners = this.listeners.filter((one) => one !== listener); }
  get(name) { return this.traits[name]; }
  set(name, value) { this.traits[name] = value; }
  save_changes() {}

  send(message) {
    if (message.kind === "open") this.open(message);
    if (message.kind === "set") this.move(message);
  }
  say(message, ...lists) { // after the one who asked has gone on, as a kernel would
    queueMicrotask(() => { for (const listener of this.listeners) listener(message, lists); });
  }

  async open({ view, dark, narrow }) {
    const layout = this.layouts.at(narrow ? -1 : 0);
    layout.unpacked ??= unpackStates(layout.states);
    this.states = await layout.unpacked;
    if (layout !== this.layout) this.edition += 1; // pictures of the other layout are of no use now
    this.layout = layout;
    const state = nearestState(this.states, this.specs, this.values);
    const still = new DataView(bytesOf(layout.stills[dark ? "dark" : "light"]).buffer);
    this.say({ ...layout.setup, view, dark, ...this.told(state) }, still, state.list());
  }
  move({ view, id, values, have }) {
    const state = nearestState(this.states, this.specs, { ...this.values, ...values }), answer = [view, id];
    if (state) Object.assign(this.values, state.values);
    if (have || !state) this.say({ kind: "answer", answer, values: { ...this.values } });
    else this.say({ kind: "frame", ratio: this.layout.setup.ratio, answer, ...this.told(state) }, state.list());
  }
  told({ key, words }) {
    this.number += 1;
    return { number: this.number, edition: this.edition, key, values: { ...this.values }, ...words };
  }
}

function addThemeButton(node) {
  const show = () => { node.setAttribute("aria-pressed", String(isDark())); };
  node.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; });
  node.hidden = false;
  watchTheme(show);
  show();
}

function show(part) {
  const [figure] = part.children;
  if (window.DecompressionStream) {
    const { layouts } = JSON.parse(part.querySelector("script").textContent);
    render({ model: new SavedModel(layouts), el: figure });
  } else { // a browser from before 2023
    figure.innerHTML = part.querySelector("noscript").textContent;
  }
}

if (window.parent !== window) joinOwner();
addThemeButton(document.getElementById("theme"));
for (const part of document.querySelectorAll(".gl-saved")) show(part);
