"""Real data that needs no download."""

from __future__ import annotations

import numpy as np


def python_docs() -> tuple[np.ndarray, tuple[str, ...]]:
    """Python's own documentation topics as one long text, one integer per character.

    Returns: (codes, alphabet): int32 codes of shape (n,), n about 465 000, and the character each code stands for.

    The text is that of the running Python, so its length differs a little from version to version. Not in TensorFlow.
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
