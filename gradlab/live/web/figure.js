// A figure whose moving parts are painted here. The still parts arrive as a PNG, the moving ones as
// a display list; the pictures of other states arrive ahead, and what is not here yet is asked for.

import { newArrival } from "./arrival.js";
import { newComputing } from "./computing.js";
import { controlOf, holdsValue, stateKey, valuesOf } from "./controls.js";
import { same } from "./dom.js";
import { addHandles } from "./handles.js";
import { addItems } from "./items.js";
import { HERE, kernelWords, watchKernel } from "./kernel.js";
import { addCopyLink, awaitsLink, takeLink, writeLink } from "./link.js";
import { newLock } from "./lock.js";
import { newOpening } from "./opening.js";
import { addPlayer } from "./player.js";
import { newFrameCache, unpackFrames } from "./frame_cache.js";
import { addPresenter } from "./present.js";
import { newRequests } from "./requests.js";
import { newScreen } from "./screen.js";
import { addMore, addPresets, placesFor } from "./column.js";
import { buildSkeleton, describeField } from "./skeleton.js";
import { addWords } from "./words.js";
import { addZoom } from "./zoom.js";

const wordsIn = ({ alt, summary, table, goal, met, idle, stuck }) => ({
  alt,
  summary,
  table,
  goal,
  met,
  idle,
  stuck,
});

class View {
  constructor(model, el) {
    this.model = watchKernel(model, this.followKernel, () => this.opening.repeat());
    this.id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.parts = buildSkeleton(el);
    this.press = { taken: false };
    this.controls = new Map();
    this.frames = newFrameCache();
    this.screen = newScreen(this.parts.root, this.parts.picture, this.parts.canvas);
    this.words = addWords(this.parts);
    this.lock = newLock(this.parts.root);
    this.computing = newComputing(this.parts);
    this.requests = newRequests(this.model, this.id, () => this.known() !== undefined);
    this.items = addItems(this.parts, this.model, this.press, () =>
      this.words.item(this.items.text()),
    );
    this.handles = addHandles(
      this.parts.areas,
      this.controls,
      this.moved,
      this.press,
      this.items.closer,
    );
    // Those of the still picture; unknown until the kernel has introduced itself.
    this.ratio = this.dark = null;
    this.axis = -1; // the part of the key along which a neighbor's picture will do
    this.edition = this.number = -1;
    this.latest = this.described = this.status = this.frame = null;
    // The newest picture in full, {values, entry}; what is painted may be a neighbor of it.
    this.shown = null;
    this.held = this.closed = false;
    this.pauses = []; // functions that pause the players
    this.marks = []; // follow the values: on presets, and on what is folded
    this.stops = [
      this.requests.stop,
      this.items.stop,
      this.words.stop,
      this.screen.stop,
      this.computing.stop,
    ];
    this.listen();
  }

  listen() {
    const { root } = this.parts;
    const release = () => {
      this.held = false;
    };
    // Keys here are not the notebook's.
    root.addEventListener("keydown", (event) => event.stopPropagation());
    root.addEventListener(
      "pointerdown",
      () => {
        this.held = true;
      },
      true,
    );
    for (const kind of ["pointerup", "pointercancel"]) {
      window.addEventListener(kind, release, true);
      this.stops.push(() => window.removeEventListener(kind, release, true));
    }
    this.hear("msg:custom", this.receive);
    this.opening = newOpening(root, (wanted) => this.send("open", wanted));
    this.arrival = newArrival(root, this.model.get("_name"));
    this.stops.push(this.opening.stop, this.arrival.stop);
  }
  hear(event, act) {
    this.model.on(event, act);
    this.stops.push(() => this.model.off(event, act));
  }
  send(kind, content) {
    this.model.send({ kind, view: this.id, ...content });
  }

  // ---- what the reader does

  moved = (values) => {
    if (this.lock.isOn()) {
      // the browser has moved the input already: move it back
      for (const name of Object.keys(values))
        this.controls.get(name)?.set(this.controls.get(name).value);
      return;
    }
    const news = Object.entries(values).filter(
      ([name, value]) => !same(this.controls.get(name)?.value, value),
    );
    if (!news.length) {
      // such as Reset where nothing moved: a status goes all the same
      this.dropStatus();
      return;
    }
    for (const [name, value] of news) this.controls.get(name).set(value);
    this.follow();
    this.words.dropNote();
    this.described = this.status = null;
    this.requests.add(Object.fromEntries(news));
    this.refreshSoon();
    this.requests.flush(); // the traits are the kernel's to set
  };
  dropStatus() {
    if (!this.status) return;
    this.described = this.status = null;
    this.refresh();
  }
  refreshSoon() {
    // pointers move more often than the screen shows
    if (!this.held) this.refresh();
    else
      this.frame ??= requestAnimationFrame(() => {
        this.frame = null;
        this.refresh();
      });
  }

