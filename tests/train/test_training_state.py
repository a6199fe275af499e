"""`gl.save` and `gl.load`: a run that stops and goes on has the bits of one that does not."""

import json
import subprocess
import sys
import threading
import warnings
import zipfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.archive import ArchiveWriter
from gradlab.errors import DataLossError, StateWarning
from tests._base.damage import damaged, rewrite
from tests.train.runs import LARGE, TRAIN, Run

MODULES = {"numpy": np, "jax": jnp}
pytestmark = [
    # Some runs walk into traps on purpose.
    pytest.mark.filterwarnings("ignore::gradlab.errors.KerasWarning"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("name", TRAIN)
def test_a_run_that_was_stopped_has_the_bits_of_one_that_was_not(
    name: str, module: str, tmp_path: Path
) -> None:
    whole, first, second = (Run(name, MODULES[module]) for _ in range(3))
    whole.train(0, 6)
    first.train(0, 3)
    gl.save(tmp_path / "run", **first.things)
    assert second.load(tmp_path / "run") == {}
    assert second.bits() == first.bits()
    second.train(3, 6)
    assert second.bits() == whole.bits()
    assert all(
        type(v.value) is type(w.value) for v, w in zip(whole.weights, second.weights, strict=True)
    )


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    "name", [n for n in TRAIN if n.startswith(("adam", "momentum", "ftrl", "keras adagrad,"))]
)
def test_so_it_is_with_weights_that_are_stepped_in_place(
    name: str, module: str, tmp_path: Path
) -> None:
    whole, first, second = (Run(name, MODULES[module], LARGE) for _ in range(3))
    whole.train(0, 4)
    first.train(0, 2)
    gl.save(tmp_path / "run", **first.things)
    first.train(2, 4)
    second.train(0, 3)  # another place to start from
    second.load(tmp_path / "run")
    second.train(2, 4)
    assert first.bits() == second.bits() == whole.bits()


def test_another_process_goes_on(tmp_path: Path) -> None:
    whole, first = Run("adam, scheduled"), Run("adam, scheduled")
    whole.train(0, 6)
    first.train(0, 3)
    gl.save(tmp_path / "run", **first.things, epoch=7)
    code = f"""
import gradlab as gl
from tests.train.runs import Run
run = Run("adam, scheduled")
assert run.load({str(tmp_path / "run")!r}) == {{"epoch": 7}}
run.train(3, 6)
gl.save({str(tmp_path / "end")!r}, **run.things)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    end = Run("adam, scheduled")
    end.load(tmp_path / "end")
    assert end.bits() == whole.bits()


def test_a_program_with_a_graph_goes_on_with_its_step_and_averages(tmp_path: Path) -> None:
    def run_program(steps: int, *, save: str = "", load: str = "") -> dict[str, Any]:
        with gl.Graph().as_default(), gl.Session() as sess:
            weights = gl.Variable([1.0, 2.0], name="weights")
            step = gl.train.create_global_step()
            rate = gl.train.exponential_decay(0.1, step, decay_steps=2, decay_rate=0.5)
            opt = gl.train.MomentumOptimizer(rate, 0.9)
            update = opt.minimize(weights * weights, global_step=step)
            averages = gl.train.ExponentialMovingAverage(0.9, num_updates=step)
            with gl.control_dependencies([update]):
                train_op = averages.apply([weights])
            if load:
                gl.load(tmp_path / load, variables=gl.global_variables(), opt=opt)
            for _ in range(steps):
                sess.run(train_op)
            if save:
                gl.save(tmp_path / save, variables=gl.global_variables(), opt=opt)
            return {v.name: v.eval().tolist() for v in gl.global_variables()}

    whole = run_program(8)
    run_program(5, save="run.npz")
    assert run_program(3, load="run.npz") == whole
    assert whole["global_step:0"] == 8
    assert whole["weights/ExponentialMovingAverage:0"] != whole["weights:0"]


def test_before_the_first_step_there_is_a_state_too(tmp_path: Path) -> None:
    for name in ("adam", "keras sgd, momentum, keras3", "keras adagrad, legacy", "drop stale adam"):
        new, used = Run(name), Run(name)
        gl.save(tmp_path / "run", **new.things)
        used.train(0, 3)
        used.load(tmp_path / "run")
        whole = Run(name)
        whole.train(0, 2)
        used.train(0, 2)
        # Names count up.
        assert sorted(x[1:] for x in used.bits()) == sorted(x[1:] for x in whole.bits())


def test_a_recorder_goes_on(tmp_path: Path) -> None:
    def recorded(rec: gl.Recorder, steps: range) -> gl.Recorder:
        for k in steps:
            rec.record({"w": np.full((3, 2), k, np.float32)}, loss=float(k))
        return rec

    whole, later = recorded(gl.Recorder(8), range(30)), gl.Recorder(8)
    gl.save(tmp_path / "run", recorder=recorded(gl.Recorder(8), range(13)))
    gl.load(tmp_path / "run", recorder=later)
    recorded(later, range(13, 30))
    for column in ("norm", "norm_low", "largest", "entry", "square", "histogram", "loss"):
        np.testing.assert_array_equal(whole[column], later[column])
    np.testing.assert_array_equal(whole.global_norm, later.global_norm)
    with pytest.raises(ValueError, match=r"'steps': 8.*'steps': 9"):
        gl.load(tmp_path / "run", recorder=gl.Recorder(9))


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "bfloat16", "complex64", "int32", "int64", "bool"]
)
@pytest.mark.parametrize("module", MODULES)
def test_dtypes_and_libraries_stay(module: str, dtype: str, tmp_path: Path) -> None:
    with jax.enable_x64(True):
        value = MODULES[module].asarray(np.arange(6).reshape(2, 3).astype(np.dtype(dtype)))
        v, w = (
            gl.Variable(value, name="v"),
            gl.Variable(MODULES[module].zeros_like(value), name="w"),
        )
    gl.save(tmp_path / "run", v=v)
    gl.load(tmp_path / "run", v=w)
    assert type(w.value) is type(v.value)
    assert (w.dtype, w.numpy().tobytes()) == (v.dtype, v.numpy().tobytes())
    assert gl.load(tmp_path / "run")["v"].dtype == v.dtype


def test_special_numbers_and_odd_shapes_keep_their_bits(tmp_path: Path) -> None:
    odd = np.array([np.nan, -np.nan, np.inf, -0.0, 1e-41], np.float32)
    things = [
        gl.Variable(odd),
        gl.Variable(np.zeros((0, 3))),
        gl.Variable(1.5),
        gl.Variable(np.asfortranarray(np.eye(3))),
    ]
    new = [gl.Variable(np.zeros_like(v.numpy())) for v in things]
    gl.save(tmp_path / "run", things=things)
    gl.load(tmp_path / "run", things=new)
    assert [v.numpy().tobytes() for v in things] == [v.numpy().tobytes() for v in new]


def test_a_sharded_variable_stays_where_it_is(tmp_path: Path) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    v = gl.Variable(jax.device_put(jnp.arange(8.0 * len(jax.devices())), place))
    gl.save(tmp_path / "run", v=v)
    v.assign(v.value * 0)
    w = gl.Variable(jax.device_put(v.value, place))
    gl.load(tmp_path / "run", v=w)
    assert w.value.sharding.is_equivalent_to(place, 1)
    assert w.numpy()[-1] == w.shape[0] - 1


def test_without_objects_all_is_plain(tmp_path: Path) -> None:
    v, rng = gl.Variable([1.0], name="v"), np.random.default_rng(3)
    opt = gl.train.MomentumOptimizer(0.5, 0.9)
    opt.apply_gradients([([2.0], v)])
    things = {
        "nested": {"a/b": (1, 2.5, None), "": ["x", True]},
        "rng": rng.bit_generator.state,
        "x": jnp.ones(2),
    }
    gl.save(tmp_path / "run", v=[v], opt=opt, half=np.float16(0.5), **things)
    found = gl.load(tmp_path / "run")
    assert found["nested"] == things["nested"]
    assert found["rng"] == things["rng"]
    assert found["v"][0].tolist() == [0.0]
    assert found["opt"]["slots"]["v/0"]["momentum"].tolist() == [2.0]
    assert (found["x"].tolist(), found["half"].dtype) == ([1, 1], np.float16)
    assert list(found) == ["v", "opt", "half", "nested", "rng", "x"]
    other = gl.train.MomentumOptimizer(0.5, 0.9)
    other.load_state_dict(found["opt"], {"v/0": v})
    assert other.get_slot(v, "momentum").numpy().tolist() == [2.0]
    with np.load(tmp_path / "run") as file:
        assert file["v/0"].tolist() == [0.0]


def test_schedules_and_rules_are_compared(tmp_path: Path) -> None:
    schedule, rule = (
        gl.schedules.PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.25]),
        gl.rules.Adagrad(),
    )
    gl.save(tmp_path / "run", schedule=schedule, rule=rule)
    assert gl.load(tmp_path / "run", schedule=schedule, rule=gl.rules.Adagrad()) == {}
    with pytest.raises(ValueError, match="schedule was saved with the config"):
        gl.load(
            tmp_path / "run",
            rule=rule,
            schedule=gl.schedules.PiecewiseConstantDecay([2, 5], [1.0, 0.5, 0.25]),
        )
    with pytest.raises(ValueError, match="rule was saved as Adagrad, it is a Momentum"):
        gl.load(tmp_path / "run", schedule=schedule, rule=gl.rules.Momentum())


class Counter:
    """Something of a user's own."""

    def __init__(self, fails: bool = False) -> None:
        self.n, self.fails = 0, fails

    def state_dict(self) -> dict[str, Any]:
        return {"n": self.n}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.n = state["n"]
        if self.fails and self.n:
            raise RuntimeError("too many")


def test_objects_of_your_own_are_saved_and_all_go_back_if_one_refuses(tmp_path: Path) -> None:
    v, counter = gl.Variable([1.0]), Counter()
    counter.n = 5
    gl.save(tmp_path / "run", v=v, a=counter, b=counter)
    w, a, b = gl.Variable([0.0]), Counter(), Counter(fails=True)
    with pytest.raises(RuntimeError, match="too many"):
        gl.load(tmp_path / "run", v=w, a=a, b=b)
    assert (w.numpy().tolist(), a.n, b.n) == ([0.0], 0, 0)
    gl.load(tmp_path / "run", v=w, a=a, b=a)
    assert (w.numpy().tolist(), a.n) == ([1.0], 5)


def test_what_cannot_be_saved_is_said_and_the_old_file_stays(tmp_path: Path) -> None:
    v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
    opt = gl.train.AdagradOptimizer(0.1)
    opt.apply_gradients([([1.0], v), ([1.0], w)])
    gl.save(tmp_path / "run", v=v)
    before = (tmp_path / "run").read_bytes()
    for bad, error, words in (
        ({"opt": opt, "v": v}, ValueError, "opt: there are slots of w:0"),
        ({"f": len}, TypeError, "f is of the class builtin_function_or_method"),
        ({"a": [{"b": object()}]}, TypeError, r"a\[0\]\['b'\] is of the class object"),
        ({"a": {1: v}}, TypeError, "keys of a dictionary that is saved must be words; a has 1"),
        ({"c": gl.train.AdamOptimizer}, TypeError, "c is the class AdamOptimizer"),
        ({"x": np.array([None])}, TypeError, "x holds object"),
        ({"key": jax.random.key(0)}, TypeError, "key"),
        (
            {"acc": gl.ConditionalAccumulator("float32")},
            TypeError,
            "acc is of the class ConditionalAccumulator",
        ),
        (
            {"ema": gl.train.ExponentialMovingAverage(0.9)},
            TypeError,
            r"ema is of the class Exponential.*save the Variables, such as gl\.global_variables",
        ),
        ({"two": gl.keras.replicas(2)}, TypeError, "two is of the class Replicas"),
        ({}, TypeError, "nothing to save"),
    ):
        with pytest.raises(error, match=words):
            gl.save(tmp_path / "run", **bad)
    with gl.keras.replicas(2).scope():
        own = gl.keras.SGD()
    with pytest.raises(TypeError, match=r"belongs to gl\.keras\.Replicas"):
        gl.save(tmp_path / "run", opt=own)
    assert (tmp_path / "run").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def _saved(tmp_path: Path) -> tuple[Path, Run]:
    run = Run("adam")
    run.train(0, 2)
    gl.save(tmp_path / "run", **run.things, epoch=3)
    return tmp_path / "run", run


def _other(**changed: Any) -> dict[str, Any]:
    return {**Run("adam").things, **changed}


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        (
            {"opt": gl.train.AdagradOptimizer(0.1)},
            ValueError,
            "opt was saved as AdamOptimizer, it is a AdagradOptimizer",
        ),
        (
            {"step": gl.Variable([0])},
            ValueError,
            r"step is int64 of shape \(\), but .* is int32 of shape \(1,\)",
        ),
        ({"step": gl.Variable(np.int32(0))}, ValueError, "step is int64 .* is int32"),
        (
            {"weights": Run("adam").weights[:1]},
            ValueError,
            "weights was saved as a list of 2, it is a list of 1",
        ),
        (
            {"weights": dict.fromkeys("ab", gl.Variable(0.0))},
            ValueError,
            "weights was saved as a list of 2",
        ),
        (
            {"weights": [gl.Variable(np.zeros((6, 3))), gl.Variable(np.zeros(3))]},
            ValueError,
            r"weights\[0\] is float32",
        ),
        ({"more": gl.Variable(0.0)}, ValueError, "the file holds nothing called 'more'"),
        ({"epoch": 0}, TypeError, "epoch is a int, into which nothing can be restored"),
        ({"rate": np.float32(0)}, TypeError, "rate is a float32, into which"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    changed: Any, error: Any, words: str, tmp_path: Path
) -> None:
    path, _ = _saved(tmp_path)
    things = _other(**changed)
    opt, rate = things["opt"], things["rate"]
    with pytest.raises(error, match=words):
        gl.load(path, **things)
    assert opt.variables() == []
    assert float(rate) == (np.float32(0.1) if isinstance(rate, gl.Variable) else 0)


def test_what_is_forgotten_is_said(tmp_path: Path) -> None:
    path, run = _saved(tmp_path)
    with pytest.raises(ValueError, match="the file holds opt, step too"):
        gl.load(path, weights=run.weights, rate=run.rate)


def test_variables_that_changed_places_are_refused(tmp_path: Path) -> None:
    a, b = gl.Variable([1.0], name="a"), gl.Variable([2.0], name="b")
    gl.save(tmp_path / "run", weights=[a, b])
    with pytest.raises(ValueError, match="another order: weights/0 was a:0, is b:0"):
        gl.load(tmp_path / "run", weights=[b, a])
    one = gl.Variable([0.0], name="one")
    with pytest.raises(ValueError, match=r"weights\[1\] is one:0 for the second time"):
        gl.load(tmp_path / "run", weights=[one, one])
    assert [float(v.value[0]) for v in (a, b, one)] == [1, 2, 0]


def test_other_numbers_are_said_and_count(tmp_path: Path) -> None:
    v = gl.Variable([1.0], name="v")
    gl.save(tmp_path / "run", v=v, opt=gl.train.MomentumOptimizer(0.5, 0.9))
    opt = gl.train.MomentumOptimizer(0.25, 0.9, use_nesterov=True)
    with pytest.warns(
        StateWarning, match="use_nesterov was False, is True; learning_rate was 0.5, is 0.25"
    ):
        gl.load(tmp_path / "run", v=v, opt=opt)
    gl.save(tmp_path / "run", v=v, opt=gl.keras.SGD(0.5, momentum=0.9, clipnorm=1.0))
    with pytest.warns(StateWarning, match="clipnorm was 1.0, is 2.0"):
        gl.load(tmp_path / "run", v=v, opt=gl.keras.SGD(0.5, momentum=0.9, clipnorm=2.0))
    sgd = gl.keras.SGD(gl.schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9, clipnorm=1.0)
    with pytest.warns(StateWarning, match="learning_rate was 'a number', is \"ExponentialDecay"):
        gl.load(tmp_path / "run", v=v, opt=sgd)


def test_a_state_is_one_instant_of_a_run_that_goes_on(tmp_path: Path) -> None:
    v, step = gl.Variable(np.zeros(LARGE, np.float32)), gl.Variable(np.int64(0), trainable=False)
    opt, stop, g = (
        gl.train.MomentumOptimizer(-1.0, 0.0),
        threading.Event(),
        np.ones(LARGE, np.float32),
    )

    def train() -> None:
        while not stop.is_set():
            opt.apply_gradients([(g, v)], step)

    thread = threading.Thread(target=train)
    thread.start()
    try:
        for _ in range(10):
            gl.save(tmp_path / "run", v=v, opt=opt, step=step)
            found = gl.load(tmp_path / "run")
            assert found["v"].min() == found["v"].max() == found["step"]
    finally:
        stop.set()
        thread.join()


def test_damaged_files_are_refused_and_change_nothing(tmp_path: Path) -> None:
    path, run = _saved(tmp_path)
    data, other = path.read_bytes(), Run("adam")
    before, accepted = other.bits(), []
    for k, bad in enumerate(damaged(data, 300)):
        rewrite(path, bad)
        try:
            other.load(path)
            assert other.bits() == run.bits(), k
            accepted.append(k)
            other = Run("adam")
        except DataLossError:
            assert other.bits() == before
    assert len(accepted) < 30


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    rec = gl.Recorder(3)
    rec.record([np.ones(2)])
    rec.save(tmp_path / "rec.npz")
    np.savez(tmp_path / "plain.npz", a=np.ones(2))
    (tmp_path / "text").write_text("hello")
    with ArchiveWriter(tmp_path / "other", "something", 1) as file:
        file.array("a", np.ones(2))
    with ArchiveWriter(tmp_path / "new", "training state", 2) as file:
        file.array("a", np.ones(2))
    for head in (
        {},
        {"things": 3},
        {"things": [["a", {"variable": "b", "name": "a"}]]},
        {"things": [["a", {}]]},
    ):
        with ArchiveWriter(path, "training state", 1, head) as file:
            file.array("a", np.ones(2))
        with pytest.raises(DataLossError, match="training state"):
            gl.load(path)
    for name in ("rec.npz", "plain.npz", "text", "other", "new"):
        with pytest.raises(DataLossError, match="training state"):
            gl.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        gl.load(tmp_path / "nothing")


def test_a_large_file_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    gl.save(tmp_path / "run", v=gl.Variable(np.zeros(10_000)))
    with pytest.raises(DataLossError, match="max_bytes allows 1,000"):
        gl.load(tmp_path / "run", max_bytes=1000)
    assert gl.load(tmp_path / "run", max_bytes=None)["v"].shape == (10_000,)


def test_nothing_is_executed(tmp_path: Path) -> None:
    path, _ = _saved(tmp_path)
    with zipfile.ZipFile(path) as file:
        assert {n for n in file.namelist() if not n.endswith(".npy")} == {"gradlab.json"}
        json.loads(file.read("gradlab.json"))
    np.load(path, allow_pickle=False).close()


def test_bfloat16_slots_survive(tmp_path: Path) -> None:
    def fresh() -> tuple[gl.Variable, Any]:
        return gl.Variable(np.ones(3, ml_dtypes.bfloat16), name="v"), gl.keras.Adagrad(0.1)

    (v, opt), (w, other) = fresh(), fresh()
    opt.apply_gradients([(np.ones(3, ml_dtypes.bfloat16), v)])
    gl.save(tmp_path / "run", v=v, opt=opt)
    gl.load(tmp_path / "run", v=w, opt=other)
    for x, o in ((v, opt), (w, other)):
        o.apply_gradients([(np.ones(3, ml_dtypes.bfloat16), x)])
    assert v.numpy().tobytes() == w.numpy().tobytes()


def test_no_warning_where_all_is_as_it_was(tmp_path: Path) -> None:
    for name in TRAIN:
        first, second = Run(name), Run(name)
        first.train(0, 1)
        gl.save(tmp_path / "run", **first.things)
        with warnings.catch_warnings():
            warnings.simplefilter("error", StateWarning)
            second.load(tmp_path / "run")
