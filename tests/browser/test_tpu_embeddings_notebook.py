"""The notebook on TPU embeddings in JupyterLab: steps forth and back, rows chosen, targets reached."""

from __future__ import annotations

import pytest

from .conftest import NOTEBOOKS

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "06_tpu_embeddings.ipynb"
STEP = "One step of an embedding table"
AXES = {STEP: ("step", "Step")}
