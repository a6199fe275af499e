"""Real data that needs no download."""

from __future__ import annotations

import csv
import sys
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

_CANCER_FEATURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)


def python_docs() -> tuple[np.ndarray, tuple[str, ...]]:
    """Python's own documentation topics as one long text, one integer per character.

    Returns:
        (codes, alphabet): int32 codes of shape (n,), n about 465,000, and the character each code
        stands for.

    The text is that of the running Python, so its length differs a little from version to version.
    Not in TensorFlow.

    Source: `pydoc_data.topics` of the standard library.

    >>> codes, alphabet = python_docs()
    >>> "".join(alphabet[c] for c in codes[:24])
    'The "assert" statement\\n*'
    """
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    text = text.encode("ascii", "replace").decode()
    alphabet = tuple(sorted(set(text)))
    code = {c: i for i, c in enumerate(alphabet)}
    return np.array([code[c] for c in text], np.int32), alphabet


@cache
def breast_cancer() -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Shapes of cell nuclei in 569 breast tumors, and whether the tumor is malignant.

    Returns:
        (features, malignant, names): float32 (569, 10), the mean of each feature over the nuclei of
        an image, on scales from 0.05 to 1000; bool (569,); the names of the features. The arrays
        are read-only.

    Not in TensorFlow. Source: Wolberg, Mangasarian, Street & Street, "Breast Cancer Wisconsin
    (Diagnostic)", UCI Machine Learning Repository (1993), CC BY 4.0; the first ten columns of
    `sklearn.datasets.load_breast_cancer`.

    >>> features, malignant, names = breast_cancer()
    >>> dict(zip(names, features[0].tolist()))["area"], int(malignant.sum())
    (1001.0, 212)
    """
    with np.load(str(_cancer_file())) as shipped:
        features, malignant = shipped["features"], shipped["malignant"]
    for array in (features, malignant):
        array.flags.writeable = False
    return features, malignant, _CANCER_FEATURES


def _cancer_file() -> Any:
    return files("gradlab.models.recordings") / "breast_cancer.npz"


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits, 8 by 8 pixels.

    Returns:
        (images, labels): float32 (1797, 64) from 0 to 1, rows of pixels from the top; int64
        (1797,), 0 to 9. The arrays are read-only.

    Not in TensorFlow. Source: Alpaydin & Kaynak, "Optical Recognition of Handwritten Digits", UCI
    Machine Learning Repository (1998), CC BY 4.0; its test set, as in
    `sklearn.datasets.load_digits`.

    >>> images, labels = digits()
    >>> images.shape, labels[:5].tolist(), float(images.max())
    ((1797, 64), [0, 1, 2, 3, 4], 1.0)
    """
    with np.load(str(_digits_file())) as shipped:
        images, labels = (
            shipped["images"].astype(np.float32) / np.float32(16),
            shipped["labels"].astype(np.int64),
        )
    for array in (images, labels):
        array.flags.writeable = False
    return images, labels


def _digits_file() -> Any:
    return files("gradlab.models.recordings") / "digits.npz"


def main(cancer: str, digits: str) -> None:
    """Write the files behind `breast_cancer` and `digits` from scikit-learn's .csv files; there malignant is 0."""
    with open(cancer, newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    table = np.array(rows, np.float32)
    np.savez_compressed(
        str(_cancer_file()), features=table[:, : len(_CANCER_FEATURES)], malignant=table[:, -1] == 0
    )
    table = np.loadtxt(digits, np.uint8, delimiter=",")
    np.savez_compressed(str(_digits_file()), images=table[:, :64], labels=table[:, 64])


if __name__ == "__main__":
    main(*sys.argv[1:])
