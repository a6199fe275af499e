"""Which arguments each version takes, and in which order it complains."""

import re
from typing import Any

import pytest

from gradlab.errors import KerasWarning
from gradlab.keras import SGD, Adagrad
from tests.differences import differs


@differs(
    "`gradient_accumulation_steps` that isn't an integer",
    tensorflow="taken",
    gradlab="ValueError",
)
@pytest.mark.parametrize(
    ("version", "kwargs", "error"),
    [
        ("legacy", {"foo": 1}, TypeError),
        ("legacy", {"clipnorm": -1.0}, ValueError),
        ("legacy", {"clipnorm": "1"}, TypeError),
        ("legacy", {"clipnorm": -1.0, "foo": 1}, ValueError),  # one after the other
        ("legacy", {"foo": 1, "clipnorm": -1.0}, TypeError),
        ("legacy", {"lr": -1.0}, ValueError),
        ("legacy", {"decay": -0.5}, ValueError),
        ("legacy", {"decay": None}, TypeError),
        ("legacy", {"clipnorm": 1.0, "global_clipnorm": 1.0}, ValueError),
        ("legacy", {"clipvalue": 1.0, "gradient_transformers": [lambda pairs: pairs]}, ValueError),
        ("tf2.3", {"global_clipnorm": 1.0}, TypeError),
        ("tf2.3", {"gradient_transformers": []}, TypeError),
        ("rewrite", {"foo": 1}, TypeError),
        ("rewrite", {"decay": 0.1}, ValueError),
        ("rewrite", {"clipnorm": 1.0, "global_clipnorm": 1.0}, ValueError),
        ("rewrite", {"weight_decay": "a"}, TypeError),
        ("rewrite", {"gradient_accumulation_steps": 2}, TypeError),
        ("rewrite", {"use_ema": True, "ema_momentum": 2.0}, ValueError),
        ("keras3", {"foo": 1}, ValueError),
        ("keras3", {"lr": 0.1}, ValueError),
        ("keras3", {"clipnorm": 1.0, "clipvalue": 1.0}, ValueError),
        ("keras3", {"use_ema": True, "ema_overwrite_frequency": -1}, ValueError),
        ("keras3", {"use_ema": True, "ema_overwrite_frequency": 1.5}, ValueError),
        ("keras3", {"gradient_accumulation_steps": 1}, ValueError),
        ("keras3", {"gradient_accumulation_steps": 2.5}, ValueError),  # Keras takes it
        ("keras3", {"jit_compile": True}, ValueError),
        ("keras2", {}, ValueError),
    ],
)
def test_refused(version: Any, kwargs: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Adagrad(semantics=version, **kwargs)


@pytest.mark.parametrize(
    ("version", "kwargs", "message"),
    [
        (
            "legacy",
            {"clip_norm": 1.0},
            "Unexpected keyword argument passed to optimizer: gl.keras.Adagrad(semantics="
            "'legacy') has no argument 'clip_norm'; did you mean "
            "clipnorm? It takes learning_rate, initial_accumulator_value, epsilon, name, "
            "semantics, strict, ",
        ),
        ("rewrite", {"foo": 1.0}, "foo is not a valid argument: gl.keras.Adagrad"),
        (
            "keras3",
            {"learning_rte": 1.0},
            "Argument(s) not recognized: gl.keras.Adagrad(semantics='keras3') has no "
            "argument 'learning_rte'; did you mean "
            "learning_rate?",
        ),
        (
            "tf2.3",
            {"foo": 1.0},
            "Adagrad(semantics='tf2.3') has no argument 'foo'; there are learning_rate, ",
        ),
        (
            "rewrite",
            {"clipnorm": 1.0, "global_clipnorm": 1.0},
            "gl.keras.Adagrad(semantics='rewrite') takes clipnorm ",
        ),
        *[
            (version, {"clipnorm": 1.0, "global_clipnorm": 1.0}, words)
            for version, words in (
                ("legacy", "Cannot accept both `clipnorm` and `global_clipnorm`"),
                ("rewrite", "At most one of `clipnorm` and `global_clipnorm` can be set"),
                ("keras3", "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set"),
            )
        ],
        *[
            (version, {"clipnorm": "1"}, "clipnorm must be a number, got '1'")
            for version in ("tf2.3", "legacy", "rewrite", "keras3")
        ],
        ("legacy", {"decay": [1]}, "decay must be a number, got [1]"),
    ],
)
def test_the_message_says_what_is_allowed(
    version: Any, kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        Adagrad(semantics=version, **kwargs)


def test_a_limit_that_is_set_later_must_be_a_number() -> None:
    opt = Adagrad(clipnorm=1.0)
    with pytest.raises(TypeError, match="clipnorm must be a number, got '1'"):
        opt.clipnorm = "1"
    assert opt.clipnorm == 1.0


@pytest.mark.parametrize(
    ("version", "kwargs"),
    [
        ("legacy", {"clipnorm": None, "clipvalue": float("nan")}),
        ("legacy", {"clipvalue": 1.0, "clipnorm": 1.0, "decay": 0.5}),
        ("tf2.3", {"clipvalue": 1.0, "clipnorm": 1.0, "lr": 0.1}),
        ("rewrite", {"clipvalue": 1.0, "clipnorm": 1.0, "weight_decay": None}),
        (
            "keras3",
            {"decay": None, "use_ema": False, "ema_momentum": 7, "gradient_accumulation_steps": 0},
        ),
        ("rewrite", {"jit_compile": True, "is_legacy_optimizer": True}),
    ],
)
def test_taken(version: Any, kwargs: dict[str, Any]) -> None:
    SGD(semantics=version, **kwargs)


@differs(
    "arguments without effect, limits that switch clips off",
    tensorflow="silent, or a line in the log",
    gradlab="a `KerasWarning`",
)
@pytest.mark.parametrize(
    ("version", "kwargs", "complaint"),
    [
        ("legacy", {"lr": 0.1}, "lr is the old name"),
        ("keras3", {"decay": 0.1}, "decay has no effect in keras3"),
        ("rewrite", {"lr": 0.1}, "lr has no effect in rewrite"),
        ("legacy", {"clipnorm": 0.0}, "clipnorm=0 makes every gradient 0"),
        ("keras3", {"clipvalue": -1.0}, "switches clipping off"),
        ("keras3", {"loss_scale_factor": 0}, "divides every gradient by 0"),
    ],
)
def test_silent_in_keras_said_here(version: Any, kwargs: dict[str, Any], complaint: str) -> None:
    with pytest.warns(KerasWarning, match=complaint):
        SGD(semantics=version, **kwargs)


def test_lr_wins_over_learning_rate() -> None:
    assert SGD(0.5, lr=0.25, semantics="tf2.3").get_config()["learning_rate"] == 0.25
