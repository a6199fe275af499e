// Positions are the places at which a control can stand, counted from 0; Python counts them in the
// same way.

import { clamp } from "./dom.js";
import { plain } from "./numbers.js";

export function fromPosition(spec, position) {
  if (spec.places) return spec.places[clamp(position, 0, spec.count)];
  if (position <= 0) return spec.minimum;
  if (position >= spec.count) return spec.maximum;
  if (spec.scale !== "log")
    return Number((spec.minimum + spec.step * position).toFixed(spec.digits));
  const value = spec.minimum * (spec.maximum / spec.minimum) ** (position / spec.count);
  return Number(value.toPrecision(spec.digits));
}

const nearestPlace = ({ places, scale }, value) => {
  const at = scale === "log" ? Math.log : Number;
  const away = places.map((place) => Math.abs(at(place) - at(value)));
  return away.indexOf(Math.min(...away));
};

export function toPosition(spec, value) {
  if (spec.places) return nearestPlace(spec, value);
  if (value >= spec.maximum) return spec.count; // the last step may be a shorter one
  const part =
    spec.scale === "log"
      ? (spec.count * Math.log(value / spec.minimum)) / Math.log(spec.maximum / spec.minimum)
      : (value - spec.minimum) / spec.step;
  return clamp(Math.round(part), 0, spec.count);
}

export const landed = (spec, value) => fromPosition(spec, toPosition(spec, value));

const bitsOf = (value) =>
  new BigUint64Array(new Float64Array([value]).buffer)[0].toString(16).padStart(16, "0");

// Names a value: the position that it is on; between two its bits, which Python and browsers write
// alike.
export function keyOf(spec, value) {
  const position = toPosition(spec, value);
  return fromPosition(spec, position) === value ? String(position) : `=${bitsOf(value)}`;
}

export function shownNumber(spec, value) {
  const fixed =
    spec.scale === "log"
      ? String(Number(value.toPrecision(spec.digits)))
      : value.toFixed(spec.digits);
  return plain(Number(fixed) === value ? fixed : String(Number(value.toPrecision(6))));
}

export const withUnit = (spec, text) => (spec.unit ? `${text} ${spec.unit}` : text);
export const shown = (spec, value) => withUnit(spec, shownNumber(spec, value));
