// The kernel behind a figure, as its page knows it: here, out of reach (the connection may come back), or gone. A kernel that
// was shut down, died or started again is gone for good: a new one knows nothing of this figure.

export const HERE = "here";
export const AWAY = "away";
export const GONE = "gone";

const ENDINGS = new Set(["dead", "terminating", "restarting", "autorestarting"]);

// A model that never throws: what cannot be sent says that the kernel is gone. `changed` hears of every other state, and
// `reconnected` that the page has its connection again, before anything has come over it.
export function watchKernel(model, changed, reconnected) {
  // JupyterLab, Notebook 7 and Voila let widgets see the kernel; elsewhere only what is sent tells.
  const kernel = model.widget_manager?.kernel;
  const stops = [];
  let state = HERE;

  function become(next) {
    if (state === next || state === GONE) return;
    state = next;
    changed(state);
  }
  const lose = () => become(GONE);

  function attempt(act) {
    if (state === GONE) return;
    try {
      Promise.resolve(act()).catch(lose);
    } catch {
      lose();
    }
  }
  function followStatus(_kernel, status) {
    if (ENDINGS.has(status)) lose();
  }
  function followConnection(_kernel, status) {
    if (kernel.isDisposed) lose();
    else if (status !== "connected") become(AWAY);
    else if (state === AWAY) reconnected();
  }
  function connect(signal, hear) {
    if (typeof signal?.connect !== "function") return; // another host's kernel
    signal.connect(hear);
    stops.push(() => signal.disconnect(hear));
  }
  connect(kernel?.statusChanged, followStatus);
  connect(kernel?.connectionStatusChanged, followConnection);
  connect(kernel?.disposed, lose);
  model.on("comm_live_update", lose); // ipywidgets says this once, when the kernel starts again
  stops.push(() => model.off("comm_live_update", lose));

  return {
    get: (name) => model.get(name),
    set: (name, value) => model.set(name, value),
    on: (event, hear) => model.on(event, hear),
    off: (event, hear) => model.off(event, hear),
    send: (message) => attempt(() => model.send(message)),
    save_changes: () => attempt(() => model.save_changes()),
    heard: () => become(HERE), // any message shows that it is there
    stop() { for (const stop of stops) stop(); },
  };
}

// What a reader can do about it depends on where the figure is.
export function kernelWords(state) {
  if (state === HERE) return "";
  if (state === AWAY) return "No connection to the kernel.";
  return document.body.dataset.voila ? "No kernel: reload the page." : "No kernel: run the cell again.";
}
