"""Kills and damage to the durable log of a server, and forks of a process whose threads are at work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gradlab._base.log import Log
from gradlab.errors import DataLossError
from tests._base.damage import damaged, rewrite
from tests.faults.fault import Fault

_RECORDS = 40
_OLD = Path(__file__).parents[1] / "_files" / "log_1.log"
_MUTATED = 100  # copies in one try


def _record(k: int) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    return {"number": k}, {"w": np.random.default_rng(k).random(int(3 ** (k % 9)), np.float32)}


def _bits(log: Log) -> list[tuple[object, ...]]:
    return [(str(fields), *((name, str(x.dtype), x.shape, x.tobytes()) for name, x in arrays.items()))
            for fields, arrays in log]  # fmt: skip


def killed_while_appending(folder: Path, seed: int) -> str:
    """A process says the number of each record once `append` has returned, and is killed at some instant."""
    path, rng = folder / "run.log", np.random.default_rng(seed)
    code = f"""
import itertools
from gradlab._base.log import Log
from tests.faults.workers import _record
with Log({str(path)!r}, sync={bool(seed % 2)}) as log:
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
        if numbers != list(range(acknowledged + 1, acknowledged + 1 + len(numbers))) and numbers[0] > acknowledged + 2:
            return f"after record {acknowledged} came {numbers[:3]}"
        acknowledged = max([acknowledged, *numbers])
    try:
        with Log(path, sync=False) as log:
            found = [(fields, arrays["w"].tobytes()) for fields, arrays in log]
    except DataLossError as error:
        return str(error)
    if not acknowledged < len(found) <= acknowledged + 2:
        return f"{len(found)} records, {acknowledged + 1} were acknowledged"
    expected = [_record(k) for k in range(len(found))]
    return "" if found == [(f, a["w"].tobytes()) for f, a in expected] else "a record is not what was appended"


def _mutated(
    path: Path, data: bytes, whole: list[tuple[object, ...]], ends: list[int], seed: int, tries: int = _MUTATED
) -> str:
    """What a damaged copy may cost: all is there, or it is refused and left as it is, or what was dropped was torn.

    Torn: the copy is whole up to the end of some record, and then it is cut off, or zeros, or it is shorter than the
    last record needs. That is what a crash leaves, and nobody was told of what is missing then; damage that does the
    same cannot be told from it.
    """
    for k, copy in enumerate(damaged(data, tries, seed)):
        rewrite(path, copy)
        try:
            with Log(path, sync=False) as log:
                found = _bits(log)
        except DataLossError:
            if path.read_bytes() != copy:
                return f"copy {k} was refused, and changed"
            continue
        end = ends[min(len(found), len(ends) - 1)]
        torn = data.startswith(copy) or not copy[end:].strip(b"\0") or _zero_tail(copy, end)
        torn |= len(found) == len(whole) - 1 and len(copy) < len(data)  # the file ends within its last frame
        torn &= copy[:end] == data[:end]
        if found != whole[: len(found)] or (len(found) < len(whole) and not torn):
            return f"copy {k} of seed {seed} holds {len(found)} records of {len(whole)}"
    return ""


def _zero_tail(copy: bytes, end: int) -> bool:
    """Whether zeros over the beginning of a sector behind `end` reach to the end of the file."""
    zeros = len(copy.rstrip(b"\0"))
    return max(end, zeros) <= -(-zeros // 512) * 512 < len(copy)


def damaged_log(folder: Path, seed: int) -> str:
    path, ends = folder / "run.log", list[int]()
    with Log(path, sync=False) as log:
        ends.append(path.stat().st_size)
        for k in range(_RECORDS):
            log.append(*_record(k))
            ends.append(path.stat().st_size)
        whole = _bits(log)
    return _mutated(path, path.read_bytes(), whole, ends, seed)


def damaged_old_log(folder: Path, seed: int) -> str:
    """Of the first format, which has no checksum of lengths."""
    path, ends = folder / "run.log", list[int]()
    shutil.copy(_OLD, path)
    with Log(path, sync=False) as log:
        whole, data = _bits(log), path.read_bytes()
    with path.open("rb") as file:
        ends.append(len(file.readline()))
        while ends[-1] < len(data):
            ends.append(ends[-1] + 12 + int.from_bytes(data[ends[-1] : ends[-1] + 8], "little"))
    return _mutated(path, data, whole, ends, seed, 1)


def forked(folder: Path, seed: int) -> str:
    """A process whose other thread applies gradients is forked: its child may apply too, or is told why not."""
    code = f"""
import os, signal, sys, threading, time, warnings
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
        try:
            acc.apply_grad(*one)
        except gl.errors.FailedPreconditionError as error:
            os._exit(0 if "when this process was forked" in str(error) else 3)
        values = np.unique(getattr(acc.peek().sum, "values", acc.peek().sum))
        os._exit(0 if values.tolist() == [acc.num_accumulated()] else 4)
    status = os.waitpid(child, 0)[1]
    if status:
        print("a child hung" if os.WIFSIGNALED(status) else f"a child ended with {{status >> 8}}")
over.set()
for thread in threads:
    thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=400, check=False)
    return done.stdout.strip() or done.stderr.strip()[-200:] if done.returncode or done.stdout else ""


FAULTS = [
    Fault("kill -9 while a log is appended to", killed_while_appending, 2),
    Fault(f"{_MUTATED} damaged logs, each refused or a prefix that a crash may leave", damaged_log, 4),
    Fault("a damaged log of format 1: 97 % are refused, no checksum tells the others", damaged_old_log, 100, 0.03),
]
if hasattr(os, "fork"):
    FAULTS.append(Fault("12 forks while other threads apply gradients", forked, 1))
