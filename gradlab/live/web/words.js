// What is said about the picture: alternative text, read-out, goal, values, and the same aloud.

import { KEYS, element, setText } from "./dom.js";

const ANNOUNCE_MS = 1000;

// What is said aloud follows what is shown, at most once in ANNOUNCE_MS, and always ends with the
// newest text.
function newAnnouncer(node) {
  let timer = null;
  let next = null;
  let lastGoal = "";
  function say() {
    timer = null;
    if (next === null) return;
    node.textContent = next.goal === lastGoal ? next.text : `${next.text} ${next.goal}`.trim();
    lastGoal = next.goal;
    next = null;
    timer = setTimeout(say, ANNOUNCE_MS);
  }
  return {
    say(text, goal) {
      next = { text, goal };
      if (timer === null) say();
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

function rowsInto(table, rows) {
  while (table.rows.length > rows.length) table.deleteRow(-1);
  rows.forEach(([name, value], i) => {
    const row = table.rows[i] ?? table.insertRow();
    if (!row.cells.length)
      row.append(element("th", "", null, { scope: "row" }), element("td", "", null));
    if (row.cells[0].textContent !== name) row.cells[0].textContent = name;
    if (row.cells[1].textContent !== value) row.cells[1].textContent = value;
  });
}

function valuesTable(foot) {
  const details = element("details", "gl-values", foot);
  element("summary", "", details, KEYS).textContent = "Values";
  const table = element("table", "", details);
  let rows = []; // filled in while it is open, for layout costs time on every frame
  const fill = () => {
    if (details.open) rowsInto(table, rows);
  };
  details.addEventListener("toggle", fill);
  details.hidden = true;
  return (next) => {
    rows = next;
    fill();
    if (details.hidden === Boolean(rows.length)) details.hidden = !rows.length;
  };
}

// Of the sentences with the most characters: one of them takes the most lines.
const MOST_MEASURED = 3;

// Keeps the head as tall as the longest known sentence makes it, so that the picture stays in place
// while a slider moves. A longer sentence, not known before, moves the picture down once.
function keepLines(head, readout) {
  let width = 0;
  let tallest = 0;
  let longest = [];

  function keep() {
    // Unlike offsetHeight, this isn't rounded, and a lecture doesn't enlarge it. It is NaN while
    // the head is hidden.
    const height = parseFloat(getComputedStyle(head).height);
    if (!(height > tallest)) return;
    tallest = height;
    head.style.minHeight = `${tallest}px`;
  }
  function measure() {
    const now = readout.textContent;
    for (const text of longest) {
      readout.textContent = text;
      keep();
    }
    readout.textContent = now;
  }
  const observer = new ResizeObserver(() => {
    if (head.offsetWidth !== width) {
      width = head.offsetWidth;
      tallest = 0;
      head.style.minHeight = "";
      measure();
    }
    keep();
  });
  observer.observe(head);
  return {
    expect(texts) {
      const all = [...new Set([...longest, ...texts])]
        .sort((a, b) => b.length - a.length)
        .slice(0, MOST_MEASURED);
      if (all.join("\n") === longest.join("\n")) return;
      longest = all;
      measure();
    },
    stop: () => observer.disconnect(),
  };
}

// Says why the controls don't move, where the target stands otherwise.
function showKernel(bar, text) {
  bar.replaceChildren();
  if (!text) return;
  element("b", "", bar).textContent = text;
  bar.append(" The controls show what the picture shows.");
}

// Above the picture the sentence about this state, or a status in its place, and the goal; under it
// a note for this moment and the item that is selected.
export function addWords({ root, head, foot, canvas }) {
  const readout = element("p", "gl-readout", head, { "aria-hidden": "true" });
  const goal = element("p", "gl-goal", head);
  const [lead, rest] = [element("b", "", goal), element("span", "", goal)];
  const kernel = element("p", "gl-kernel", head, { role: "status" });
  const aside = element("p", "gl-aside", foot, { "aria-hidden": "true" });
  const aloud = newAnnouncer(element("p", "gl-said", root, { "aria-live": "polite" }));
  const showValues = valuesTable(foot);
  const lines = keepLines(head, readout);
  const parts = { note: "", summary: "", item: "" };
  let spoken = "";
  let aim = "";
  goal.hidden = true;

  function tell(text, error = false) {
    const besides = [parts.note, parts.item].filter(Boolean).join(" · ");
    const all = [text, besides].filter(Boolean).join(" ");
    if (all !== spoken || goal.textContent !== aim) aloud.say(all, aim);
    spoken = all;
    setText(readout, text);
    setText(aside, besides);
    showGoal();
    readout.classList.toggle("gl-error", error);
  }
  function showGoal() {
    const begins = /^[A-Z][a-z]+:/.exec(aim)?.[0] ?? "";
    setText(lead, begins);
    setText(rest, aim.slice(begins.length));
    goal.hidden = !aim;
  }
  function show(changes) {
    Object.assign(parts, changes);
    tell(parts.summary);
  }
  return {
    describe({ alt, summary, table, goal: wanted, met }, item, status) {
      if (canvas.getAttribute("aria-label") !== alt) canvas.setAttribute("aria-label", alt);
      Object.assign(parts, { summary, item });
      aim = wanted ?? "";
      goal.classList.toggle("gl-met", Boolean(met));
      if (status) tell(status.text, status.error);
      else show({});
      showValues(table);
    },
    status: tell,
    expect: lines.expect,
    kernel: (text) => showKernel(kernel, text),
    item: (item) => show({ item }),
    note: (note) => show({ note }),
    dropNote() {
      parts.note = "";
    }, // it goes when the next state is shown
    stop() {
      aloud.stop();
      lines.stop();
    },
  };
}
