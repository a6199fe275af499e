"""What is not installed is named in one sentence, with a command that installs it and nobody else's
code.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradlab as gl
from gradlab._base import extras

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TEXTS = [
    path
    for pattern in (
        "*.md",
        "*.toml",
        "gradlab/**/*.py",
        "gradlab/**/*.js",
        "notebooks/**/*.*",
        "tests/**/*.py",
        "binder/*",
        ".ci/*",
        ".github/**/*.*",
    )
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix not in (".png", ".gif", ".pyc") and path != Path(__file__)
]
# On PyPI `gradlab` is another project: nothing may tell pip to look for it there.
OTHERS = re.compile(r"""pip install(?: +-[\w-]+)* +[\\"']*gradlab(?![\w/-])|(?<![\w-])gradlab\[""")

WITHOUT_JAX = """
import sys
sys.modules["jax"] = None
import numpy as np, gradlab as gl
v = gl.Variable([3.0, 4.0])
"""


def test_the_distribution_has_the_name_that_hints_use() -> None:
    assert PROJECT["name"] == extras.DISTRIBUTION


@pytest.mark.parametrize("extra", ["lab", "dashboard", "optax", "torch", "ray", "film"])
def test_a_hint_names_an_extra_of_this_distribution(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert extra in PROJECT["optional-dependencies"]
    assert extras.how_to_install(extra).startswith(f'pip install -e ".[{extra}]" ')
    monkeypatch.setattr(extras, "_CHECKOUT", Path("no such file"))
    assert extras.how_to_install(extra) == f'pip install "gradlab-notebooks[{extra}]"'


def test_the_extras_of_extras_are_those_of_this_distribution() -> None:
    nested = [
        line
        for lines in PROJECT["optional-dependencies"].values()
        for line in lines
        if "gradlab" in line
    ]
    assert nested
    assert all(line.startswith(f"{extras.DISTRIBUTION}[") for line in nested)


def test_nothing_tells_pip_to_install_the_other_gradlab() -> None:
    assert len(TEXTS) > 500
    found = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in TEXTS
        for hit in OTHERS.findall(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", ['pip install "gradlab[optax]"', "%pip install gradlab", "pip install -q 'gradlab'"]
)
def test_such_a_hint_would_be_found(text: str) -> None:
    assert OTHERS.search(text)
    assert not OTHERS.search(text.replace("gradlab", "gradlab-notebooks"))


def test_a_library_that_lacks_something_of_its_own_says_so_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("import what_it_lacks")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="what_it_lacks"):
        extras.need("half_installed", "this test", "optax")


@pytest.mark.parametrize(
    "code",
    [
        "gl.tpu.OnMesh(None)",
        "gl.tpu.Training",
        "gl.optax.from_rule(gl.rules.Adagrad(), 0.1).init({'w': np.ones(2)})",
    ],
)
def test_without_jax_one_sentence_says_how_to_get_it(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAX + code], capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"ModuleNotFoundError: [\w. ]+ needs jax, which is not installed; run pip install jax", last
    )


def test_without_jax_the_rest_works() -> None:
    code = """
gl.train.AdagradOptimizer(0.1).apply_gradients([(gl.clip_by_norm(np.float32([3, 4]), 1.0), v)])
gl.keras.SGD(0.1).apply_gradients([(np.float32([1, 1]), v)])
gl.workers.run(gl.workers.Experiment(gl.workers.Digits(), workers=2, gradients=4))
gl.ConditionalAccumulator(np.float32, [2]).apply_grad(np.float32([1, 1]))
print(gl.labs.clipping())
"""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAX + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(gl.labs.clipping().label)
