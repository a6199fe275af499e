"""What the test classes of the originals have beyond `unittest`'s: comparing arrays, with their
tolerances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from absl.testing import absltest


def plain(x: Any) -> Any:
    """Numbers out of variables, tensors, and lists of them."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(plain(v) for v in x)
    return np.asarray(x.numpy()) if hasattr(x, "numpy") else x


class Comparing(absltest.TestCase):
    """Their assertions about arrays."""

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None, **_: Any
    ) -> None:
        a, b = plain(a), plain(b)
        if isinstance(a, dict):
            self.assertEqual(set(a), set(b))
            for key, x in a.items():
                self.assertAllClose(x, b[key], rtol, atol, msg)
            return
        if isinstance(a, list | tuple) and _is_ragged(a):
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
            return
        x, y = np.asarray(a), np.asarray(b)
        self.assertEqual(x.shape, y.shape, msg)
        np.testing.assert_allclose(_wide(x), _wide(y), rtol, atol, err_msg=str(msg or ""))

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, **_: Any
    ) -> None:
        with self.assertRaises(AssertionError):
            self.assertAllClose(a, b, rtol, atol)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        widths = {"bfloat16": (bfloat16_rtol, bfloat16_atol), "float16": (half_rtol, half_atol)}
        widths |= {"float32": (float_rtol, float_atol), "complex64": (float_rtol, float_atol)}
        names = {np.asarray(plain(x)).dtype.name for x in (a, b)}
        for name in ("float32", "complex64", "float16", "bfloat16"):
            if name in names:
                rtol, atol = max(rtol, widths[name][0]), max(atol, widths[name][1])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        np.testing.assert_array_equal(
            np.asarray(plain(a)), np.asarray(plain(b)), err_msg=str(msg or "")
        )

    def assertNDArrayNear(self, a: Any, b: Any, err: float, msg: Any = None) -> None:
        self.assertLess(
            float(np.linalg.norm(np.asarray(plain(a)) - np.asarray(plain(b)))), err, msg
        )


def _wide(x: Any) -> Any:
    """bfloat16 and float16 as float32, which NumPy's own comparison knows."""
    return x.astype(np.float32) if x.dtype.name in ("bfloat16", "float16") else x


def _is_ragged(items: Any) -> bool:
    return len({np.shape(x) for x in items}) > 1 or any(isinstance(x, dict) for x in items)
