"""The recorder on a Keras 3 model, on TensorFlow: what a step is in each way to train, and what is
left behind.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.golden.tensorflow_values import tensorflow
from tests.record import hosts

pytestmark = [
    pytest.mark.tensorflow,
    # Keras's own, when it saves.
    pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy"),
]


@pytest.fixture(scope="module")
def keras() -> Any:
    tensorflow()  # on two logical CPUs, as other tests of this process need it
    import keras

    assert keras.backend.backend() == "tensorflow"
    return keras


@pytest.fixture(scope="module")
def plain() -> gl.Recorder:
    return hosts.of_numpy()


def network(keras: Any, optimizer: Any, **compile_: Any) -> Any:
    layers = [keras.layers.Dense(5, "tanh", name="hidden"), keras.layers.Dense(3, name="out")]
    model = keras.Sequential([keras.Input((6,)), *layers], name="net")
    model.set_weights(list(hosts.weights().values()))
    model.compile(
        optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), **compile_
    )
    return model


def fit(model: Any, *callbacks: Any, batch: int = hosts.BATCH, **kwargs: Any) -> None:
    model.fit(*hosts.data(), batch, shuffle=False, verbose=0, callbacks=list(callbacks), **kwargs)


def in_order(rec: gl.Recorder, plain: gl.Recorder) -> np.ndarray:
    """Norms in the order of the NumPy recording."""
    order = [
        ("hidden/kernel", "hidden/bias", "out/kernel", "out/bias").index(n.removeprefix("net/"))
        for n in rec.names
    ]
    assert order == [0, 1, 2, 3]
    return rec["norm"][:, [hosts.NAMES.index(name) for name in plain.names]]


@pytest.mark.parametrize(
    "compile_",
    [{"jit_compile": False}, {"steps_per_execution": 3}, {"run_eagerly": True}],
    ids=lambda c: next(iter(c)),
)
def test_every_way_to_run_a_step_records_the_same(
    keras: Any, plain: gl.Recorder, compile_: dict[str, Any]
) -> None:
    rec = gl.Recorder()
    model = network(
        keras, keras.optimizers.SGD(hosts.RATE, global_clipnorm=hosts.LIMIT), **compile_
    )
    fit(model, gl.record.keras(rec, every=7))
    np.testing.assert_allclose(in_order(rec, plain), plain["norm"], 1e-4)
    np.testing.assert_allclose(rec["loss"], plain["loss"], 1e-4)
    assert (rec["seconds"] > 0).all()


def test_accumulated_gradients_are_one_row_their_mean(keras: Any, plain: gl.Recorder) -> None:
    optimizer = keras.optimizers.SGD(
        hosts.RATE, global_clipnorm=hosts.LIMIT, gradient_accumulation_steps=2
    )
    rec = gl.Recorder()
    fit(network(keras, optimizer), gl.record.keras(rec), batch=hosts.BATCH // 2)
    np.testing.assert_allclose(in_order(rec, plain), plain["norm"], 1e-4)
    np.testing.assert_allclose(rec["loss"], plain["loss"], 1e-4)


def test_a_step_that_a_loss_scaler_skips_is_a_row(keras: Any) -> None:
    x, y = hosts.data()
    x[3 * hosts.BATCH] = np.inf
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), initial_scale=1e4)
    model, rec = network(keras, optimizer), gl.Recorder()
    model.fit(x, y, hosts.BATCH, shuffle=False, verbose=0, callbacks=[gl.record.keras(rec)])
    assert (rec.seen, rec.skipped_steps) == (hosts.STEPS, 1)
    assert (
        np.flatnonzero(rec["skipped"]).tolist()
        == [3]
        == np.flatnonzero(rec["nonfinite"].any(axis=1)).tolist()
    )
    assert rec["scale"].tolist() == [1e4] * 4 + [5e3] * 16
    assert (
        np.delete(rec.global_norm, 3).max() < 10
        and rec.what_if(clip_global_norm=1.0).steps == hosts.STEPS - 1
    )


def test_a_step_that_is_no_batch_has_no_loss(keras: Any) -> None:
    class Twice(keras.Sequential):  # type: ignore[misc]
        def train_step(self, data: Any) -> Any:
            super().train_step(data)
            return super().train_step(data)

    model = Twice([keras.Input((6,)), keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rec = gl.Recorder()
    with pytest.warns(gl.errors.RecordingWarning, match=r"called 40 times in 20 batches"):
        fit(model, gl.record.keras(rec))
    assert rec.seen == 2 * hosts.STEPS and np.isnan(rec["loss"]).all()


def test_a_recording_of_train_on_batch_ends_or_is_replaced(keras: Any) -> None:
    model, (x, y) = network(keras, keras.optimizers.SGD()), hosts.data()
    first, second = gl.Recorder(), gl.Recorder()
    gl.record.keras(first, model)
    model.train_on_batch(x, y)
    assert first.seen == 1, "reading hands over what waits"
    with pytest.warns(gl.errors.RecordingWarning, match="that recording is closed"):
        recording = gl.record.keras(second, model)
    loss = model.train_on_batch(x, y)
    assert recording.close() is second and "train_on_batch" not in vars(model)
    model.train_on_batch(x, y)
    assert (first.seen, second.seen) == (1, 1)
    assert second["loss"].tolist() == pytest.approx([float(loss)])


def test_two_recordings_in_one_fit_are_refused(keras: Any) -> None:
    model = network(keras, keras.optimizers.SGD())
    with pytest.raises(ValueError, match="two recordings of the same optimizer"):
        fit(model, gl.record.keras(gl.Recorder()), gl.record.keras(gl.Recorder()))
    rec = gl.Recorder()
    fit(model, gl.record.keras(rec))
    assert rec.seen == hosts.STEPS


def test_another_models_recorder_is_refused_when_the_first_batch_shows_it(keras: Any) -> None:
    class Model(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.out = keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.out(x)

    model, rec = Model(), gl.Recorder()
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rec.record({"w": np.ones(3)})
    with pytest.raises(ValueError, match="w"):
        fit(model, gl.record.keras(rec))
    fit(model)  # by itself it trains as ever
    assert rec.seen == 1


def test_nothing_is_left_behind_and_nothing_extra_is_saved(keras: Any, tmp_path: Path) -> None:
    model = network(keras, keras.optimizers.Adam())
    fit(model)
    before, rec = [v.path for v in model.optimizer.variables], gl.Recorder()
    names = set(vars(model.optimizer))
    saved = keras.callbacks.ModelCheckpoint(str(tmp_path / "m.keras"), verbose=0)
    for _ in range(2):
        fit(model, gl.record.keras(rec), saved)
        assert [v.path for v in model.optimizer.variables] == before
        assert set(vars(model.optimizer)) == names
    assert rec.seen == 2 * hosts.STEPS
    again = keras.models.load_model(tmp_path / "m.keras")
    assert len(again.optimizer.variables) == len(before)
    fit(again)
    assert rec.seen == 2 * hosts.STEPS


def test_a_fit_that_broke_off_is_taken_off_by_the_next(keras: Any) -> None:
    class Stop(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch == 3:
                raise KeyboardInterrupt

    model = network(keras, keras.optimizers.SGD())
    count = len(model.optimizer.variables)
    with pytest.raises(KeyboardInterrupt):
        fit(model, gl.record.keras(gl.Recorder()), Stop())
    rec = gl.Recorder()
    fit(model, gl.record.keras(rec))
    assert (rec.seen, len(model.optimizer.variables)) == (hosts.STEPS, count)


def test_what_cannot_be_recorded_is_refused(keras: Any) -> None:
    import tf_keras

    with pytest.raises(ValueError, match="every must be >= 1, got 0"):
        gl.record.keras(gl.Recorder(), every=0)
    with pytest.raises(
        TypeError, match=r"for models of Keras 3, got one of tf_keras.*recorder.record\(zip"
    ):
        gl.record.keras(gl.Recorder()).set_model(tf_keras.Sequential())
    with pytest.raises(ValueError, match="no optimizer: compile it"):
        gl.record.keras(gl.Recorder(), keras.Sequential())
    with pytest.raises(ValueError, match="give the optimizer gradient_accumulation_steps"):
        gl.record.keras(gl.Recorder(), network(keras, keras.optimizers.SGD()), noise_scale=True)


@pytest.fixture
def without(keras: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hide parts of Keras's optimizers from gradlab, as if they had another name."""

    def hide(*names: str) -> None:
        def attribute(self: Any, name: str) -> Any:
            if name in names and sys._getframe(1).f_globals["__name__"].startswith("gradlab"):
                raise AttributeError(name)
            return object.__getattribute__(self, name)

        monkeypatch.setattr(keras.optimizers.SGD, "__getattribute__", attribute, raising=False)

    return hide


