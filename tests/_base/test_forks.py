"""A child that was forked while another thread held a lock gets new locks: it never waits for that
thread.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# Another thread holds `lock` while this one forks; the child, and then the parent, print `use`.
FORKED = """
import os, signal, sys, threading, warnings
import gradlab as gl

def hold(lock, held, over):
    with lock:
        held.set()
        over.wait()

for make, lock, use in {cases!r}:
    names = {{"gl": gl}}
    exec(make, names)
    held, over = threading.Event(), threading.Event()
    holder = threading.Thread(target=hold, args=(eval(lock, names), held, over))
    holder.start()
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
    holder.join()
    print(eval(use, names), flush=True)
"""
SYNC = """
v, step = gl.Variable([1.0], name="v"), gl.Variable(0, trainable=False, name="step")
opt = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
opt.build([([1.0], v)], step)
"""
DROP = """
from gradlab.train.drop_stale import update_lock
v, step = gl.Variable([1.0], name="v"), gl.get_or_create_global_step()
opt = gl.train.DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(1.0), 0)
pairs = opt.compute_gradients(lambda: (v * v).sum())
"""
ADAM = "opt = gl.train.AdamOptimizer(); v = gl.Variable([1.0])"
KERAS = "opt = gl.keras.Adagrad(); v = gl.Variable([1.0])"
DENSE = "acc = gl.ConditionalAccumulator('float32')"
SPARSE = "acc = gl.SparseConditionalAccumulator('float32')"
STEP_QUEUE = "from gradlab.tpu.engine.step_queue import StepQueue; queue = StepQueue(1, 1)"
KERNEL = "from gradlab.train.accumulators import kernel"
DRAWING = "from gradlab.live.scheduling import drawing"
COLLECTION = "from gradlab.train.variable import current_collection"
CASES = {
    "dense accumulator": (DENSE, "acc._kernel._lock", "acc.apply_grad([1.0]).accepted"),
    "sparse accumulator": (SPARSE, "acc._kernel._lock", "acc.apply_grad([0], [[1.0]]).accepted"),
    "sync replicas": (SYNC, "opt._changed", "opt.push([([1.0], v)]).accepted"),
    "drop stale": (DROP, "update_lock(step)", "opt.apply_gradients(pairs, step) >= 0"),
    "variable": ("v = gl.Variable([1.0], name='v')", "v._lock", "v.assign([2.0]) is v"),
    "slots": (ADAM, "opt._store.lock", "opt.apply_gradients([([1.0], v)]) is None"),
    "keras": (KERAS, "opt._engine.lock", "opt.apply_gradients([([1.0], v)]) is not None"),
    "tpu": (STEP_QUEUE, "queue.changed", "queue.abandon() is None"),
    "collection": (COLLECTION, "current_collection()._lock", "len(gl.trainable_variables()) >= 0"),
    "table of accumulators": (
        KERNEL,
        "kernel._kernels_lock",
        "gl.ConditionalAccumulator('float32').global_step == 0",
    ),
    "drawing": (DRAWING, "drawing", "drawing.acquire(timeout=5)"),
}


@pytest.mark.exhaustive
def test_a_child_and_its_parent_go_on() -> None:
    code = FORKED.format(cases=list(CASES.values()))

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True"] * 2 * len(CASES)


# Another thread is in the middle of an addition, in the context that additions run in, while this
# one forks.
ADDING = """
import os, threading, warnings
import gradlab as gl
from gradlab.train.accumulators.dense_sum import DenseSum

warnings.simplefilter("ignore")
acc = gl.ConditionalAccumulator("float32")
acc.apply_grad([1.0])
(add,) = [thing._add_quietly for thing in vars(acc._kernel._machine).values() if isinstance(thing, DenseSum)]
began, over = threading.Event(), threading.Event()
adding = threading.Thread(target=add.func, args=(lambda: began.set() or over.wait(),))
adding.start()
began.wait()
child = os.fork()
if child == 0:
    acc.apply_grad([2.0])
    print(acc.take_grad(1), flush=True)
    os._exit(0)
os.waitpid(child, 0)
over.set()
adding.join()
"""


def test_a_child_adds_though_it_was_forked_in_the_middle_of_an_addition() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ADDING], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.stdout, done.stderr) == ("[1.5]\n", "")
