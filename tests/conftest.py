"""Eight CPU devices, repeatable Hypothesis, fresh variables for each test, and a plain word on what is left out.

Tests that need more than the extra `test`, or much time, carry the marker of a part (`tests/parts.py`); the default run
leaves them out. Asked for by `-m`, a part whose tools are missing is an error at once.
"""

import gc
import os
import platform
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

# Read by JAX when it starts; the platform itself is left to the machine. At level 1 LLVM takes two thirds of the time
# that it takes at its own, 3, and the digits are the same on the machines that were tried (tests/test_programs.py).
os.environ["XLA_FLAGS"] = " ".join(
    ["--xla_backend_optimization_level=1", os.environ.get("XLA_FLAGS", ""), "--xla_force_host_platform_device_count=8"]
)
# A program is compiled once for all workers, kernels and runs. It fits one machine, whose name is in the folder's.
os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(
    Path(__file__).parents[1] / ".pytest_cache" / "d" / f"jax-{platform.node()}"
)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
# Bytecode is kept, whatever the environment says: hundreds of workers, kernels and servers import the same modules, and
# to rewrite all tests takes ten seconds of each worker.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""
# The cores are taken by tests side by side: threads of one product wait for each other in a loop, a tenth of all time.
os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")
# Ray's own is 15: beside other tests, each of its processes took ten seconds to start.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

import hypothesis
import ipywidgets
import pytest
from xdist.scheduler import LoadFileScheduling

import gradlab as gl
from tests import parts, programs
from tests.browser import server
from tests.conformance import summary

sys.dont_write_bytecode = False

MOST_CASES = 4  # of one test in the default run, spread over all of them; the others are exhaustive
MOST_WORKERS = 4  # each holds a JAX and a matplotlib of its own

# One worker runs all files with tests of one of these markers: a framework takes two to ten seconds to import, and
# JupyterLab with its browser fifteen to start. Other files stay whole, for their fixtures.
TOGETHER = {
    "browser": "browser", "tensorflow": "tensorflow", "originals": "tensorflow", "torch": "torch", "trainers": "torch",
}  # fmt: skip
# About how many seconds a test with a marker takes; any other test takes OTHERWISE. The longest groups come first, so
# that all workers end at about the same time.
SECONDS = {
    "binder": 8.0, "long": 20.0, "ray": 10.0, "trackers": 10.0, "originals": 10.0, "trainers": 5.0, "packaging": 5.0,
    "torch": 1.0, "browser": 4.0, "site": 2.0, "exhaustive": 0.5, "tensorflow": 1.0,
}  # fmt: skip
OTHERWISE = 0.05

# The same examples in every CI run, others in every run elsewhere; a failure prints what repeats it. No database: it
# would put a folder beside the project's own. Nothing is timed, the drawing of examples included.
SETTINGS: dict[str, Any] = {
    "deadline": None, "database": None, "max_examples": 25, "print_blob": True,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}  # fmt: skip
hypothesis.settings.register_profile("ci", derandomize=True, **SETTINGS)
hypothesis.settings.register_profile("random", derandomize=False, **SETTINGS)
hypothesis.settings.register_profile("long", derandomize=False, **{**SETTINGS, "max_examples": 500})
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "random")


def is_default(config: pytest.Config) -> bool:
    """Tell whether the default markers are in force."""
    return bool(config.option.markexpr.strip() == parts.DEFAULT)


