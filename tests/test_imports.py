"""`import gradlab` is quick: it brings NumPy, and neither JAX nor matplotlib nor widgets."""

import json
import subprocess
import sys

import pytest

HEAVY = {"jax", "matplotlib", "ipywidgets", "anywidget", "optax", "ray"}
CLIPS = """
import numpy as np, gradlab as gl
g = np.ones(3, np.float32)
gl.clip_by_value(g, -1.0, 1.0), gl.clip_by_norm(g, 1.0), gl.clip_by_average_norm(g, 1.0), gl.global_norm([g])
gl.clip_by_global_norm([g, None, gl.IndexedSlices(g, [0, 1, 2])], 1.0), gl.clip_report([g], [g / 2])
gl.adaptive_grad_clip([g], [g], 0.1), gl.clip_by_block_rms([g], 1.0), gl.per_example_clip([g[None]], 1.0)
"""
APPLY = """
import gradlab as gl
v = gl.Variable([1.0, 2.0])
gl.train.MomentumOptimizer(0.1, 0.9).apply_gradients([([1.0, 1.0], v)])
"""


def loaded(code: str) -> set[str]:
    """Which heavy libraries a fresh Python has loaded after running the code."""
    code += (
        f"\nimport sys, json; print(json.dumps([m for m in {sorted(HEAVY)} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import gradlab",
        (
            "import gradlab.clip, gradlab.rules, gradlab.schedules, gradlab.optax, "
            "gradlab.workers.on_ray"
        ),
        CLIPS,
        APPLY,
    ],
)
def test_numpy_users_load_numpy_only(code: str) -> None:
    assert loaded(code) == set()


@pytest.mark.exhaustive
def test_this_test_can_fail() -> None:
    assert "jax" in loaded(
        "import gradlab as gl\nv = gl.Variable([1.0])\ngl.gradients(lambda: v * v, v)"
    )
