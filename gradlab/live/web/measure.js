// What a view looks like on this screen: device pixels per CSS pixel, and whether it is narrow.

const NARROW = 560; // CSS pixels

export const pixelRatio = () => window.devicePixelRatio || 1;

// null while the node is not in the page, or hidden
export function isNarrow(node) {
  const { width } = node.getBoundingClientRect();
  return width ? width < NARROW : null;
}

export function watchWidth(node, changed) {
  const observer = new ResizeObserver(changed);
  observer.observe(node);
  return () => observer.disconnect();
}

// Zooming the page, or moving to another screen.
export function watchRatio(changed) {
  let screen = null;
  function heard() {
    watch();
    changed();
  }
  function watch() {
    screen = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    screen.addEventListener("change", heard, { once: true });
  }
  watch();
  return () => screen.removeEventListener("change", heard);
}
