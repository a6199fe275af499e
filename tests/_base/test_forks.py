"""A child that was forked while another thread held a lock is told so, and never waits."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# For each case: another thread holds `lock` while this one forks; in the child `use` is called. What it printed.
FORKED = """
import os, signal, sys, threading, warnings
import gradlab as gl

def hold(lock, held, over):
    with lock:
        held.set()
        over.wait()

for make, lock, use, after in {cases!r}:
    names = {{"gl": gl}}
    exec(make, names)
    held, over = threading.Event(), threading.Event()
    threading.Thread(target=hold, args=(eval(lock, names), held, over)).start()
    held.wait()
    warnings.simplefilter("ignore")  # JAX and Python warn of forks
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            print(eval(use, names), flush=True)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print("it never ended", flush=True)
    over.set()
    exec(after, names)
"""
TOLD = "was in use by another thread when this process was forked"
SYNC = """
v, step = gl.Variable([1.0], name="v"), gl.Variable(0, trainable=False, name="step")
opt = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
opt.build([([1.0], v)], step)
"""
DROP = """
from gradlab.train.drop_stale import turn
v, step = gl.Variable([1.0], name="v"), gl.get_or_create_global_step()
opt = gl.train.DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(1.0), 0)
pairs = opt.compute_gradients(lambda: (v * v).sum())
"""
THREADS = """
from gradlab.workers import Bowl, Experiment
from gradlab.workers.threads import _Run
run = _Run(Experiment(Bowl()), 0.0)
"""
TPU = """
from gradlab.tpu.engine.turns import Turns
turns = Turns(1, 1)
"""
CASES = {
    "dense": (
        "acc = gl.ConditionalAccumulator('float32')", "acc._kernel._lock", "acc.apply_grad([1.0])", "the accumulator"
    ),
    "sparse": (
        "acc = gl.SparseConditionalAccumulator('float32')", "acc._kernel._lock", "acc.try_take(1)", "the accumulator"
    ),
    "sync replicas": (SYNC, "opt._changed", "opt.push([([1.0], v)])", "this SyncReplicasOptimizer"),
    "drop stale": (DROP, "turn(step)", "opt.apply_gradients(pairs, step)", "what updates global_step"),
    "variable": ("v = gl.Variable([1.0], name='v')", "v._lock", "v.assign([2.0])", "the variable v"),
    "slots": (
        "opt = gl.train.AdamOptimizer(); v = gl.Variable([1.0])", "opt._store.lock",
        "opt.apply_gradients([([1.0], v)])", "this optimizer"
    ),
    "threads": (THREADS, "run.turn", "run.stop()", "this run"),
    "tpu": (TPU, "turns.changed", "turns.close()", "this TPU system"),
}  # fmt: skip


WHOLE = [
    ("acc, other = (gl.ConditionalAccumulator('float32') for _ in range(2))", "other._kernel._lock",
     "acc.apply_grad([1.0]).count"),
    ("v = gl.Variable([1.0]); from gradlab.train.variable import current_collection",
     "current_collection()._lock", "len([v for v in gl.trainable_variables() if v.name == 'nothing']) + 1"),
    ("from gradlab.train.accumulators import kernel", "kernel._lock",
     "gl.ConditionalAccumulator('float32').num_accumulated() + 1"),
    ("from gradlab.live.scheduling import drawing", "drawing", "int(drawing.acquire(timeout=5))"),
]  # fmt: skip


def forked(cases: list[tuple[str, str, str, str]]) -> list[str]:
    """What the child of each case printed."""
    code = FORKED.format(cases=cases)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_another_thread_was_at_is_refused_in_the_child_and_goes_on_in_the_parent() -> None:
    told = forked(
        [(make, lock, use, use if name in ("dense", "sparse") else "") for name, (make, lock, use, _) in CASES.items()]
    )
    assert len(told) == len(CASES)
    for line, (*_, what) in zip(told, CASES.values(), strict=True):
        assert line.startswith(f"FailedPreconditionError {what}"), line
        assert TOLD in line and 'get_context("spawn")' in line


def test_what_is_whole_in_the_child_is_used_as_ever() -> None:
    assert forked([(*case, "") for case in WHOLE]) == ["1"] * len(WHOLE)