def test_the_clip_of_keras_may_have_another_name(
    keras: Any, plain: gl.Recorder, without: Any
) -> None:
    unrecorded = network(
        keras, keras.optimizers.SGD(hosts.RATE, global_clipnorm=hosts.LIMIT, loss_scale_factor=8.0)
    )
    fit(unrecorded)
    without("_backend_apply_gradients", "_clip_gradients")
    rec = gl.Recorder()
    model = network(
        keras, keras.optimizers.SGD(hosts.RATE, global_clipnorm=hosts.LIMIT, loss_scale_factor=8.0)
    )
    fit(model, gl.record.keras(rec))
    np.testing.assert_allclose(in_order(rec, plain), plain["norm"], 1e-4)
    for w, expected in zip(model.get_weights(), unrecorded.get_weights(), strict=True):
        np.testing.assert_array_equal(w, expected)


@pytest.mark.parametrize(
    ("names", "steps", "instead"),
    [
        (["_clip_gradients"], 2, "leave out gradient_accumulation_steps"),
        (["_track_variable", "_untrack_variable"], None, "write the loop yourself"),
    ],
)
def test_a_keras_without_what_nothing_else_does_is_refused_untouched(
    keras: Any, without: Any, names: list[str], steps: int | None, instead: str
) -> None:
    model = network(keras, keras.optimizers.SGD(gradient_accumulation_steps=steps))
    model.optimizer.build(model.trainable_variables)
    before, attributes = [v.path for v in model.optimizer.variables], set(vars(model.optimizer))
    without(*names)
    with pytest.raises(
        NotImplementedError, match=rf"needs {' and '.join(names)}, .* use Keras 3.15, or {instead}"
    ):
        fit(model, gl.record.keras(gl.Recorder()))
    assert [v.path for v in model.optimizer.variables] == before
    assert set(vars(model.optimizer)) == attributes
    fit(model)  # by itself it trains as ever
