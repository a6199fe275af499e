"""TensorFlow scripts run in gradlab with `tf.compat.v1.train.`, `tf.compat.v1.` and `tf.` replaced.

`conformance/test_live_train.py` runs them in TensorFlow too and compares all numbers.
"""

import sys

import pytest

from tests.train import ported

# TensorFlow 2.21's: sums of the last weights, and of all fractions that the script prints.
EXPECTED = {
    "averages": ([2.5217, 0.6931, 0.4279, 2.5628, 0.7129], 33.690),
    "clipping": ([0.6964, -2.1269, 0.4619, 3.2292, 0.4965, -2.3314, -0.1141, 3.0699], 10469.63),
    "keras_loop": ([1.0717, -0.0499], 7.114),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_trains_as_in_tensorflow(name: str) -> None:
    weights, fractions = EXPECTED[name]

    outcome = ported.run(ported.port(ported.read(name)))

    assert [float(w.sum()) for w in outcome.weights] == pytest.approx(weights, abs=1e-3)
    assert sum(outcome.fractions) == pytest.approx(fractions, rel=1e-4)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_trains_without_jax(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    weights, _ = EXPECTED[name]

    outcome = ported.run(ported.port(ported.read(name)))

    assert [float(w.sum()) for w in outcome.weights] == pytest.approx(weights, abs=1e-3)


def test_every_script_is_run() -> None:
    assert sorted(EXPECTED) == ported.SCRIPTS


def test_a_port_imports_gradlab_alone() -> None:
    for name in ported.SCRIPTS:
        assert "import tensorflow" not in ported.port(ported.read(name))
