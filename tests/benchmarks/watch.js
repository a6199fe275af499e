// In the page: when a key went down, and when new pixels were on the screen. A frame counts once
// its first change inside a cell's output (canvas drawn, image decoded, SVG changed) has been
// through one requestAnimationFrame and the message after it, which is when the browser has handed
// the frame over.
(() => {
  if (window.watched) return;
  const watched = (window.watched = { keys: [], frames: [], keysSeen: 0 });
  const inside = (node) => node?.closest?.(".jp-OutputArea");
  const ICON = 100; // no figure is as narrow
  const channel = new MessageChannel();
  let pending = false;
  channel.port1.onmessage = () => {
    pending = false;
    watched.frames.push(performance.now());
  };
  const request = window.requestAnimationFrame.bind(window);
  // What is drawn in an animation callback belongs to the frame that is being made.
  let inFrame = false;
  window.requestAnimationFrame = (callback) =>
    request((time) => {
      inFrame = true;
      try {
        callback(time);
      } finally {
        inFrame = false;
      }
    });
  const changed = () => {
    if (pending) return;
    pending = true;
    if (inFrame) channel.port2.postMessage(0);
    else request(() => channel.port2.postMessage(0));
  };

  for (const name of ["clearRect", "drawImage", "putImageData", "fill", "stroke"]) {
    const original = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...parts) {
      if (this.canvas.isConnected && inside(this.canvas)) changed();
      return original.apply(this, parts);
    };
  }

  const decoded = (image) => image.decode().then(changed, () => {});
  const drawing = (node) =>
    [...(node.matches?.("svg") ? [node] : []), ...(node.querySelectorAll?.("svg") ?? [])].some(
      (svg) => svg.getBoundingClientRect().width > ICON,
    );
  const pictures = (node) => [
    ...(node.matches?.("img") ? [node] : []),
    ...(node.querySelectorAll?.("img") ?? []),
  ];
  new MutationObserver((records) => {
    for (const record of records) {
      if (!inside(record.target)) continue;
      if (record.type === "childList") {
        record.addedNodes.forEach((node) => pictures(node).forEach(decoded));
        if ([...record.addedNodes].some(drawing)) changed();
      } else if (record.target.matches("img")) decoded(record.target);
      if (record.target.closest("svg")) changed();
    }
  }).observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["src", "d", "href", "xlink:href"],
  });

  window.addEventListener("keydown", (event) => watched.keys.push(event.timeStamp), true);
})();