  // ---- which picture to show

  known() {
    return this.frames.get(stateKey(this.controls));
  }
  neighbor() {
    return this.axis < 0 ? undefined : this.frames.nearest(stateKey(this.controls), this.axis);
  }
  // The picture of this state; or, until the kernel has answered, one nearby or the latest it gave.
  refresh(fresh = false) {
    if (this.closed) return;
    const exact = this.known();
    const near = exact ?? (this.requests.idle() ? undefined : this.neighbor());
    if (near) this.show(near, near === exact);
    else if (this.latest && (fresh || this.requests.idle())) this.show(this.latest, true);
    if (exact) this.shown = { values: valuesOf(this.controls), entry: exact };
    this.computing.follow(this.isOutdated());
  }
  // Whether the controls are ahead of the picture.
  isOutdated() {
    if (!this.shown || this.known()) return false;
    return stateKey(this.controls) !== stateKey(this.controls, this.shown.values);
  }
  show({ list, words }, full) {
    this.screen.show(list);
    this.items.frame(list);
    if (!full || words === this.described) return;
    this.described = words;
    for (const control of this.controls.values()) {
      // Stuck: without a kernel, a control that leads to no other state.
      control.stuck = Boolean(words.stuck?.includes(control.spec.name));
      control.idle?.(control.stuck || words.idle.includes(control.spec.name));
    }
    this.handles.follow();
    this.words.describe(
      words,
      this.items.text(),
      this.status?.about === words ? this.status : null,
    );
  }
  place(values) {
    // a control that the reader is moving keeps the reader's value
    for (const [name, value] of Object.entries(values)) {
      if (!this.requests.holds(name)) this.controls.get(name)?.set(value);
    }
    this.follow();
  }
  follow() {
    // what shows the values besides the controls
    this.handles.follow();
    for (const mark of this.marks) mark();
  }

  // ---- whether there is a kernel

  followKernel = (state) => {
    if (state !== HERE) this.goBack();
    this.lock.set(state !== HERE);
    this.words.kernel(kernelWords(state));
  };
  // Nothing more will be computed: the controls go back to what the picture shows.
  goBack() {
    for (const pause of this.pauses) pause();
    // The work of a button ended with its kernel.
    for (const control of this.controls.values()) control.busy?.(false);
    this.requests.drop();
    if (!this.shown) return;
    const { values, entry } = this.shown;
    this.place(values);
    this.latest = entry;
    this.described = this.status = null;
    this.refresh();
  }

  // ---- what the kernel says

  receive = (message, buffers) => {
    const handlers = {
      setup: this.setUp,
      still: this.takeStill,
      frame: this.takeFrame,
      reel: this.takeReel,
      answer: this.takeAnswer,
      status: this.takeStatus,
      controls: this.takeControls,
      busy: ({ name, busy }) => this.controls.get(name)?.busy(busy),
      present: ({ view }) => {
        if (view === this.id) this.presenter.enter(false);
      },
    };
    this.model.setHere();
    const introduced = this.ratio !== null || ["setup", "status"].includes(message?.kind);
    return introduced ? handlers[message?.kind]?.call(this, message, buffers ?? []) : undefined;
  };
  setUp(message, buffers) {
    if (message.view !== this.id) return;
    const first = this.ratio === null;
    if (message.ratio !== this.ratio) this.frames.clear(); // its pictures have another size
    this.ratio = message.ratio;
    this.dark = message.dark;
    this.opening.answered(message);
    if (first) this.introduce(message);
    else this.takeControls(message);
    for (const name of message.busy) this.controls.get(name).busy(true);
    const shown = this.takeStill(message, buffers);
    if (message.status.text) this.takeStatus(message.status);
    if (message.present) this.presenter.enter(false);
    if (first && message.name) this.obeyLink(message.name, shown);
    return shown;
  }
  introduce({ label, name, launch, prompt, controls, presets, start, axis, fixed, sentences }) {
    if (prompt) this.requests.promptly();
    const { root, tools } = this.parts;
    const press = (button) => this.send("press", { name: button });
    root.setAttribute("aria-label", label);
    const placeOf = placesFor(controls, this.parts);
    for (const spec of controls)
      this.addControl(spec, controlOf(spec, placeOf(spec), this.moved, press));
    const valued = [...this.controls.values()].filter(holdsValue);
    this.keeps = axis !== null; // without an axis a state may look different each time
    // Only on a slider are neighbors alike.
    this.axis = valued.findIndex(({ spec }) => spec.name === axis && spec.kind === "slider");
    this.presets = presets;
    this.marks = [
      addMore(this.parts.more, this.controls, start),
      addPresets(this.parts, presets, start, this.controls, this.moved),
    ];
    const zoom = (wanted) => this.send("zoom", wanted);
    this.zoom = addZoom(this.parts, tools, this.press, zoom, () => this.describeField());
    this.stops.push(this.zoom.stop);
    this.fixed = Boolean(fixed);
    if (sentences) this.words.expect(sentences);
    if (name) addCopyLink(tools, () => writeLink(name, this.controls), launch, this.words.note);
    this.presenter = addPresenter(this.parts, this.opening.enlarge, () => this.words.note(""));
    this.stops.push(this.presenter.stop);
  }
  addControl(spec, control) {
    this.controls.set(spec.name, control);
    if (!holdsValue(control)) return;
    if (spec.play && !spec.fixed) this.pauses.push(addPlayer(control));
    this.hear(`change:${spec.name}`, () => this.takeTrait(spec.name, this.model.get(spec.name)));
  }
  takeControls({ controls, presets }) {
    // where the data grow, so do the ends of sliders
    for (const spec of controls) this.controls.get(spec.name)?.refit?.(spec);
    for (const { label, values } of presets)
      Object.assign(this.presets.find((one) => one.label === label)?.values ?? {}, values);
  }
  obeyLink(name, shown) {
    const isHere = awaitsLink(name);
    const { values, note } = takeLink(name, this.controls);
    this.moved(values);
    if (note) this.words.note(note);
    if (isHere) shown.then(this.arrival.landed);
  }
  describeField() {
    describeField(this.parts.field, this.items.name(), this.zoom.active());
  }

