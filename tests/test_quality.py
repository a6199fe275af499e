"""Lint, format and types are clean."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    ["ruff check .", "ruff format --check --diff gradlab tests", "mypy"],
)
def test_the_tool_finds_nothing(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
