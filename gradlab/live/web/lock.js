// Controls that cannot move. They keep the focus: if it went to the page, the next keys would be the notebook's.

const LOCKED = "input, select, button, .gl-handle";
const FREE = ".gl-present, .gl-copy, .gl-link"; // these work in the browser alone
const LEAVING = new Set(["Tab", "Escape"]);

export function newLock(root) {
  let locked = false;

  function refuse(event) {
    if (!locked || !event.target.closest("[aria-disabled='true']") || LEAVING.has(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  for (const kind of ["keydown", "click"]) root.addEventListener(kind, refuse, true);

  return {
    isOn: () => locked,
    turn(on) {
      locked = on;
      root.classList.toggle("gl-locked", on);
      for (const node of root.querySelectorAll(LOCKED)) {
        if (node.matches(FREE)) continue;
        if (on) node.setAttribute("aria-disabled", "true");
        else node.removeAttribute("aria-disabled");
      }
    },
  };
}
