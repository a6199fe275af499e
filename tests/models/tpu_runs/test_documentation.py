"""The text as ids: nothing lost, words numbered by how often they come, as a text of words has it."""

import numpy as np

from gradlab.models.tpu_runs.documentation import documentation

TEXT = documentation()


def test_rows_are_ranks() -> None:
    assert (np.diff(TEXT.counts) <= 0).all()
    np.testing.assert_array_equal(np.bincount(TEXT.ids), TEXT.counts)


def test_a_few_words_are_most_of_the_text() -> None:
    share = TEXT.counts.cumsum() / TEXT.counts.sum()
    assert share[100] > 0.5
    assert np.median(TEXT.counts) <= 4


def test_texts_are_the_lines_of_a_topic() -> None:
    texts = TEXT.texts()
    assert len(texts) == len(TEXT.topics)
    np.testing.assert_array_equal(np.concatenate(texts), TEXT.ids)
    assert TEXT.starts[-1] == TEXT.ids.size and len(TEXT.starts) == len(TEXT.topic) + 1
    assert "pdb" in [TEXT.words[i] for i in texts[TEXT.topics.index("debugger")]]
