// The picture of a lab gives way to the lab itself, which is a page of its own in a frame, when its
// reader comes near.

(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const frames = new Map(); // by the window in them

  function theme() {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && system.matches) ? "dark" : "light";
  }

  const dress = (view) => view.postMessage({ theme: theme() }, "*");
  const dressAll = () => {
    for (const view of frames.keys()) dress(view);
  };

  function bringToLife(place) {
    const frame = document.createElement("iframe");
    frame.src = place.dataset.page;
    frame.title = place.querySelector("figure").getAttribute("aria-label");
    frame.className = "arriving";
    place.append(frame);
    frames.set(frame.contentWindow, { frame, place });
  }

  // The page in a frame says how tall it is: first when it is painted, then whenever that changes.
  window.addEventListener("message", ({ source, data }) => {
    const { frame, place } = frames.get(source) ?? {};
    if (!frame || !(data?.height > 0)) return;
    if (frame.className) dress(source);
    frame.style.height = `${Math.ceil(data.height)}px`;
    frame.className = "";
    place.querySelector(".output").hidden = true;
  });

  new MutationObserver(dressAll).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", dressAll);

  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        bringToLife(target);
      }
    },
    { rootMargin: "400px" },
  );
  for (const place of document.querySelectorAll(".lab[data-page]")) near.observe(place);
})();
