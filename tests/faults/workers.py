"""Kills and damage to the durable log of a server, and forks of a process whose threads are at
work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gradlab._base.growing import GrowingFile
from gradlab.errors import DataLossError
from tests._base.damage import damaged, rewrite
from tests.faults.fault import Fault

_RECORDS = 40
_MUTATED = 100  # copies in one try


def _record(k: int) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    return {"number": k}, {"w": np.random.default_rng(k).random(int(3 ** (k % 9)), np.float32)}


def _bits(log: GrowingFile) -> list[tuple[object, ...]]:
    return [
        (str(fields), *((name, str(x.dtype), x.shape, x.tobytes()) for name, x in arrays.items()))
        for fields, arrays in log
    ]


def killed_while_appending(folder: Path, seed: int) -> str:
    """A process says the number of each record once `append` has returned, and is killed at some
    instant.
    """
    path, rng = folder / "run.log", np.random.default_rng(seed)
    code = f"""
import itertools
from gradlab._base.growing import GrowingFile
from tests.faults.workers import _record
with GrowingFile({str(path)!r}, sync={bool(seed % 2)}) as log:
    for k in itertools.count(sum(1 for _ in log)):
        log.append(*_record(k))
        print(k, flush=True)
"""
    acknowledged = -1
    for _ in range(2):  # the second one goes on where the first was
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        heard = process.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.05)))
        process.kill()
        heard += process.stdout.read()
        process.stdout.close()
        process.wait()
        numbers = [int(line) for line in heard.split(b"\n")[:-1]]
        if (
            numbers != list(range(acknowledged + 1, acknowledged + 1 + len(numbers)))
            and numbers[0] > acknowledged + 2
        ):
            return f"after record {acknowledged} came {numbers[:3]}"
        acknowledged = max([acknowledged, *numbers])
    try:
        with GrowingFile(path, sync=False) as log:
            found = [(fields, arrays["w"].tobytes()) for fields, arrays in log]
    except DataLossError as error:
        return str(error)
    if not acknowledged < len(found) <= acknowledged + 2:
        return f"{len(found)} records, {acknowledged + 1} were acknowledged"
    expected = [_record(k) for k in range(len(found))]
    return (
        ""
        if found == [(f, a["w"].tobytes()) for f, a in expected]
        else "a record is not what was appended"
    )


def damaged_log(folder: Path, seed: int) -> str:
    """Of damaged copies each is refused and left as it is, or all of it is there."""
    path = folder / "run.log"
    with GrowingFile(path, sync=False) as log:
        for k in range(_RECORDS):
            log.append(*_record(k))
        whole = _bits(log)
    for k, copy in enumerate(damaged(path.read_bytes(), _MUTATED, seed)):
        rewrite(path, copy)
        try:
            with GrowingFile(path, sync=False) as log:
                if _bits(log) != whole:
                    return f"copy {k} of seed {seed} is believed, and holds something else"
        except DataLossError:
            if path.read_bytes() != copy:
                return f"copy {k} was refused, and changed"
    return ""


def forked(folder: Path, seed: int) -> str:
    """A process whose other threads apply gradients is forked: its child never waits for them."""
    code = f"""
import os, signal, threading, time, warnings
import numpy as np
import gradlab as gl
warnings.simplefilter("ignore")
acc = gl.{("ConditionalAccumulator", "SparseConditionalAccumulator")[seed % 2]}("float32")
one = ([0], np.ones((1, 1 << 18), np.float32)) if {seed % 2} else (np.ones(1 << 18, np.float32),)
over = threading.Event()
def work():
    while not over.is_set():
        acc.apply_grad(*one)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for delay in np.random.default_rng({seed}).uniform(0, 0.02, 12):
    time.sleep(delay)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        acc.apply_grad(*one)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print("a child hung" if os.WIFSIGNALED(status) else f"a child ended with {{status >> 8}}")
over.set()
for thread in threads:
    thread.join()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=400, check=False
    )
    return (
        done.stdout.strip() or done.stderr.strip()[-200:] if done.returncode or done.stdout else ""
    )


FAULTS = [
    Fault("kill -9 while a log is appended to", killed_while_appending, 2),
    Fault(f"{_MUTATED} damaged logs, each refused or whole", damaged_log, 4),
]
if hasattr(os, "fork"):
    FAULTS.append(Fault("12 forks while other threads apply gradients", forked, 1))
