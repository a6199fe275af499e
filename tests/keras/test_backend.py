"""The global epsilon."""

from gradlab import keras


def test_optimizers_made_afterwards_see_it() -> None:
    try:
        before = keras.Adagrad(epsilon=None)
        keras.set_epsilon(1e-3)
        assert (before.epsilon, keras.Adagrad(epsilon=None).epsilon, keras.Adagrad().epsilon) == (
            1e-7,
            1e-3,
            1e-7,
        )
    finally:
        keras.set_epsilon(1e-7)
    assert keras.epsilon() == 1e-7
