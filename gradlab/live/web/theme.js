// Whether the page is dark, and how to hear that it changed.

const system = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  const page = document.documentElement.dataset.theme ?? document.body.dataset.theme;
  return page === "dark" || page === "light" ? page === "dark" : system.matches;
}

export function watchTheme(changed) {
  // While JupyterLab exchanges its theme, nothing in the page has a width.
  const observer = new MutationObserver(() => requestAnimationFrame(changed));
  const attributeFilter = ["data-jp-theme-light", "data-theme"];
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributeFilter });
  system.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
}
