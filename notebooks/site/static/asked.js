// Questions that need no kernel: buttons for choices, and predictions to draw; asked.py wrote the
// data beside them.

(() => {
  const WIDEST = 640;
  const HEIGHT = 340;
  const LEFT = 64;
  const RIGHT = 20;
  const TOP = 12;
  const BOTTOM = 52;
  const STEPS = 100;
  const node = (tag, parent, attributes = {}, text = "") => {
    const svg = parent.namespaceURI.endsWith("svg") || tag === "svg";
    const made = svg
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return parent.appendChild(made);
  };
  const number = (x) => String(Number(Number(x).toPrecision(3)));

  function choose(place, { question, options }) {
    const group = node("p", place, { role: "group", "aria-label": question });
    const said = node("p", place, { role: "status" });
    const buttons = Object.entries(options).map(([letter, [right, text]]) => {
      const button = node(
        "button",
        group,
        { type: "button", "aria-pressed": "false" },
        `(${letter})`,
      );
      button.addEventListener("click", () => {
        for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
        said.className = right ? "right" : "wrong";
        said.textContent = text;
      });
      return button;
    });
  }

  // ---- what is said of a guess: the first text whose condition holds

  const CALLS = {
    "<": (a, b) => a < b,
    ">": (a, b) => a > b,
    "!=": (a, b) => a !== b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    at: (list, k) => list.at(k),
    list: (...all) => all,
    max: (list) => Math.max(...list),
    min: (list) => Math.min(...list),
    ptp: (list) => Math.max(...list) - Math.min(...list),
    diff: (list) => list.slice(1).map((x, k) => x - list[k]),
    argmin: (list) => list.indexOf(Math.min(...list)),
  };
  const valueOf = (tree, given) => {
    if (!Array.isArray(tree)) return tree;
    const [name, ...rest] = tree;
    return given[name] ?? CALLS[name](...rest.map((one) => valueOf(one, given)));
  };

  function apart({ unit, x, truth }, guess) {
    const gaps = guess.map((y, k) => Math.abs(y - truth[k]));
    const most = gaps.indexOf(Math.max(...gaps));
    const off = guess[0] / truth[0];
    const words = unit === "%" ? " percentage points" : ` ${unit}`.trimEnd();
    if (unit === "times")
      return off === 1
        ? "right"
        : `${number(Math.max(off, 1 / off))} times too ${off > 1 ? "large" : "small"}`;
    if (!x) return `${number(gaps[0])}${words} off`;
    const average = number(CALLS.ptp([0, gaps.reduce((a, b) => a + b) / gaps.length]));
    const place = `${x.places[most]} (${number(gaps[most])})`;
    return `on average ${average}${words} off, most at ${place}`;
  }

  // ---- drawing a guess: a curve through handles, or one handle along an axis

  const scaleOf = ({ low, high, log }, from, to) => {
    const f = log ? Math.log : Number;
    const back = log ? Math.exp : Number;
    const part = (v) => (f(v) - f(low)) / (f(high) - f(low));
    return {
      to: (v) => from + (to - from) * part(v),
      part,
      at: (p) => back(f(low) + (f(high) - f(low)) * Math.min(Math.max(p, 0), 1)),
    };
  };

  function predict(place, data) {
    // Letters and dots have their size on a phone, too.
    const WIDTH = Math.min(place.clientWidth, WIDEST);
    const { y, x, step, truth, curve } = data;
    const guess = [...data.start];
    const shown = (v) => number(v) + (data.unit === "%" ? "%" : ` ${data.unit}`);
    const down = scaleOf(y, x ? HEIGHT - BOTTOM : LEFT, x ? TOP : WIDTH - RIGHT);
    const across = x && scaleOf(x, LEFT, WIDTH - RIGHT);
    node("p", place, { class: "question" }, data.question);
    const svg = node("svg", place, {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "group",
      "aria-label": data.label,
      style: `max-width: ${WIDTH}px`,
    });
    const line = (x1, y1, x2, y2) => node("line", svg, { x1, y1, x2, y2, class: "grid" });
    const level = (v, words) => {
      const at = down.to(v);
      if (x) {
        line(LEFT, at, WIDTH - RIGHT, at);
        node("text", svg, { x: LEFT - 8, y: at + 5, "text-anchor": "end" }, words);
      } else {
        line(at, TOP, at, HEIGHT - BOTTOM);
        node("text", svg, { x: at, y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" }, words);
      }
    };
    for (const [v, words] of y.ticks) level(v, words);
    for (const [v, words] of x?.ticks ?? [])
      node(
        "text",
        svg,
        { x: across.to(v), y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" },
        words,
      );
    node(
      "text",
      svg,
      { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" },
      x ? x.name : y.name,
    );
    if (x)
      node(
        "text",
        svg,
        { x: -HEIGHT / 2 + 20, y: 16, "text-anchor": "middle", transform: "rotate(-90)" },
        y.name,
      );
    const result = node("path", svg, { class: "result", fill: "none" });
    const drawn = node("path", svg, { class: "guess", fill: "none" });
    const pointOf = (k) =>
      x ? [across.to(x.at[k]), down.to(guess[k])] : [down.to(guess[k]), HEIGHT / 2 - BOTTOM / 2];
    const handles = guess.map((_, k) =>
      node("circle", svg, {
        r: 11,
        tabindex: 0,
        role: "slider",
        "aria-label": x ? `Guess at ${x.places[k]}` : "Guess",
        "aria-valuemin": y.low,
        "aria-valuemax": y.high,
      }),
    );
    const reveal = node("button", place, { type: "button" }, "Reveal");
    const said = node("p", place, { role: "status" });

    function show() {
      drawn.setAttribute(
        "d",
        x
          ? `M${guess.map((_, k) => pointOf(k)).join("L")}`
          : `M${down.to(guess[0])},${TOP}V${HEIGHT - BOTTOM}`,
      );
      handles.forEach((handle, k) => {
        const [cx, cy] = pointOf(k);
        const told = { cx, cy, "aria-valuenow": guess[k], "aria-valuetext": shown(guess[k]) };
        for (const [name, value] of Object.entries(told)) handle.setAttribute(name, value);
      });
    }
    function move(k, part) {
      const value = Math.min(Math.max(down.at(part), y.low), y.high);
      guess[k] = step
        ? Math.min(y.low + step * Math.round((value - y.low) / step), y.high)
        : Number(value.toPrecision(3));
      show();
    }
    const partsOf = (event) => {
      const box = svg.getBoundingClientRect();
      const px = ((event.clientX - box.left) / box.width) * WIDTH;
      const py = ((event.clientY - box.top) / box.height) * HEIGHT;
      return {
        px,
        part: x
          ? (HEIGHT - BOTTOM - py) / (HEIGHT - BOTTOM - TOP)
          : (px - LEFT) / (WIDTH - RIGHT - LEFT),
      };
    };
    const draw = (event) => {
      // the nearest handle follows, so that a curve can be drawn across the picture
      const { px, part } = partsOf(event);
      const away = guess.map((_, k) => (x ? Math.abs(pointOf(k)[0] - px) : 0));
      move(away.indexOf(Math.min(...away)), part);
    };
    let before = guess;
    svg.addEventListener("pointerdown", (event) => {
      before = [...guess];
      svg.setPointerCapture(event.pointerId);
      draw(event);
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) draw(event);
    });
    svg.addEventListener("pointercancel", () => {
      guess.splice(0, guess.length, ...before);
      show();
    }); // the page scrolls
    for (const handle of handles)
      handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handles.forEach((handle, k) =>
      handle.addEventListener("keydown", (event) => {
        const by = {
          ArrowUp: 1,
          ArrowRight: 1,
          ArrowDown: -1,
          ArrowLeft: -1,
          PageUp: 10,
          PageDown: -10,
          Home: -Infinity,
          End: Infinity,
        }[event.key];
        if (!by) return;
        event.preventDefault();
        const one = step && !y.log ? step / (y.high - y.low) : 1 / STEPS;
        move(k, Number.isFinite(by) ? down.part(guess[k]) + by * one : by > 0 ? 1 : 0);
      }),
    );
    reveal.addEventListener("click", () => {
      if (guess.every((value, k) => value === data.start[k])) {
        said.textContent =
          "A prediction is worth something only if it is made before: move your guess first.";
        return;
      }
      result.setAttribute(
        "d",
        x
          ? `M${curve.map(([a, b]) => [across.to(a), down.to(b)]).join("L")}`
          : `M${down.to(truth[0])},${TOP}V${HEIGHT - BOTTOM}`,
      );
      const [, text] = data.said.find(
        ([condition]) => condition === null || valueOf(condition, { guess, truth }),
      );
      const told = x
        ? truth.map((v, k) => `${shown(v)} at ${x.places[k]}`).join(", ")
        : shown(truth[0]);
      said.textContent = `Your guess is ${apart(data, guess)}. ${text} The result: ${told}.`;
    });
    show();
  }

  for (const place of document.querySelectorAll(".asked")) {
    const data = JSON.parse(place.querySelector("script").textContent);
    (data.options ? choose : predict)(place, data);
  }
})();
