"""Settings of all tests: JAX's devices, Hypothesis, fresh variables, two cases of each test.

Tests that need more than the extra `test`, or much time, carry the marker of a part
(`tests/parts.py`); the default run leaves them out. Asked for by `-m`, a part whose tools are
missing is an error at once.

Of a parametrized test the default run takes the first and the last case, which differ in all
parameters. The others get the marker `exhaustive`, and run in `.ci/nightly`. A test with the marker
`every_case` keeps all of them.
"""

import gc
import os
import re
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any
from weakref import WeakSet

# Read by JAX when it starts; the platform itself is left to the machine. Programs of tests run
# once, so most of their time is XLA's: without its optimizations, and with loops written without
# MLIR, it is half. `.ci/nightly` compares digits in programs that are optimized. What XLA_FLAGS
# says already comes later and wins.
os.environ["XLA_FLAGS"] = " ".join(
    [
        "--xla_backend_optimization_level=0",
        "--xla_cpu_use_fusion_emitters=false",
        os.environ.get("XLA_FLAGS", ""),
        "--xla_force_host_platform_device_count=8",
    ]
)
# Bytecode is kept, whatever the environment says: hundreds of workers, kernels and servers import
# the same modules, and to rewrite all tests takes ten seconds of each worker.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""
# The cores are taken by tests side by side: threads of one product wait for each other in a loop, a
# tenth of all time.
os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")
# Ray's own is 15: beside other tests, each of its processes took ten seconds to start.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

import hypothesis
import ipywidgets
import pytest
from _pytest.doctest import DoctestModule
from xdist.scheduler import LoadFileScheduling

import gradlab as gl
from tests import parts
from tests.browser import server
from tests.conformance import summary

sys.dont_write_bytecode = False

MOST_WORKERS = 4  # each holds a JAX and a matplotlib of its own

# One worker runs all files with tests of one of these markers: a framework takes two to ten seconds
# to import, and JupyterLab with its browser fifteen to start. Other files stay whole, for their
# fixtures.
TOGETHER = {
    "browser": "browser",
    "tensorflow": "tensorflow",
    "originals": "tensorflow",
    "torch": "torch",
    "trainers": "torch",
}
# Tests with one of these markers take seconds. Groups with many of them come first, so that all
# workers end together.
SLOW = {
    "browser",
    "tensorflow",
    "originals",
    "trainers",
    "long",
    "ray",
    "trackers",
    "binder",
    "packaging",
    "site",
}

# The same examples in every CI run, others in every run elsewhere; a failure prints what repeats
# it. No database: it would put a folder beside the project's own. Nothing is timed, the drawing of
# examples included.
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "max_examples": 25,
    "print_blob": True,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}
hypothesis.settings.register_profile("ci", derandomize=True, **SETTINGS)
hypothesis.settings.register_profile("random", derandomize=False, **SETTINGS)
hypothesis.settings.register_profile("long", derandomize=False, **{**SETTINGS, "max_examples": 500})
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "random")


def pytest_configure(config: pytest.Config) -> None:
    # A conftest.py here is not asked about files elsewhere.
    config.pluginmanager.register(summary)
    config.pluginmanager.register(parts)
    # Begun in the background: tests of Ctrl-C would hang.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    is_worker = hasattr(config, "workerinput")
    if not is_worker and (lines := parts.missing(config.option.markexpr.strip())):
        raise pytest.UsageError("\n".join(lines))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Processes for `-n auto`: none for a few files, whose tests begin sooner without."""
    return 0 if config.option.file_or_dir else min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_report_header(config: pytest.Config) -> list[str]:
    if any(parts.selected(config.option.markexpr, marker) for marker in parts.PARTS):
        return []
    return [
        f"left out: {', '.join(parts.PARTS)}",
        "to run one: python -m pytest -m NAME, which says what it needs and what installs that",
    ]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[Any]:
    """Look for examples in the package only.

    To look for them in tests takes seconds of each worker.
    """
    collectors = yield
    return [
        x
        for x in collectors
        if not (isinstance(x, DoctestModule) and x.path.is_relative_to(parts.ROOT / "tests"))
    ]


@pytest.hookimpl(tryfirst=True)  # before `-m` is applied
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
        for marker in parts.of_file(item.path):
            item.add_marker(marker)
    if not config.getoption("--golden", default=None):  # files of one's own are run whole
        for of_one_test in cases.values():
            for item in of_one_test[1:-1]:
                if not item.get_closest_marker("every_case"):
                    item.add_marker("exhaustive")
    groups = {item: group_of(str(item.path), config.option.markexpr) for item in items}
    slow = Counter(
        groups[item] for item in items if any(item.get_closest_marker(name) for name in SLOW)
    )
    items.sort(key=lambda item: (-slow[groups[item]], groups[item]))


@cache  # asked for each test
def group_of(file: str, expression: str) -> str:
    """Return the name of the group of files that one worker runs under `-m expression`."""
    path = parts.ROOT / file
    text = path.read_text("utf-8") if path.suffix == ".py" else ""
    markers = {*re.findall(r"mark\.(\w+)", text), *parts.of_file(path)}
    together = [
        TOGETHER[name] for name in TOGETHER if name in markers and parts.selected(expression, name)
    ]
    if together == ["browser"] and re.search(r"\b(shown|everything)\b", text):
        # On the page that holds all labs; as long as all other tests of pages together.
        return "labs in the browser"
    return together[0] if together else file


class ByFile(LoadFileScheduling):
    """Hand out whole files, and files of one group to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(super()._split_scope(nodeid), self.config.option.markexpr)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    return ByFile(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from modules and tests, which stay to the end.

    Nor need it look for garbage whenever there are 700 more objects, where JAX makes a million to
    trace a step: that took one second in twenty of tests of labs and of compiled steps.
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
def one_context() -> None:
    """Let all programs of JAX share one context of MLIR.

    To make one for each program takes as long as to compile a small one.
    """
    if "jax" in sys.modules:  # else not: to import it takes a second
        from jax._src.interpreters import mlir

        if not hasattr(mlir.make_ir_context, "cache_clear"):
            mlir.make_ir_context = cache(mlir.make_ir_context)


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
    """Close the widgets that a test has made.

    Until then ipywidgets holds them, their figures and traces.
    """
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
