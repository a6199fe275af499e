// Locks the controls of a figure without disabling them: a disabled control loses the focus to the
// page, and the next keys would be commands of the notebook.

const LOCKABLE = "input, select, button, .gl-handle";
const BROWSER_ONLY = ".gl-present, .gl-copy, .gl-link"; // these work without a kernel
const LEAVING_KEYS = new Set(["Tab", "Escape"]);

export function newLock(root) {
  let isOn = false;

  function refuse(event) {
    if (!isOn || !event.target.closest("[aria-disabled='true']") || LEAVING_KEYS.has(event.key))
      return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  // In the capture phase, before the listeners of the controls. Pointers are kept away by the style
  // sheet.
  for (const kind of ["keydown", "click"]) root.addEventListener(kind, refuse, true);

  return {
    isOn: () => isOn,
    set(on) {
      isOn = on;
      root.classList.toggle("gl-locked", on);
      for (const node of root.querySelectorAll(LOCKABLE)) {
        if (node.matches(BROWSER_ONLY)) continue;
        if (on) node.setAttribute("aria-disabled", "true");
        else node.removeAttribute("aria-disabled");
      }
    },
  };
}