def is_whole(config: pytest.Config) -> bool:
    """Tell whether nothing was asked for but the default run."""
    chosen = ("file_or_dir", "keyword", "deselect", "ignore", "lf", "failedfirst", "collectonly", "maxfail")
    return is_default(config) and not any(getattr(config.option, name, None) for name in chosen)


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    # A conftest.py here is not asked about files elsewhere.
    config.pluginmanager.register(summary)
    config.pluginmanager.register(parts)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background: tests of Ctrl-C would hang
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not is_worker(config) and (lines := parts.missing(config.option.markexpr.strip())):
        raise pytest.UsageError("\n".join(lines))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Processes for `-n auto`: none for a few files, whose tests begin sooner without."""
    return 0 if config.option.file_or_dir else min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_report_header(config: pytest.Config) -> list[str]:
    return parts.header() if is_default(config) else []


@pytest.hookimpl(tryfirst=True)  # before `-m` is applied
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    all_cases = config.getoption("--golden", default=None)  # files of one's own are run whole
    of_function = Counter(item.nodeid.partition("[")[0] for item in items)
    cases: Counter[Any] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        sampled = item.get_closest_marker("sampled")
        every = sampled.args[0] if sampled else 1
        if not item.get_closest_marker("every_case"):
            every = max(every, -(-of_function[function] // MOST_CASES))
        if cases[function] % every and not all_cases:
            item.add_marker("exhaustive")
        cases[function] += 1
        for marker in parts.of_file(item.path):
            item.add_marker(marker)
    seconds: Counter[str] = Counter()
    groups: dict[pytest.Item, str] = {}
    for item in items:
        markers = {marker.name for marker in item.iter_markers()}
        groups[item] = group_of(str(item.path), config.option.markexpr)
        seconds[groups[item]] += max((SECONDS[name] for name in markers & SECONDS.keys()), default=OTHERWISE)
    items.sort(key=lambda item: (-seconds[groups[item]], groups[item]))


@cache  # asked for each test
def group_of(file: str, expression: str) -> str:
    """Return the name of the group of files that one worker runs, where `-m expression` is asked for."""
    path = parts.ROOT / file
    text = path.read_text("utf-8") if path.suffix == ".py" else ""
    found = {*re.findall(r"mark\.(\w+)", text), *parts.of_file(path)}
    together = [TOGETHER[name] for name in TOGETHER if name in found and parts.selected(expression, name)]
    if together == ["browser"] and re.search(r"\b(shown|everything)\b", text):
        return "labs in the browser"  # on the page that holds all labs; as long as all other tests of pages together
    return together[0] if together else file


class ByFile(LoadFileScheduling):
    """Hand out whole files, and files of one group to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(super()._split_scope(nodeid), self.config.option.markexpr)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    return ByFile(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay to the end: the garbage collector need not go through them again and again.

    Nor need it look for garbage whenever there are 700 more objects, where JAX makes a million to trace a step: that
    took one second in twenty of tests of labs and of compiled steps.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def quick_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile quickly all programs where no test of a module asks for last digits, elsewhere those that keep them.

    A program that two modules share stays as the first of them compiled it: see `programs.QUICK`.
    """
    ones = programs.every if programs.are_quick(request.path) else programs.keeps_digits
    needs_jax = ones is programs.every or "jax" in sys.modules  # else not: importing it takes a second
    with programs.quick(ones) if needs_jax else nullcontext():
        yield


@pytest.fixture(autouse=True)
def own_variables() -> Iterator[None]:
    """No test sees the variables, names or global step of another."""
    with gl.variable_collection():
        yield


@pytest.fixture(autouse=True)
def no_tpu_system() -> Iterator[None]:
    """No test sees the TPU system of another, not even of one that failed."""
    yield
    if "gradlab.tpu" in sys.modules:  # to import it takes a second
        gl.tpu.shutdown_system()


@pytest.fixture(autouse=True)
def own_widgets() -> Iterator[None]:
    """Widgets that a test makes go with it: until they are closed, ipywidgets holds them, their figures and traces."""
    made: WeakSet[Any] = WeakSet()
    ipywidgets.Widget.on_widget_constructed(made.add)
    yield
    ipywidgets.Widget.on_widget_constructed(None)
    for widget in list(made):
        widget.close()


# One for all folders: Playwright allows one connection in a process.
@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium."""
    with server.chromium() as browser:
        yield browser


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A whole default run has about the number of tests that it announced, or fails."""
    if is_worker(session.config) or not is_whole(session.config):
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    count = sum(len(reporter.getreports(kind)) for kind in ("passed", "failed", "skipped", "unsupported", "error"))
    if line := parts.miscounted(count):
        reporter.write_line(line)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
