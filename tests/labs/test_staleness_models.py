"""The lab of models under staleness shows the medians of what was recorded."""

import numpy as np

import gradlab as gl
from gradlab.workers.studies import GOAL, STALENESS, VARIANTS, recorded, updates_to


def test_the_curves_are_medians_of_the_recording() -> None:
    lab = gl.labs.staleness_models(delay=24)
    trace = lab.compute(lab.params)
    expected = 100 * np.median(recorded()[:, STALENESS.index(24)], axis=1)
    np.testing.assert_array_equal(trace.curves, expected)
    np.testing.assert_array_equal(trace.needed, np.median(updates_to(GOAL, recorded()), axis=2))
    columns = lab.columns(trace)
    assert len(columns) == 1 + len(VARIANTS)
    np.testing.assert_array_equal(columns["momentum_0_95"], expected[6])


def test_the_words_tell_who_never_gets_there() -> None:
    table = dict(gl.labs.staleness_models(delay=16).description.table)
    assert table["largest delay"] == "16 updates"
    assert table["6 hidden layers"] == "never"
    assert int(table["1 hidden layer"]) < 1000
