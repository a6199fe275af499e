"""The public names, the tree, the rules and the tests say the same; every public docstring shows an example."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "gradlab"

# Modules without a test file of their own, and what tests them instead. An __init__ holds names only.
TESTED_ELSEWHERE = {
    "tpu/sharding/pending": "tpu/sharding/test_place.py: a pending update moves along; test_layouts.py",
    "_app/voila_server": "browser/test_dashboard.py: every page",
    "_base/by_jax": "train/test_autodiff.py and test_gate.py there: every form of a gradient",
    "_base/by_autograd": "_base/test_derivatives.py: beside JAX",
    "models/cross_entropy": "_base/test_derivatives.py: in the losses of the course",
    "_base/jax": "_base/test_extras.py: what is said where JAX is missing",
    "clip/_limits": "clip/test_warnings.py: its warnings and refusals, through the clips that give them",
    "_base/gradient_types": "test_bad_input.py: gradients of another shape",
    "_base/options": "the tests of all who take them",
    "_base/types": "the type checkers",
    "exercises/scene": "exercises/test_three_steps.py: every mistake; _app/test_grade.py: in another process",
    "_app/slides": "_app/test_course.py: the page of a lab in a deck",
    "_app/grading/inside": "_app/test_grade.py: a class, what cheats and what never ends",
    "_app/grading/place": "the same",
    "_app/grading/answers": "the same",
    "_app/grading/submissions": "the same",
    "_app/grading/marks": "the same",
    "_app/grading/page": "the same",
    "exercises/starters": "notebooks/test_exercises.py: every cell; exercises/test_progress.py: no try",
    "errors": "the tests of whoever raises them; the line a warning points at is in clip/test_warnings.py",
    "record/attach/keras/taps": "attach/keras/test_recording.py: what is recorded; test_loops.py: every backend",
    "record/attach/keras/ring": "record/attach/keras/test_loops.py: what each backend leaves in it",
    "keras/saved": "train/test_training_state.py and test_copies.py there: every version, and what is refused",
    "train/states": "the same",
    "live/display_list": "live/test_renderer.py and live/test_pixels.py: what is written is what gets painted",
    "live/state": "live/test_figure.py and live/test_inbox.py: who gets which message, and what is in it",
    "train/gradient_checks": "test_bad_input.py: apply_gradients with everything it refuses",
    "report/_html": "report/test_report.py and report/test_report_in_browser.py: the page, what is in it, what moves",
    "report/_run": "the same",
    "report/update_ratios": "report/test_updates.py",
    "report/compare_picture": "report/test_compared.py: the page on several runs",
    "record/sampling": "record/test_updates.py: weights in every step, in some, and none",
    "record/store": "record/test_traced.py: eager, traced and in batches, the same columns",
    "record/listeners": "record/test_growing.py: who is told, until when; streams/test_stream.py there: what fails",
    "record/attach/attachment": "attach/torch/test_recording.py and the same of keras: attached, read, closed, again",
    "record/streams/sink": "record/streams/test_stream.py and test_clients.py there: what every client gets",
    "record/streams/tensorboard": "record/streams/test_clients.py: with a stand-in, and with the client itself",
    "record/streams/wandb": "the same",
    "record/streams/mlflow": "the same",
    "record/buckets": "record/test_recorder.py and everything else there",
    "workers/ray_driver": "workers/test_on_ray.py: runs, deaths, and ends; test_on_two_nodes.py: among processes",
    "train/sync_replicas/exchange": "train/sync_replicas/test_chief.py: waits, and why they last",
    "train/sync_replicas/rounds": "the same",
    "record/attach/torch/micro_batches": "the same: the noise scale by hand",
    "record/attach/torch/notes": "torch/test_loops.py: of micro-batches; test_replicas.py there: over processes",
    "record/attach/torch/backward": "torch/test_loops.py and test_replicas.py: each loop against gradients by hand",
    "record/attach/torch/parameters": "the same, and record/attach/torch/test_recording.py: what is refused",
    "record/attach/torch/scaling": "record/attach/torch/test_loops.py: every order of a GradScaler's calls",
    "train/proximal": "train/test_tensorflow.py, test_signatures.py and test_slots.py there, like every optimizer",
    "train/rms_prop": "the same, and train/test_kernels.py",
    "raw_ops/tpu_shapes": "conformance/: golden files, and TensorFlow's shape functions beside it",
    "rules/table_field": "tpu/engine/test_optimizer_messages.py: every field of every message, both ways",
    "tpu/training/state": "tpu/training/test_training.py: where towers and data are put, and what is refused",
    "tpu/engine/exchange": "tpu/engine/test_system.py and raw_ops/test_tpu_step.py: what is refused",
}


# Names whose home is Python or gradlab alone, so that no original can be named.
OWN = "Not in TensorFlow"
MODULES = [
    gl.train,
    gl.keras,
    gl.rules,
    gl.schedules,
    gl.optax,
    gl.raw_ops,
    gl.tpu,
    gl.tpu.experimental.embedding,
    gl.workers,
]


def _type_checking_names() -> dict[str, str]:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    (block,) = [n for n in tree.body if isinstance(n, ast.If)]
    return {a.asname or a.name: n.module or "" for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}


def test_type_checkers_and_python_see_the_same_names() -> None:
    homes = {name: home for home, names in gl._HOMES.items() for name in names.split()}
    assert _type_checking_names() == homes | dict.fromkeys(gl._MODULES, "")
    assert sorted(gl.__all__) == sorted([*homes, *gl._MODULES, "__version__"])
    assert sum(len(names.split()) for names in gl._HOMES.values()) == len(homes), "a name has two homes"


def test_every_name_resolves() -> None:
    for name in gl.__all__:
        assert getattr(gl, name) is not None, name
        assert name in dir(gl)


def test_what_has_no_underscore_is_public() -> None:
    rooms = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()}
    assert {room for room in rooms if not room.startswith("_")} == set(gl._MODULES)


@pytest.mark.parametrize("name", gl._MODULES)
def test_a_module_shows_its_api_only(name: str) -> None:
    module = getattr(gl, name)
    assert dir(module) == sorted(module.__all__)
    assert [one for one in module.__all__ if not hasattr(module, one)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'gradlab' has no attribute 'clip_by_nrom'"):
        gl.clip_by_nrom  # noqa: B018


def test_every_rule_file_is_listed_and_tested() -> None:
    not_rules = {"rule", "table_field", "apply", "blocks", "donated", "in_place", "pure"}  # what a rule is, and runs it
    files = {p.stem for p in (PACKAGE / "rules").glob("[!_]*.py")} - not_rules
    listed = {rule.__module__.rpartition(".")[2]: name for name, rule in gl.rules.catalog().items()}
    assert set(listed) == files, "add the rule to _CATALOG in gradlab/rules/__init__.py"
    for name in listed.values():
        assert getattr(gl.rules, name) is gl.rules.catalog()[name]


def test_every_module_has_its_test() -> None:
    modules = {p.relative_to(PACKAGE).with_suffix("") for p in PACKAGE.rglob("*.py") if p.name != "__init__.py"}
    missing = {str(m) for m in modules if not (TESTS / m.parent / f"test_{m.name.strip('_')}.py").exists()}
    assert missing - TESTED_ELSEWHERE.keys() == set(), "write tests/.../test_<module>.py"
    assert TESTED_ELSEWHERE.keys() - missing == set(), "these have a test now, or are gone"


def _documented() -> dict[str, Any]:
    tops = {name: getattr(gl, name) for name in gl._NAMES}
    tops |= {f"gl.record.{name}": getattr(gl.record, name) for name in gl.record._ATTACH}
    for module in MODULES:
        tops |= {f"{module.__name__}.{n}": x for n, x in vars(module).items() if _is_own(n, x)}
    return tops


def _is_own(name: str, x: Any) -> bool:
    return not name.startswith("_") and callable(x) and getattr(x, "__module__", "").startswith("gradlab.")


def _needs_example(x: Any) -> bool:
    return not inspect.isabstract(x) and x not in (
        gl.train.Optimizer,
        gl.keras.Optimizer,
        gl.rules.Rule,
        gl.Operation,
        gl.ClipReport,
    )


def test_every_docstring_shows_an_example_and_names_its_source() -> None:
    for name, x in _documented().items():
        doc = inspect.getdoc(x) or ""
        assert len(doc.splitlines()[0]) > 10, name
        if _needs_example(x):
            assert ">>> " in doc, f"{name} needs an example"
            assert "Source: " in doc or OWN in doc or "tf." in doc, f"{name} must name its source, or say {OWN!r}"


def test_every_file_says_what_it_is() -> None:
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        assert not source or ast.get_docstring(ast.parse(source)), f"{path} needs a first line that says what it is"
