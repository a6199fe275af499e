"""Without PyTorch: the module loads, and says what to install."""

import re
import subprocess
import sys

import pytest

import gradlab as gl
from gradlab._base.extras import how_to_install


def test_without_torch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=re.escape(how_to_install("torch"))):
        gl.record.torch(gl.Recorder(), None, None)  # type: ignore[arg-type]


def test_naming_the_module_does_not_import_torch() -> None:
    code = "import sys, gradlab; gradlab.record.torch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