  // Takes over what a message shows; whether nothing newer has come before it.
  adopt(message, list) {
    this.screen.learn(message.colors);
    if (message.edition < this.edition) return false;
    if (message.edition > this.edition) this.frames.clear();
    this.edition = message.edition;
    const entry = { list, words: wordsIn(message) };
    if (this.keeps) this.frames.keep(message.key, entry);
    if (message.number < this.number) return false;
    this.number = message.number;
    this.latest = entry;
    return true;
  }
  async takeStill(message, [png, list]) {
    if (message.ratio !== this.ratio || message.dark !== this.dark) return;
    this.opening.arranged(message);
    if (this.adopt(message, list)) this.shown = { values: message.values, entry: this.latest };
    this.place(message.values);
    this.zoom.landed();
    const image = await this.screen.decoded(png);
    if (!image || this.closed) return;
    this.screen.exchange(image, message);
    this.handles.show(message.areas);
    this.items.show(message.items, message.panels);
    this.zoom.show(message.panels, message.zoomed, this.fixed);
    this.refresh(true);
    this.describeField();
  }
  takeFrame(message, [list]) {
    this.requests.answered(message.answer);
    const newest = message.ratio === this.ratio && this.adopt(message, list);
    this.requests.flush(); // the kernel works on the next one while this one is painted
    if (!newest) return;
    this.shown = { values: message.values, entry: this.latest };
    this.computing.restart();
    this.place(message.values);
    this.refresh(true);
  }
  async takeReel(message, [packed]) {
    if (message.ratio !== this.ratio) return;
    this.screen.learn(message.colors);
    const entries = await unpackFrames(packed);
    if (message.ratio !== this.ratio || message.edition !== this.edition) return;
    for (const [key, entry] of entries) this.frames.keep(key, entry);
    this.words.expect(entries.map(([, { words }]) => words.summary));
    // A better picture of where the reader is may be among them.
    if (!this.requests.idle()) this.refresh();
  }
  // Whoever set it, the kernel or a widget linked to this one, has told the kernel, and a frame
  // will come.
  takeTrait(name, value) {
    if (this.lock.isOn()) return; // without a kernel no frame comes
    if (
      value === undefined ||
      this.requests.holds(name) ||
      same(value, this.controls.get(name).value)
    )
      return;
    this.place({ [name]: value });
    this.described = this.status = null;
    if (this.known()) this.refresh();
    else this.computing.follow(this.isOutdated());
  }
  takeStatus({ text, error, view = this.id }) {
    // it stands for the words of this state, which may still wait for its picture
    if (view !== this.id) return;
    this.status = { text, error, about: this.latest?.words };
    this.words.status(text, error);
  }
  takeAnswer(message) {
    this.requests.answered(message.answer);
    this.shown = {
      values: message.values,
      entry: this.frames.get(stateKey(this.controls, message.values)) ?? this.latest,
    };
    this.place(message.values);
    this.refresh();
    this.requests.flush();
  }

  close() {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    for (const stop of [...this.stops, ...this.pauses]) stop();
    this.send("close");
    this.model.stop();
    this.parts.root.remove();
  }
}

export function render({ model, el }) {
  const view = new View(model, el);
  return () => view.close();
}
