"""What is saved is what is loaded, and nobody writes to it."""

from pathlib import Path

import numpy as np
import pytest

from gradlab.models import curves as recordings


def test_saved_and_loaded_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "files", lambda package: tmp_path)
    curves = np.array([[0, 1], [148, 297]]) / 297
    recordings.save("curves of a test", curves)
    loaded = recordings.load("curves of a test")
    np.testing.assert_array_equal(loaded, curves)
    with pytest.raises(ValueError, match="read-only"):
        loaded[0] = 1


def test_arrays_keep_their_names_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "files", lambda package: tmp_path)
    recordings.write(
        "arrays of a test", some=np.arange(3, dtype=np.uint16), other=np.float32([0.5, np.nan])
    )
    found = recordings.arrays("arrays of a test")
    assert {name: x.dtype for name, x in found.items()} == {"some": np.uint16, "other": np.float32}
    np.testing.assert_array_equal(found["other"], np.float32([0.5, np.nan]))
    with pytest.raises(ValueError, match="read-only"):
        found["some"][0] = 1
