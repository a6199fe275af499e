// What a place in a drag area means: the values of its sliders, and back.

import { landed } from "./positions.js";

const valueAt = ({ first, last, log }, part) =>
  log ? first * (last / first) ** part : first + (last - first) * part;

const partAt = ({ first, last, log }, value) =>
  log ? Math.log(value / first) / Math.log(last / first) : (value - first) / (last - first);

// Where a handle stands, as parts from the left and the bottom; null: all along that direction.
export function standsAt(area, controls) {
  const part = (axis) => (axis ? partAt(axis, controls.get(axis.name).value) : area.at);
  return { x: part(area.x), y: part(area.y) };
}

// The values that a handle of this area takes when it is put to a place.
export function valuesAt(area, place, controls) {
  const values = {};
  for (const direction of ["x", "y"]) {
    const axis = area[direction];
    if (!axis) continue;
    const value = landed(controls.get(axis.name).spec, valueAt(axis, place[direction]));
    if (!Number.isNaN(value)) values[axis.name] = value;
  }
  return values;
}

// The direction along which several one-way handles stand side by side, so that a curve can be
// drawn over them.
export function sketchDirection(areas) {
  if (areas.length < 2 || areas.some((area) => area.at === null || (area.x && area.y))) return null;
  if (areas.every((area) => area.y)) return "x";
  return areas.every((area) => area.x) ? "y" : null;
}

// How far a place is from a handle, in CSS pixels of an area of this size.
export function distance(stand, place, size, sketch) {
  const along = (way) => (stand[way] === null ? 0 : (stand[way] - place[way]) * size[way]);
  return sketch ? Math.abs(along(sketch)) : Math.hypot(along("x"), along("y"));
}

// The values of all handles that a stroke from one place to another passes over.
export function valuesUnder(areas, from, to, sketch, controls) {
  const values = {};
  const across = sketch === "x" ? "y" : "x";
  const length = to[sketch] - from[sketch];
  for (const area of areas) {
    const part = (area.at - from[sketch]) / length;
    if (!(part >= 0 && part <= 1)) continue;
    const place = {
      [sketch]: area.at,
      [across]: from[across] + part * (to[across] - from[across]),
    };
    Object.assign(values, valuesAt(area, place, controls));
  }
  return values;
}

const KEY_STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

// Where the keys take a slider; undefined for a key that means nothing here.
export function positionAfter(key, position, count) {
  return key in KEY_STEPS ? position + KEY_STEPS[key] : { Home: 0, End: count }[key];
}
