"""Without PyTorch: the module loads, and says what to install."""

import subprocess
import sys

import pytest

import gradlab as gl


def test_without_torch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "gradlab\[torch\]"'):
        gl.torch.record(gl.Recorder(), None, None)  # type: ignore[arg-type]


def test_naming_the_module_does_not_import_torch() -> None:
    code = "import sys, gradlab; gradlab.torch.record; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
