// The picture: the still parts as an image and the moving ones on a canvas over it.

import { element } from "./dom.js";
import { paint } from "./paint.js";

// A browser may put off decoding what it does not show yet; then it may flicker.
const DECODE_MS = 2000;

export function newScreen(root, picture, canvas) {
  // Painted by the processor: no trip to a GPU and back.
  const ctx = canvas.getContext("2d", { willReadFrequently: true });
  const scheme = new Map(); // light colors and their counterparts on a dark page
  let still = element("img", "gl-still", null, { alt: "", "aria-hidden": "true" });
  let list = null;
  let dark = false;
  let painted = null;
  let frames = 0;
  let newest = 0;
  let awaited = false;
  picture.prepend(still);

  function draw() {
    if (list === null || list === painted || awaited) return;
    paint(ctx, list, dark ? scheme : null);
    painted = list;
    root.dataset.frame = ++frames;
  }
  // A picture under way is dropped when the next one arrives; only the newest is waited for.
  async function decoded(png) {
    const turn = ++newest;
    const image = new Image();
    const url = URL.createObjectURL(new Blob([png]));
    awaited = true;
    const loaded = new Promise((go) => {
      image.onload = image.onerror = go;
    });
    image.src = url;
    await loaded;
    await Promise.race([
      image.decode().catch(() => {}),
      new Promise((go) => {
        setTimeout(go, DECODE_MS);
      }),
    ]);
    if (turn === newest) {
      awaited = false;
      return image;
    }
    URL.revokeObjectURL(url);
    return null;
  }
  function exchange(image, { size: [width, height], dark: darkNow }) {
    image.className = "gl-still";
    image.alt = "";
    image.setAttribute("aria-hidden", "true");
    still.replaceWith(image);
    URL.revokeObjectURL(still.src);
    still = image;
    root.style.setProperty("--gl-picture", `${width}px`);
    picture.style.aspectRatio = `${width} / ${height}`;
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    dark = darkNow;
    painted = null;
  }
  return {
    decoded,
    exchange,
    learn(colors) {
      for (const [light, night] of colors ?? []) scheme.set(light, night);
    },
    show(next) {
      list = next;
      draw();
    },
    stop() {
      newest += 1;
      URL.revokeObjectURL(still.src);
    },
  };
}
