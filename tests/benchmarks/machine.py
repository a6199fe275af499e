"""What the numbers were measured on, and how busy other programs kept it meanwhile."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path

PACKAGES = (
    "numpy",
    "jax",
    "optax",
    "matplotlib",
    "ipywidgets",
    "anywidget",
    "jupyterlab",
    "ipympl",
    "plotly",
    "playwright",
    "simpy",
)


def description() -> str:
    """Machine, versions and load, in a few lines of Markdown."""
    versions = [f"{name} {version}" for name in PACKAGES if (version := _version(name))]
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {_chromium()}  \n{', '.join(versions)}  \n"
        f"load average {', '.join(f'{load:.2f}' for load in os.getloadavg())}, "
        f"{time.strftime('%Y-%m-%d %H:%M')}"
    )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def _chromium() -> str:
    from tests.browser.server import chromium_path

    path = chromium_path()
    if path is None:
        return "no Chromium"
    asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return " ".join(asked.stdout.split()[:2]) or "Chromium"


class Others:
    """How much of one core programs other than ours used since the last call of `share`; NaN when
    nobody can tell.
    """

    def __init__(self) -> None:
        self._last = self._read()

    def share(self) -> float:
        before, self._last = self._last, self._read()
        if before is None or self._last is None:
            return float("nan")
        (all0, ours0, then), (all1, ours1, now) = before, self._last
        return max(0.0, (all1 - all0) - (ours1 - ours0)) / (now - then)

    def _read(self) -> tuple[float, float, float] | None:
        """CPU seconds used by everything, by us and our children, and the time."""
        try:
            import psutil
        except ImportError:
            return None
        busy = psutil.cpu_times()
        everything = sum(busy[:3]) + sum(getattr(busy, name, 0.0) for name in ("irq", "softirq"))
        ours = 0.0
        us = psutil.Process()
        for process in (us, *us.children(recursive=True)):
            try:
                used = process.cpu_times()
            except psutil.Error:
                continue
            ours += used.user + used.system
        return everything, ours, time.monotonic()
