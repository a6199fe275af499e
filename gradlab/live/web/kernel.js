// The kernel behind a figure, as its page knows it: here, away (the connection may come back), or
// gone. A kernel that was shut down, died or was restarted is gone for good: a new one knows
// nothing of this figure.

export const HERE = "here";
export const AWAY = "away";
export const GONE = "gone";

const ENDINGS = new Set(["dead", "terminating", "restarting", "autorestarting"]);

// Wraps the widget's model in one whose sends never throw: a send that fails means that the kernel
// is gone. It calls `onState(state)` when the state changes, and `onReconnect()` when the page has
// its connection again. The state is HERE again only with the first message, because the kernel may
// have ended meanwhile.
export function watchKernel(model, onState, onReconnect) {
  // JupyterLab, Notebook 7 and Voila let widgets see the kernel; in other hosts only a failed send
  // tells that it is gone.
  const kernel = model.widget_manager?.kernel;
  const stops = [];
  let state = HERE;

  function setState(next) {
    if (state === next || state === GONE) return;
    state = next;
    onState(state);
  }
  const setGone = () => setState(GONE);

  // Hosts differ: some throw at once, others return a promise that rejects.
  function trySending(send) {
    if (state === GONE) return;
    try {
      Promise.resolve(send()).catch(setGone);
    } catch {
      setGone();
    }
  }
  function followStatus(_kernel, status) {
    if (ENDINGS.has(status)) setGone();
  }
  function followConnection(_kernel, status) {
    if (kernel.isDisposed) setGone();
    else if (status !== "connected") setState(AWAY);
    else if (state === AWAY) onReconnect();
  }
  function listen(signal, listener) {
    if (typeof signal?.connect !== "function") return; // a host whose kernels have no such signal
    signal.connect(listener);
    stops.push(() => signal.disconnect(listener));
  }
  listen(kernel?.statusChanged, followStatus);
  listen(kernel?.connectionStatusChanged, followConnection);
  listen(kernel?.disposed, setGone);
  model.on("comm_live_update", setGone); // ipywidgets says this once, when the kernel is restarted
  stops.push(() => model.off("comm_live_update", setGone));

  return {
    get: (name) => model.get(name),
    set: (name, value) => model.set(name, value),
    on: (event, listener) => model.on(event, listener),
    off: (event, listener) => model.off(event, listener),
    send: (message) => trySending(() => model.send(message)),
    save_changes: () => trySending(() => model.save_changes()),
    setHere: () => setState(HERE), // a message has come, so the kernel is there
    stop() {
      for (const stop of stops) stop();
    },
  };
}

// What a reader can do without a kernel depends on where the figure is.
export function kernelWords(state) {
  if (state === HERE) return "";
  if (state === AWAY) return "No connection to the kernel.";
  return document.body.dataset.voila
    ? "No kernel: reload the page."
    : "No kernel: run the cell again.";
}
