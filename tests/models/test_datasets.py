"""Data that needs no download."""

from pathlib import Path

import numpy as np
import pytest

from gradlab.models import datasets
from gradlab.models.datasets import breast_cancer, digits, python_docs


def test_the_text_of_pythons_documentation_comes_back() -> None:
    codes, alphabet = python_docs()
    text = "".join(alphabet[c] for c in codes)
    assert len(text) > 200_000 and "lambda" in text and text.isascii()
    assert (
        codes.min() == 0
        and codes.max() == len(alphabet) - 1
        and len(set(alphabet)) == len(alphabet)
    )


def test_the_tumors_are_those_that_scikit_learn_ships() -> None:
    features, malignant, names = breast_cancer()
    assert (
        features.shape == (569, 10) and features.dtype == np.float32 and np.isfinite(features).all()
    )
    assert (malignant.sum(), (~malignant).sum()) == (212, 357)
    # The summary table of scikit-learn's description of the data: smallest and largest value of
    # every feature.
    extremes = {
        "radius": (6.981, 28.11),
        "texture": (9.71, 39.28),
        "perimeter": (43.79, 188.5),
        "area": (143.5, 2501.0),
        "smoothness": (0.053, 0.163),
        "compactness": (0.019, 0.345),
        "concavity": (0.0, 0.427),
        "concave points": (0.0, 0.201),
        "symmetry": (0.106, 0.304),
        "fractal dimension": (0.05, 0.097),
    }
    assert tuple(extremes) == names
    found = zip(features.min(axis=0).tolist(), features.max(axis=0).tolist(), strict=True)
    assert dict(zip(names, found, strict=True)) == {
        n: pytest.approx(e, abs=5.1e-4) for n, e in extremes.items()
    }
    assert features.sum(axis=0, dtype=np.float64)[:3] == pytest.approx(
        [8038.429, 10975.81, 52330.38], rel=1e-6
    )


def test_the_digits_are_those_that_scikit_learn_ships() -> None:
    images, labels = digits()
    assert images.shape == (1797, 64) and images.dtype == np.float32 and labels.dtype == np.int64
    # Images per class, as in scikit-learn's tests; the first row of its .csv; 17 shades of gray.
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (images[0, :16] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0]
    assert set(np.unique(images * 16)) == set(range(17))
    assert images.sum(dtype=np.float64) * 16 == 561_718


def test_the_files_are_small_and_written_by_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        datasets._cancer_file().stat().st_size < 20_000
        and datasets._digits_file().stat().st_size < 60_000
    )
    features, malignant, _ = breast_cancer()
    numbers = zip(features.tolist(), (~malignant).astype(int).tolist(), strict=True)
    rows = [
        "569,30,malignant,benign",
        *(f"{','.join(map(repr, row))}{',0' * 20},{benign}" for row, benign in numbers),
    ]
    (tmp_path / "breast_cancer.csv").write_text("\n".join(rows), encoding="utf-8")
    images, labels = digits()
    rows = [
        ",".join(map(str, (*(image * 16).astype(int), label)))
        for image, label in zip(images, labels, strict=True)
    ]
    (tmp_path / "digits.csv").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setattr(datasets, "_cancer_file", lambda: tmp_path / "cancer.npz")
    monkeypatch.setattr(datasets, "_digits_file", lambda: tmp_path / "digits.npz")
    datasets.main(str(tmp_path / "breast_cancer.csv"), str(tmp_path / "digits.csv"))
    for dataset, arrays in ((breast_cancer, (features, malignant)), (digits, (images, labels))):
        dataset.cache_clear()
        again = dataset()
        dataset.cache_clear()
        for found, expected in zip(again, arrays, strict=False):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_nobody_can_change_what_others_will_read() -> None:
    for array in (*breast_cancer()[:2], *digits()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
