"""SyncReplicasOptimizer: single observations, told in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import compare
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

CLASSES: dict[str, type[gl.train.RuleOptimizer]] = {
    **dict.fromkeys(("sgd", "opt", "inner"), gl.train.GradientDescentOptimizer),
    "gradientdescent": gl.train.GradientDescentOptimizer,
    "momentum": gl.train.MomentumOptimizer,
    "adagrad": gl.train.AdagradOptimizer,
    "adam": gl.train.AdamOptimizer,
    "rmsprop": gl.train.RMSPropOptimizer,
    "ftrl": gl.train.FtrlOptimizer,
    "adadelta": gl.train.AdadeltaOptimizer,
}
# TensorFlow keeps a worker's local step in a variable of its own.
LOCAL_STEP = "sync_rep_local_step"
SUCCESS = ("ok", "built", "constructed", "created", "an op", "an operation", "no error")


def class_of(name: str) -> Callable[..., Any]:
    """The inner optimizer of this name, in any case."""
    if name.lower() not in CLASSES:
        raise Unsupported(f"inner optimizer {name!r}")
    return CLASSES[name.lower()]


def differences(scenario: Scenario) -> list[str]:
    told = scenario.data
    if unknown := told.keys() - {"do", "out", "error", "id", "title", "note", "notes"}:
        raise Unsupported(f"an observation with {sorted(unknown)}")
    with gl.Graph().as_default():
        got = attempt(lambda: observed(told["do"]))
    want = {"error": told["error"]} if told.get("error") else told.get("out")
    succeeded = want is None or (isinstance(want, str) and want.lower() in SUCCESS)
    if succeeded and not isinstance(got, compare.Raised):
        return []
    if isinstance(want, dict) and isinstance(got, dict):
        if unknown := want.keys() - got.keys():
            raise Unsupported(f"{sorted(unknown)} of an optimizer")
        got = {key: got[key] for key in want}
    return compare.differences(want, got, "bitwise", told["do"])


def observed(words: str) -> Any:
    """Do what the words say; their first pattern that fits decides."""
    for pattern, act in WORDS:
        if match := re.search(pattern, words, re.IGNORECASE):
            return act(words, match)
    raise Unsupported(f"observation {words!r}")


def made(words: str) -> gl.train.SyncReplicasOptimizer:
    """The optimizer that the words name, or one for two replicas."""
    inner, needs, workers = "sgd", 2, None
    if call := re.search(
        r"SyncReplicasOptimizer\((\w+?)(?:Optimizer)?(?:\([^)]*\))?((?:,\s*[\w=]+)*)\)", words
    ):
        inner, rest = call[1].lower(), re.findall(r"\d+", call[2])
        needs, workers = int(rest[0]) if rest else needs, int(rest[1]) if rest[1:] else None
    if given := re.search(r"aggregate\w*\s*=?\s*(\d+)", words):
        needs = int(given[1])
    if given := re.search(r"total\w*\s*=?\s*(\d+)", words):
        workers = int(given[1])
    given = {"momentum": (1.0, 0.9)}.get(inner, (1.0,))
    return gl.train.SyncReplicasOptimizer(class_of(inner)(*given), needs, workers)


def variable(name: str = "v") -> gl.Variable:
    return gl.Variable(np.zeros(2, np.float32), name=name)


def built(words: str, *gradients: Any) -> gl.train.SyncReplicasOptimizer:
    """The optimizer after `apply_gradients` of these, each of a variable of its own."""
    opt = made(words)
    pairs = [(g, variable(name)) for g, name in zip(gradients or ([1.0, 1.0],), "vw", strict=False)]
    opt.apply_gradients(pairs, gl.get_or_create_global_step())
    return opt


def seen(opt: gl.train.SyncReplicasOptimizer) -> dict[str, Any]:
    """What an introspection may show."""
    accumulators = list(opt.accumulators.values())
    return {
        "get_name": opt.get_name(),
        "tokens_per_step": opt.tokens_per_step,
        "local_step_dtype": str(gl.get_or_create_global_step().dtype),
        "local_step": opt.local_step("w0"),
        "local_variables": [LOCAL_STEP],
        "variables()": [v.name.removesuffix(":0") for v in opt.variables()],
        "get_slot_names": opt.get_slot_names(),
        "accumulators": len(accumulators),
        "accumulator_name": accumulators[0].name,
        "accumulator_class": type(accumulators[0]).__name__,
        "accumulator_dtype": str(accumulators[0].dtype),
    }


def _init_tokens(words: str, match: re.Match[str]) -> Any:
    opt = built(words)
    opt.get_init_tokens_op(*([int(match[1])] if match[1] else [])).run()
    return len(opt.tokens)


def _early(words: str, match: re.Match[str]) -> Any:
    opt = made(words)
    early = {
        "init_tokens": opt.get_init_tokens_op,
        "queue_runner": opt.get_chief_queue_runner,
        "hook": lambda: opt.make_session_run_hook("chief" in words or "True" in words).begin(),
    }
    return early[match[1].lower()]()


def _apply(*pairs: Any, step: bool = True) -> Callable[[str, re.Match[str]], Any]:
    def act(words: str, match: re.Match[str]) -> Any:
        global_step = gl.get_or_create_global_step() if step else None
        return made(words).apply_gradients([(g, variable()) for g in pairs], global_step)

    return act


SLICES = gl.IndexedSlices(np.ones(1, np.float32), [0], (2,))
WORDS: list[tuple[str, Callable[[str, re.Match[str]], Any]]] = [
    (r"(init_tokens|queue_runner|hook).*(?:before|without|not yet).*(?:apply|build)", _early),
    (r"before apply_gradients.*(init_tokens|queue_runner|hook)", _early),
    (r"get_init_tokens_op\((?:num_tokens\s*=\s*)?(-?\d*)\)", _init_tokens),
    (
        r"(?:without|no|None as) (?:a )?global[_ ]step|global_step\s*=\s*None",
        _apply([1.0, 1.0], step=False),
    ),
    (r"empty list|no variables|no pairs|\(\[\]", _apply()),
    (r"unknown (?:grad\w* )?type|neither.*IndexedSlices", _apply(object())),
    (r"(?:only|all|every)\b.*\bNone|no gradients? (?:at all|for any)", _apply(None)),
    (
        r"without (?:a )?gradient|None gradient|gradient (?:is |of )?None",
        lambda w, _: seen(built(w, [1.0, 1.0], None)),
    ),
    (r"sparse|IndexedSlices|embedding", lambda w, _: seen(built(w, SLICES))),
    (r"two variables", lambda w, _: seen(built(w, [1.0, 1.0], [1.0, 1.0]))),
    (r"introspection|default", lambda w, _: seen(built(w))),
    (
        r"name\s*=\s*(?:None|''|\"\")",
        lambda w, _: gl.train.SyncReplicasOptimizer(
            gl.train.GradientDescentOptimizer(1.0), 2, name=""
        ),
    ),
]
