"""Tests of the browser's modules that need no browser: the Node.js inside playwright's package runs
those of `web/`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

TESTS = sorted((Path(__file__).parent / "web").glob("*.test.js"))


@pytest.fixture(scope="module")
def node() -> Path:
    import playwright

    return (
        Path(playwright.__file__).parent
        / "driver"
        / ("node.exe" if sys.platform == "win32" else "node")
    )


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_in_node(node: Path, path: Path) -> None:
    run = subprocess.run(
        [node, "--test", "--test-reporter=spec", path], capture_output=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stdout + run.stderr
