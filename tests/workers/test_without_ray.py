"""What can be proven of the engine "ray" without Ray: its absence, its options, and bits that no process changes."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from gradlab._base.extras import how_to_install
from gradlab.workers import Bowl, Experiment, on_ray, run

# As large as the longest sums of test_on_two_nodes.py; any difference between processes shows in the digest.
GRADIENTS = """
import hashlib
import numpy as np
from gradlab.workers import Digits
for digits in (Digits(hidden=(300,), batch=1500), Digits(hidden=(300,), batch=1)):
    found = digits.gradient(digits.start(), np.random.default_rng(0))
    print({name: hashlib.sha256(g.tobytes()).hexdigest() for name, g in found.items()})
"""


@pytest.mark.exhaustive
def test_gradients_of_digits_do_not_depend_on_the_number_of_threads() -> None:
    """Ray gives its processes a different number of threads than a replay has."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", GRADIENTS], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
        )
        for threads in ("1", "2")
    ]  # fmt: skip
    one, two = (process.communicate()[0] for process in started)
    assert [process.returncode for process in started] == [0, 0]
    assert one == two
    assert len(one.splitlines()) == 2


def test_the_options_of_the_engine_are_those_of_its_driver() -> None:
    options, of_driver = (inspect.signature(f).parameters.values() for f in (on_ray.run, on_ray.Driver))
    *own, shards, shard_options = list(options)[2:]  # the last two are of a ShardedDriver
    assert own == list(of_driver)[2:]
    assert (shards.name, shard_options.name) == ("shards", "shard_options")


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=re.escape(how_to_install("ray"))):
        run(Experiment(Bowl()), "ray")
