// What is said about the picture: alternative text, read-out, goal, values, and the same aloud.

import { KEYS, element } from "./dom.js";

const ANNOUNCE_MS = 1000;

// What is said aloud follows what is shown, at most once in ANNOUNCE_MS, and always ends with the newest text.
function newAnnouncer(node) {
  let timer = null, next = null, lastGoal = "";
  function say() {
    timer = null;
    if (next === null) return;
    node.textContent = next.goal === lastGoal ? next.text : `${next.text} ${next.goal}`.trim();
    lastGoal = next.goal;
    next = null;
    timer = setTimeout(say, ANNOUNCE_MS);
  }
  return {
    say(text, goal) { next = { text, goal }; if (timer === null) say(); },
    stop() { clearTimeout(timer); },
  };
}

function rowsInto(table, rows) {
  while (table.rows.length > rows.length) table.deleteRow(-1);
  rows.forEach(([name, value], i) => {
    const row = table.rows[i] ?? table.insertRow();
    if (!row.cells.length) row.append(element("th", "", null, { scope: "row" }), element("td", "", null));
    if (row.cells[0].textContent !== name) row.cells[0].textContent = name;
    if (row.cells[1].textContent !== value) row.cells[1].textContent = value;
  });
}

function valuesTable(root) {
  const details = element("details", "gl-values", root);
  element("summary", "", details, KEYS).textContent = "Values";
  const table = element("table", "", details);
  let rows = []; // filled in while it is open, for layout costs time on every frame
  const fill = () => { if (details.open) rowsInto(table, rows); };
  details.addEventListener("toggle", fill);
  details.hidden = true;
  return (next) => {
    rows = next;
    fill();
    if (details.hidden === Boolean(rows.length)) details.hidden = !rows.length;
  };
}

// The read-out is a note for this moment, the summary of the state and the item selected; or a status in their place.
export function addWords(root, canvas) {
  const readout = element("p", "gl-readout", root, { "aria-hidden": "true" });
  const goal = element("p", "gl-goal", root);
  const aloud = newAnnouncer(element("p", "gl-said", root, { "aria-live": "polite" }));
  const showValues = valuesTable(root);
  const parts = { note: "", summary: "", item: "" };
  goal.hidden = true;

  function tell(text, aim, error = false) {
    if (readout.textContent !== text || goal.textContent !== aim) aloud.say(text, aim);
    if (readout.textContent !== text) readout.textContent = text;
    if (goal.textContent !== aim) goal.textContent = aim;
    goal.hidden = !aim;
    readout.classList.toggle("gl-error", error);
  }
  function show(changes, aim = goal.textContent) {
    Object.assign(parts, changes);
    const state = [parts.summary, parts.item].filter(Boolean).join(" · ");
    tell([parts.note, state].filter(Boolean).join(" "), aim);
  }
  return {
    describe({ alt, summary, table, goal: aim }, item, status) {
      if (canvas.getAttribute("aria-label") !== alt) canvas.setAttribute("aria-label", alt);
      Object.assign(parts, { summary, item });
      if (status) tell(status.text, aim ?? "", status.error);
      else show({}, aim ?? "");
      showValues(table);
    },
    status: (text, error) => tell(text, goal.textContent, error),
    item: (item) => show({ item }),
    note: (note) => show({ note }),
    dropNote() { parts.note = ""; }, // it goes when the next state is shown
    stop: aloud.stop,
  };
}
