"""Compare what gradlab gave with what the originals gave: `differences` lists the deviations."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.conformance import decode

Match = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (expected, actual) -> which entries agree
Pair = tuple[np.ndarray, np.ndarray]  # (expected, actual)


@dataclass(frozen=True)
class Raised:
    """The call raised this."""

    error: Exception


@dataclass(frozen=True)
class AnyOf:
    """The original was free to give one of these; `own` is what gradlab gave, which must be one of
    them too.
    """

    alternatives: list[Any]
    own: Any


_WATCHING: list[list[Pair]] = []


@contextlib.contextmanager
def watched() -> Iterator[list[Pair]]:
    """Collects every two arrays that are compared while this is open, but not the outcomes of
    races.
    """
    pairs: list[Pair] = []
    _WATCHING.append(pairs)
    try:
        yield pairs
    finally:
        _WATCHING.pop()


def differences(
    expected: Any, actual: Any, mode: str | dict[str, Any], where: str = ""
) -> list[str]:
    """Deviations in words; an empty list means equal in this mode.

    Modes: "bitwise" (dtype, shape, every bit; NaN equals NaN, the sign of zero counts), "rtol x",
    "ulp n" (each entry by its own size), "largest n" (n ulp of the array's largest entry: what is
    left where terms cancel), {"exact": true} (as bitwise) and {"exact": false, "rtol": r, "atol":
    a}. "informational" promises nothing.
    """
    if mode == "informational":
        return []
    if isinstance(actual, AnyOf):
        return _any_of(expected, actual, mode, where)
    if isinstance(expected, dict) and "error" in expected:
        return _error(expected["error"], actual, where)
    if isinstance(actual, Raised):
        return [
            (
                f"{where}: expected {_short(expected)}, raised {type(actual.error).__name__}: "
                f"{actual.error}"
            )
        ]
    if decode.is_array(expected):
        return _array(expected, actual, mode, where)
    if isinstance(expected, dict):
        if "indexed_slices" in expected:
            return _slices(expected["indexed_slices"], actual, mode, where)
        return _mapping(expected, actual, mode, where)
    if hasattr(actual, "dtype") and isinstance(expected, list | float | int):
        return _numbers(expected, np.asarray(actual), mode, where)
    if isinstance(expected, list):
        return _sequence(expected, actual, mode, where)
    if isinstance(actual, float):
        expected = decode.number(expected)  # a number that JSON has no way to write is a word
    same = type(expected) is type(actual) and (expected == actual or expected != expected)
    return [] if same else [f"{where}: expected {expected!r}, got {_short(actual)}"]


def _any_of(expected: Any, actual: AnyOf, mode: str | dict[str, Any], where: str) -> list[str]:
    found = []
    with watched():
        none_fits = all(
            differences(expected, choice, mode, where) for choice in actual.alternatives
        )
    if none_fits:
        found.append(
            f"{where}: {_short(expected)} is none of {len(actual.alternatives)} possible outcomes"
        )
    if all(encoded(actual.own) != encoded(choice) for choice in actual.alternatives):
        found.append(
            f"{where}: gradlab's own {_short(actual.own)} is none of its possible outcomes"
        )
    return found


def encoded(x: Any) -> Any:
    """Nested values with arrays as bytes, so that == means equal bits."""
    if isinstance(x, dict):
        return {k: encoded(v) for k, v in x.items()}
    return np.asarray(x).tobytes() if hasattr(x, "dtype") else x


def _error(expected: dict[str, Any] | str, actual: Any, where: str) -> list[str]:
    name = expected if isinstance(expected, str) else expected["class"]
    if not isinstance(actual, Raised):
        return [f"{where}: expected {name}, got {_short(actual)}"]
    names = [c.__name__ for c in type(actual.error).__mro__]
    return [] if name in names else [f"{where}: expected {name}, raised {names[0]}: {actual.error}"]


def _mapping(
    expected: dict[str, Any], actual: Any, mode: str | dict[str, Any], where: str
) -> list[str]:
    if not isinstance(actual, dict):
        return [f"{where}: expected {_short(expected)}, got {_short(actual)}"]
    found = [f"{where}.{k}: missing" for k in expected if k not in actual]
    found += [
        f"{where}.{k}: not expected, got {_short(actual[k])}" for k in actual if k not in expected
    ]
    for k in expected.keys() & actual.keys():
        found += differences(expected[k], actual[k], mode, f"{where}.{k}")
    return sorted(found)


def _sequence(
    expected: list[Any], actual: Any, mode: str | dict[str, Any], where: str
) -> list[str]:
    if not isinstance(actual, list | tuple) or len(actual) != len(expected):
        return [f"{where}: expected {len(expected)} entries, got {_short(actual)}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [d for k, (e, a) in pairs for d in differences(e, a, mode, f"{where}[{k}]")]


def _slices(
    expected: dict[str, Any], actual: Any, mode: str | dict[str, Any], where: str
) -> list[str]:
    if not hasattr(actual, "indices"):
        return [f"{where}: expected IndexedSlices, got {_short(actual)}"]
    shape = None if actual.dense_shape is None else [int(n) for n in actual.dense_shape]
    found = differences(
        expected["indices"], np.asarray(actual.indices).tolist(), mode, f"{where}.indices"
    )
    found += differences(expected["dense_shape"], shape, mode, f"{where}.dense_shape")
    return found + _array(expected["values"], actual.values, mode, f"{where}.values")


def _array(
    expected: dict[str, Any], actual: Any, mode: str | dict[str, Any], where: str
) -> list[str]:
    if not hasattr(actual, "dtype"):
        return [f"{where}: expected {_short(expected)}, got {_short(actual)}"]
    want, got = decode.array(expected), np.asarray(actual)
    if "hex" in expected:
        exact = decode.array(expected, "hex")
        if not bitwise(exact, want).all():
            return [
                (
                    f"{where}: the golden file contradicts itself: values {want.tolist()}, hex "
                    f"{exact.tolist()}"
                )
            ]
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return [f"{where}: expected {want.dtype}{want.shape}, got {got.dtype}{got.shape}"]
    return _entries(matcher(mode), want, got, where)


def _entries(match: Match, want: np.ndarray, got: np.ndarray, where: str) -> list[str]:
    if _WATCHING:
        _WATCHING[-1].append((want, got))
    wrong = ~match(want, got)
    if not wrong.any():
        return []
    k = int(np.argmax(wrong))  # the first one, flat
    return [
        (
            f"{where}: {wrong.sum()} of {wrong.size} entries differ, first [{k}] "
            f"{_pair(want.flat[k], got.flat[k])}"
        )
    ]


def _numbers(expected: Any, got: np.ndarray, mode: str | dict[str, Any], where: str) -> list[str]:
    """Numbers written without a dtype: as float64 where they must be equal, else in the dtype of
    what came out.
    """
    want, match = np.array(decode.numbers(expected), np.float64), matcher(mode)
    if want.shape != got.shape and want.size + got.size:
        return [f"{where}: expected shape {want.shape}, got {got.shape}"]
    want, got = (
        (want, got.astype(np.float64)) if match is bitwise else (want.astype(got.dtype), got)
    )
    return _entries(match, want, got.reshape(want.shape), where)


def _pair(want: Any, got: Any) -> str:
    if np.dtype(type(want)).kind not in "fV":
        return f"expected {want}, got {got}"
    return f"expected {want} ({float(want).hex()}), got {got} ({float(got).hex()})"


def matcher(mode: str | dict[str, Any]) -> Match:
    """The entrywise comparison that a mode names."""
    if isinstance(mode, dict):
        return bitwise if mode["exact"] else _close(mode.get("rtol", 0.0), mode.get("atol", 0.0))
    kind, _, limit = mode.partition(" ")
    if kind == "bitwise":
        return bitwise
    if kind == "rtol":
        return _close(float(limit), 0.0)
    if kind in ("ulp", "largest"):
        return _ulp(float(limit), kind == "largest")
    raise ValueError(
        f"compare mode {mode!r} is none of bitwise, rtol x, ulp n, largest n, informational, "
        f"{{'exact': ...}}"
    )


def bitwise(want: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Same bits, any NaN equal to any NaN."""
    if want.dtype.kind == "c":
        return bitwise(want.real, got.real) & bitwise(want.imag, got.imag)
    if want.dtype.kind in "iub":
        return np.asarray(want == got)
    want, got = want.astype(np.float64), got.astype(np.float64)  # exact
    return np.asarray(
        (want == got) & (np.signbit(want) == np.signbit(got)) | np.isnan(want) & np.isnan(got)
    )


