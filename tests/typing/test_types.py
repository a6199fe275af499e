"""What a type checker knows of the public names is what assert_types.py says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

LINES = Path(__file__).with_name("assert_types.py")
ROOT = LINES.parents[2]


def test_mypy_agrees(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "--follow-imports=silent", LINES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
