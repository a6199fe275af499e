// Which state of a saved page comes next. Within a sheet of states (see grid.py) one control moves,
// and the axis goes along as far as it has to; presets, Reset and links lead from sheet to sheet.

import { same } from "./dom.js";
import { toPosition } from "./positions.js";

const LINKED = 2; // a handle moves two controls at once, a link more
const names = (values) => Object.keys(values);
const equal = (a, b) => a === b || (Array.isArray(a) && same(a, b));

// How far two values of a control are from each other, 1 being its length.
function apart(spec, a, b) {
  if (spec.kind !== "slider") return equal(a, b) ? 0 : 1;
  const at = (value) => (spec.scale === "log" ? Math.log(value) : value);
  return Math.abs(at(a) - at(b)) / (at(spec.maximum) - at(spec.minimum));
}

// The one to which the fewest differ in what is named first, then in what is named later.
function nearestState(states, specs, wanted, ...groups) {
  const far = (state, group) =>
    group.reduce((sum, name) => sum + apart(specs.get(name), state.values[name], wanted[name]), 0);
  let best;
  let least;
  for (const state of states) {
    const away = groups.map((group) => far(state, group));
    const place = best ? away.findIndex((part, k) => part !== least[k]) : 0;
    if (!best || (place >= 0 && away[place] < least[place])) [best, least] = [state, away];
  }
  return best;
}

const agree = (a, b, except) =>
  names(a.values).every((name) => except.includes(name) || equal(a.values[name], b.values[name]));

// What moves here counts more than what is fixed.
export const stateAt = (states, specs, wanted) =>
  nearestState(
    states,
    specs,
    wanted,
    names(wanted).filter((name) => !specs.get(name).fixed),
    names(wanted),
  );

// `model` knows the state here, and the values of chips: presets and Reset.
export function stateAfter(states, { here, specs, axis, chips }, values, pressed) {
  const wanted = { ...here.values, ...values };
  const every = names(wanted);
  const moved = names(values);
  const chip = chips.find(
    (one) => names(one).length && names(one).every((name) => equal(one[name], wanted[name])),
  );
  if (chip) return nearestState(states, specs, wanted, names(chip), every);
  const beside = states.filter((state) => agree(state, here, [...moved, axis]));
  const found = nearestState(beside, specs, wanted, moved, every);
  if (found !== here || moved.length > LINKED)
    return found === here ? stateAt(states, specs, wanted) : found;
  return (!pressed && nextState(beside, here, specs.get(moved[0]), values[moved[0]], axis)) || here;
}

// The press of a key, or a film, goes on to the next state that there is.
function nextState(states, here, spec, value, axis) {
  const from = here.values[spec?.name];
  if (spec?.kind !== "slider" || Math.abs(toPosition(spec, value) - toPosition(spec, from)) !== 1)
    return undefined;
  const beyond = states.filter((state) => (state.values[spec.name] - from) * (value - from) > 0);
  const specs = new Map([[spec.name, spec]]);
  const axisApart = (state) =>
    axis === spec.name || equal(state.values[axis], here.values[axis]) ? 0 : 1;
  const kept = beyond.filter((state) => !axisApart(state));
  return nearestState(kept.length ? kept : beyond, specs, { [spec.name]: from }, [spec.name]);
}

// The controls that no state beside this one has elsewhere.
export function stuckAt(states, here, axis) {
  const stuck = new Set(names(here.values));
  for (const state of states) {
    const differ = names(state.values).filter(
      (name) => !equal(state.values[name], here.values[name]),
    );
    const others = differ.filter((name) => name !== axis);
    if (!others.length) for (const name of differ) stuck.delete(name);
    if (others.length === 1) stuck.delete(others[0]);
  }
  return [...stuck];
}
