"""The story of a row: lines that add up, sentences that say who touched it."""

import numpy as np

from gradlab.labs import tpu_embedding
from gradlab.labs._row_story import ascii_words, in_a_sentence, listed, story


def lines(**params: object) -> dict[str, list[float] | None]:
    lab = tpu_embedding(**params)
    return {line.words: None if line.values is None else line.values for line in story(lab.compute(lab.params))}


def test_contributions_add_up_to_the_sum() -> None:
    told = lines(zipf=1.5, duplicates=0.0, row=15)
    np.testing.assert_allclose(told["sample 7 × 0.50"], told["their sum"])
    assert list(told)[-3:] == ["row 15 before", "row 15 after", "accumulator after"]


def test_many_contributions_are_told_together() -> None:
    lab = tpu_embedding(zipf=2.0, duplicates=0.0)
    trace = lab.compute(lab.params)
    found = story(trace)
    assert found[5].words == f"{trace.wanted - 5} more"
    np.testing.assert_allclose(np.sum([line.values for line in found[:6]], axis=0), found[6].values, rtol=1e-5)


def test_clipping_and_missing_accumulation_are_told() -> None:
    assert "clipped to ±0.5" in lines(clip="sum")
    assert "one update for each, 4 in all" in lines(accumulate=False)
    assert "decay takes" in lines(decay="before") and "decay takes" not in lines()


def test_a_sentence_says_who_asked() -> None:
    lab = tpu_embedding(row=23, zipf=2.0)
    assert in_a_sentence(lab.compute(lab.params)).startswith("Row 23 of table 'words' did not move: no id ")
    lab = tpu_embedding(last="clamp", row=23)
    words = in_a_sentence(lab.compute(lab.params))
    assert words.startswith("Row 23 of table 'words' moved: 1 lookup on 1 core. Gradients of sample 7 sum to (")


def test_words_for_pages_are_ascii_and_lists_are_plain() -> None:
    assert ascii_words("don't ±0.5 × −1") == "dont +-0.5 x -1"
    assert listed(np.uint32([3, 2])) == "3, 2" and listed(np.float32([0.33333])) == "0.333"
