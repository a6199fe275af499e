// A closer look at a panel: by box, wheel, drag and keys. The kernel moves the limits.

import { boxBetween, movedBy, nearerTo, newZoomRequests, partAfter } from "./closer.js";
import { button, clamp, contains, element, partsOf, placeBox } from "./dom.js";

class Zoom {
  constructor({ root, picture, field, layer }, tools, press, send, switched) {
    Object.assign(this, { root, picture, field, press, switched });
    this.requests = newZoomRequests(send);
    this.on = button(tools, "Zoom", () => this.toggle());
    this.back = button(tools, "Reset view", () => this.requests.ask(null));
    this.box = element("div", "gl-box", layer, { hidden: "" });
    this.panels = [];
    this.current = 0; // the panel that the keys mean
    this.drag = null;
    this.on.setAttribute("aria-pressed", "false");
    this.on.hidden = this.back.hidden = true;
    this.listen();
  }

  listen() {
    this.picture.addEventListener("wheel", this.turnWheel, { passive: false });
    this.field.addEventListener("pointerdown", this.startDrag);
    this.field.addEventListener("pointermove", this.goOnDragging);
    for (const end of ["pointerup", "pointercancel"])
      this.field.addEventListener(end, this.endDrag);
    this.field.addEventListener("dblclick", () => {
      if (this.active()) this.requests.ask(null);
    });
    this.field.addEventListener("keydown", this.pressKey);
  }

  active() {
    return this.on.getAttribute("aria-pressed") === "true";
  }
  toggle() {
    const now = !this.active();
    this.on.setAttribute("aria-pressed", String(now));
    this.root.classList.toggle("gl-zooming", now);
    this.switched();
  }
  show(panels, zoomed, fixed) {
    this.panels = panels;
    this.current = largest(panels, this.current);
    this.on.hidden = fixed || !panels.length;
    this.back.hidden = this.on.hidden || !zoomed;
    if (this.on.hidden && this.active()) this.toggle();
  }
  landed() {
    this.requests.landed();
  }
  stop = () => this.requests.stop();

  change(panel, part) {
    this.current = panel;
    this.requests.change(panel, part);
  }
  panelUnder(event) {
    return this.active()
      ? this.panels.findIndex((panel) => contains(panel, partsOf(event, this.picture)))
      : -1;
  }
  inside(event, panel) {
    // parts of the panel from its left and bottom
    const { x, y } = partsOf(event, this.picture);
    const { left, top, width, height } = this.panels[panel];
    return { x: (x - left) / width, y: 1 - (y - top) / height };
  }

  turnWheel = (event) => {
    const panel = this.panelUnder(event);
    if (panel < 0) return;
    event.preventDefault();
    this.change(
      panel,
      nearerTo(this.inside(event, panel), clamp(Math.exp(-event.deltaY * 0.002), 0.5, 2)),
    );
  };
  startDrag = (event) => {
    const panel = event.button < 2 ? this.panelUnder(event) : -1;
    if (panel < 0) return;
    if (event.button === 1) event.preventDefault(); // no scrolling by the middle button
    this.field.setPointerCapture(event.pointerId);
    this.drag = {
      panel,
      from: this.inside(event, panel),
      pan: event.shiftKey || event.button === 1,
    };
  };
  goOnDragging = (event) => {
    if (!this.drag) return;
    const here = this.inside(event, this.drag.panel);
    if (this.drag.pan) this.pan(here);
    else this.showBox(this.boxTo(here));
  };
  endDrag = (event) => {
    const boxed = this.drag && !this.drag.pan && event.type === "pointerup";
    const part = boxed ? this.boxTo(this.inside(event, this.drag.panel)) : null;
    if (part) this.change(this.drag.panel, part);
    this.cancel();
  };
  cancel() {
    this.drag = null;
    this.box.hidden = true;
  }
  pan(here) {
    this.press.taken = true;
    this.change(this.drag.panel, movedBy(this.drag.from, here));
    this.drag.from = here;
  }
  boxTo(here) {
    const size = this.picture.getBoundingClientRect();
    const panel = this.panels[this.drag.panel];
    return boxBetween(this.drag.from, here, {
      x: size.width * panel.width,
      y: size.height * panel.height,
    });
  }
  showBox(part) {
    this.box.hidden = !part;
    if (!part) return;
    this.press.taken = true;
    const { left, top, width, height } = this.panels[this.drag.panel];
    placeBox(this.box, {
      left: left + part.x[0] * width,
      width: (part.x[1] - part.x[0]) * width,
      top: top + (1 - part.y[1]) * height,
      height: (part.y[1] - part.y[0]) * height,
    });
  }
  pressKey = (event) => {
    if (!this.active() || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape" && this.drag) {
      this.cancel();
      return;
    }
    const part = partAfter(event);
    if (part === undefined) return;
    event.preventDefault();
    if (part) this.change(this.current, part);
    else this.requests.ask(null);
  };
}

// `send` tells the kernel what to show, `switched` hears that the button was pressed; `press` is as
// for handles.
export const addZoom = (parts, tools, press, send, switched) =>
  new Zoom(parts, tools, press, send, switched);

// Until a panel has been used, the keys mean the largest.
function largest(panels, current) {
  if (current && current < panels.length) return current;
  const sizes = panels.map(({ width, height }) => width * height);
  return Math.max(0, sizes.indexOf(Math.max(...sizes)));
}
