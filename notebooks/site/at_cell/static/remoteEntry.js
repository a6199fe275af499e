// Opens a notebook at the cell that a link names by `#cell-id=...`: JupyterLite drops that part of
// an address when it opens the file. Written as module federation has extensions of JupyterLab, by
// hand: it needs nothing of theirs.
const NAME = "gradlab-at-cell";
const fragment = location.hash; // read now, before JupyterLite has changed the address
const PAUSE = 200; // ms
const PATIENCE = 60_000;

async function panel(shell) {
  for (const end = Date.now() + PATIENCE; Date.now() < end;) {
    const widget = shell.currentWidget;
    if (widget?.context && widget.setFragment) return widget;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return null;
}

async function show(app) {
  await app.restored; // which waits for all extensions: `activate` must not wait for it
  const found = await panel(app.shell);
  await found?.context.ready;
  found?.setFragment(fragment);
}

function activate(app) {
  if (fragment.startsWith("#cell-id=")) void show(app);
}

(window._JUPYTERLAB ??= {})[NAME] = {
  init() {},
  get: async () => () => ({
    __esModule: true,
    default: { id: `${NAME}:plugin`, autoStart: true, activate },
  }),
};
