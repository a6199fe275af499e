"""Eight CPU devices, repeatable Hypothesis, fresh variables for each test, and a plain word on what was left out.

Tests that need TensorFlow, PyTorch, a browser or a network carry a marker, `tensorflow`, `torch`, `browser`, `binder`,
and skip with a reason where it is missing. GRADLAB_REQUIRE="tensorflow torch browser binder" makes such skips failures.
"""

import gc
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

# Read by JAX when it starts; the platform itself is left to the machine.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()

import hypothesis
import ipywidgets
import pytest

import gradlab as gl

from .browser import server
from .conformance import summary

TOOLS = {
    "tensorflow": ("TensorFlow", "extra oracle"),
    "torch": ("PyTorch", "extra torch"),
    "browser": ("browser", "no Chromium found"),
    "binder": ("Binder", "set GRADLAB_REQUIRE=binder"),
}
EXAMPLES = {
    "gradlab/torch/": "torch",
    "gradlab/keras/recording.py": "tensorflow",
}  # whose examples need a tool as tests do
# Seconds that a test with this marker, or in such a file, takes, roughly; any other one takes OTHERWISE.
SECONDS = {"binder": 100.0, "long": 20.0, "browser": 4.0, "tensorflow": 1.0, ".ipynb": 1.0}
OTHERWISE = 0.05
ELSEWHERE = "unsupported: "  # golden scenarios have a summary of their own

# No database: it would put a folder beside the project's own.
hypothesis.settings.register_profile("gradlab", derandomize=True, deadline=None, database=None, max_examples=50)
hypothesis.settings.load_profile("gradlab")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(summary)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [tool for tool in ("tensorflow", "torch") if importlib.util.find_spec(tool) is None]
    for item in items:
        for folder, tool in EXAMPLES.items():
            if item.path.as_posix().startswith((item.config.rootpath / folder).as_posix()):
                item.add_marker(tool)
        for tool in missing:
            if item.get_closest_marker(tool):
                item.add_marker(pytest.mark.skip(reason=f"{TOOLS[tool][0]} is not installed: {TOOLS[tool][1]}"))
    items[:] = longest_first(items)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not go through them again and again."""
    gc.collect()
    gc.freeze()


def longest_first(items: list[Any]) -> list[Any]:
    """Tests by files, those that take longest first: workers are handed files in this order, and end together."""
    seconds: Counter[Any] = Counter()
    for item in items:
        kinds = {item.path.suffix, *(marker.name for marker in item.iter_markers())} & SECONDS.keys()
        seconds[item.path] += max((SECONDS[kind] for kind in kinds), default=OTHERWISE)
    return sorted(items, key=lambda item: -seconds[item.path])


@pytest.fixture(autouse=True)
def own_variables() -> Iterator[None]:
    """No test sees the variables, names or global step of another."""
    with gl.variable_collection():
        yield


@pytest.fixture(autouse=True)
def no_tpu_system() -> Iterator[None]:
    """No test sees the TPU system of another, not even of one that failed."""
    yield
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
    if reason := server.missing("playwright"):
        pytest.skip(reason)
    with server.chromium() as browser:
        yield browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    for tool in required(os.environ.get("GRADLAB_REQUIRE", "")):
        if report.skipped and item.get_closest_marker(tool):
            report.outcome, report.longrepr = "failed", f"GRADLAB_REQUIRE asks for {tool}, but {reason_of(report)}"
    return report


def required(text: str) -> list[str]:
    return [tool for tool in TOOLS if tool in text]


def reason_of(report: Any) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in left_out(terminalreporter.getreports("skipped")):
        terminalreporter.write_line(line)


def left_out(reports: list[Any]) -> list[str]:
    """One line that says how many tests did not run for want of which tool, one for each other reason."""
    by_tool: dict[str, list[str]] = {}
    for report in reports:
        tool = next((t for t in TOOLS if t in report.keywords), "other")
        if ELSEWHERE not in reason_of(report):
            by_tool.setdefault(tool, []).append(reason_of(report))
    others = by_tool.pop("other", [])
    counted = [f"{len(by_tool[t])} {name} tests: {help}" for t, (name, help) in TOOLS.items() if t in by_tool]
    lines = [f"left out: {'; '.join(counted)}"] if counted else []
    return lines + [f"left out: {others.count(reason)} tests: {reason}" for reason in dict.fromkeys(others)]