def _close(rtol: float, atol: float) -> Match:
    return lambda want, got: np.isclose(_wide(got), _wide(want), rtol, atol, equal_nan=True)


def _ulp(n: float, of_largest: bool = False) -> Match:
    """Within n units in the last place; denormals count as 0, the sign of zero does not matter."""

    def match(want: np.ndarray, got: np.ndarray) -> np.ndarray:
        if want.dtype.kind in "iub":
            return np.asarray(want == got)
        unit = units(want)
        unit = np.full_like(unit, unit.max(initial=0.0)) if of_largest else unit
        return np.isclose(
            _wide(got), _wide(want), 0.0, np.maximum(n * unit, _finfo(want).tiny), equal_nan=True
        )

    return match


def units(x: np.ndarray) -> np.ndarray:
    """The unit in the last place of each entry, as float64."""
    wide = _wide(x)
    exponent = np.frexp(np.where(np.isfinite(wide), wide, 0.0))[1] - 1
    return np.ldexp(float(_finfo(x).eps), exponent)


def _finfo(x: np.ndarray) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(x.dtype)


def _wide(x: np.ndarray) -> np.ndarray:
    return x if x.dtype.kind in "ciub" else x.astype(np.float64)


def _short(x: Any) -> str:
    if isinstance(x, Raised):
        return f"{type(x.error).__name__}: {x.error}"
    if decode.is_array(x):
        x = {k: x[k] for k in ("dtype", "shape", "values")}
    text = repr(x)
    return text if len(text) < 200 else text[:197] + "..."
