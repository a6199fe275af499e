"""Ctrl-C in a block of `later`: at its end or where it is looked for, once, whoever listens, and nowhere else."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from gradlab._base.interrupts import later


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_it_comes_at_the_end_of_the_outermost_block_or_where_it_is_looked_for() -> None:
    done, listener = [], signal.getsignal(signal.SIGINT)

    def nested() -> None:
        with later:
            with later:
                press()
                press()
                done.append("inner")
            done.append("outer")

    def looked_for() -> None:
        with later:
            later.look()
            press()
            done.append("before")
            later.look()
            done.append("never")

    for act in (nested, looked_for):
        with pytest.raises(KeyboardInterrupt):
            act()
    with later:  # nothing is left of it
        later.look()
    assert done == ["inner", "outer", "before"]
    assert signal.getsignal(signal.SIGINT) is listener


def test_whoever_listens_is_told_and_stays_and_other_threads_are_left_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with later:
            press()
            assert heard == []
        assert heard == [signal.SIGINT]
        with later:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new listener within the block stays
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        with later:  # nobody listens
            press()
        signal.signal(signal.SIGINT, lambda number, frame: heard.append(-1))
        inside, over = threading.Event(), threading.Event()

        def other() -> None:
            with later:
                inside.set()
                over.wait()

        thread = threading.Thread(target=other)
        thread.start()
        inside.wait()
        press()
        assert heard[-1] == -1
        over.set()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_by_another_thread_is_in_no_block() -> None:
    code = """
import os, signal, threading, warnings
from gradlab._base.interrupts import later
warnings.simplefilter("ignore")
def fork():
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        return
    try:
        with later:
            pass
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        os._exit(7)
    os._exit(1)
with later:
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "7\n", done.stderr
