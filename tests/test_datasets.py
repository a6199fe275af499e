"""Data that needs no download."""

from gradlab.datasets import python_docs


def test_the_text_of_pythons_documentation_comes_back() -> None:
    codes, alphabet = python_docs()
    text = "".join(alphabet[c] for c in codes)
    assert len(text) > 200_000 and "lambda" in text and text.isascii()
    assert codes.min() == 0 and codes.max() == len(alphabet) - 1 and len(set(alphabet)) == len(alphabet)
