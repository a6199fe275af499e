"""What is said of a name that does not exist."""

import importlib
import re
import subprocess
import sys
from typing import Any

import pytest

import gradlab as gl
from gradlab._base.left_out import ELSE, LEFT_OUT, LeftOut
from gradlab._base.suggest import did_you_mean


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("gradlab", "clip_by_nrom", "did you mean clip_by_norm?"),
        ("gradlab", "learning", "dir(gl) lists its names; "),
        ("gradlab.train", "Adam", "did you mean AdamOptimizer?"),
        ("gradlab.train", "MomentumOptimiser", "did you mean MomentumOptimizer?"),
        ("gradlab.keras", "SDG", "did you mean SGD?"),
        ("gradlab.keras", "Quux", "it has Adadelta, "),
        ("gradlab.keras.optimizers", "Foo", "it has Adadelta, "),
        ("gradlab.raw_ops", "ApplyFoo", "gl.raw_ops has TensorFlow's ops of training, "),
        ("gradlab.raw_ops", "ResourceApplyFoo", "gl.raw_ops has TensorFlow's ops of training, "),
        ("gradlab.raw_ops", "ResourceGather", "gl.raw_ops has TensorFlow's ops of training, "),
        ("gradlab.raw_ops", "MatMul", "gl.raw_ops has TensorFlow's ops of training, "),
        ("gradlab.raw_ops", "ResourceApplyAdan", "did you mean ResourceApplyAdam?"),
        ("gradlab.tpu", "Strategy", "gl.tpu has embedding tables only; "),
        ("gradlab.tpu.experimental", "Foo", "it has AdagradParameters, "),
        (
            "gradlab.train",
            "AMSGradOptimizer",
            "did you mean gl.train.RuleOptimizer(gl.rules.AMSGrad(), ...)?",
        ),
        (
            "gradlab.train",
            "LionOptimizer",
            "did you mean gl.train.RuleOptimizer(gl.rules.Lion(), ...) or gl.keras.Lion?",
        ),
        ("gradlab.train", "NovoGradOptimizer", "gl.train has the optimizers and decays of "),
        ("gradlab", "placeholder", "gradlab has no placeholders. "),
        ("gradlab", "constant", "write np.float32(value)"),
        ("gradlab", "experimental", "of the modules of this name gradlab has gl.train."),
        ("gradlab", "AdamOptimizer", "did you mean gl.train.AdamOptimizer?"),
        ("gradlab", "KerasMomentum", "did you mean gl.rules.KerasMomentum?"),
        ("gradlab", "Lion", "did you mean gl.keras.Lion, gl.rules.Lion or gl.tpu.experimental."),
        ("gradlab", "ResourceApplyAdam", "did you mean gl.raw_ops.ResourceApplyAdam?"),
        ("gradlab.keras.optimizers", "CosineDecay", "did you mean gl.schedules.CosineDecay?"),
        ("gradlab.keras.optimizers", "legacy", "gl.keras.Adam is `tf.keras.optimizers.legacy."),
        ("gradlab.train", "MonitoredSession", "sessions that run hooks aren't here: "),
        ("gradlab.tpu.experimental", "Topology", "it describes a TPU; "),
        ("gradlab.labs", "optimzers", "did you mean optimizers?"),
    ],
)
def test_an_unknown_name_of_a_module_says_what_there_is(module: str, name: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(module), name)
    assert str(caught.value).startswith(f"module {module!r} has no attribute {name!r}; {said}")


@pytest.mark.parametrize("left_out", LEFT_OUT, ids=lambda row: row.names[:20])
def test_a_name_left_out_says_what_to_use_instead(left_out: LeftOut) -> None:
    for place in left_out.places.split():
        module = importlib.import_module(place)
        for name in left_out.names.replace("*", "").split():
            assert name not in dir(module)
            if f"{place}.{name}" not in sys.modules:
                with pytest.raises(AttributeError, match=f"attribute '{name}'; "):
                    getattr(module, name)


@pytest.mark.parametrize("sentence", [*(row.sentence for row in LEFT_OUT), *ELSE.values()])
def test_what_a_sentence_names_is_there(sentence: str) -> None:
    for path in re.findall(r"\bgl((?:\.\w+)+)", sentence):
        module: Any = gl
        for name in path.split(".")[1:]:
            module = getattr(module, name)


def test_the_table_is_read_only_when_a_name_is_missing() -> None:
    code = (
        "import sys, gradlab as gl; gl.train, gl.keras, gl.raw_ops\n"
        "before = 'gradlab._base.left_out' in sys.modules\n"
        "hasattr(gl, 'placeholder')\n"
        "print(before, 'gradlab._base.left_out' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_what_is_listed_is_public_and_no_file() -> None:
    with pytest.raises(AttributeError) as caught:
        gl.keras.Quux  # noqa: B018
    listed = str(caught.value).partition("it has ")[2].split(", ")
    assert {"Adagrad", "SGD", "VERSIONS", "replicas"} <= set(listed)
    assert all(getattr(gl.keras, name) is not None for name in listed)
    assert not {"adagrad", "settings", "_only_public"} & set(listed)


def test_a_file_of_a_package_is_still_imported_from_it() -> None:
    from gradlab.train import kernel_order

    assert not hasattr(kernel_order, "nothing") and not hasattr(gl.train, "nothing")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clip_norm", "did you mean clipnorm?"),
        ("", "there are clipnorm, lr"),
        ("zzz", "there are clipnorm, lr"),
    ],
)
def test_the_nearest_name_or_all(name: str, said: str) -> None:
    assert did_you_mean(name, ["clipnorm", "lr"]) == said
