"""TensorFlow 1.15's suites, with those of `contrib.opt`, which no package holds."""

from collections.abc import Mapping
from typing import Any

from tests.originals.manifest.tensorflow import (
    AVERAGES,
    SCALED,
    SCALES,
    SHOWN,
    SLOTS,
    SPARSE_NODES,
    STEPS,
    in_both_modes,
)
from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("tensorflow", "1.15")
_TRAINING = "tensorflow/python/training"
_KERNELS = "tensorflow/python/kernel_tests"
_CONTRIB = "tensorflow/contrib/opt/python/training"

_DYNAMIC = Absent("gl.Variable(validate_shape)", "a variable whose shape may change")


def _of(path: str, **entries: Mapping[str, Any]) -> Suite:
    return Suite(ORIGIN, f"{path}_test.py", "tensorflow1", **entries)


SUITES = (
    _of(f"{_KERNELS}/clip_ops"),
    _of("tensorflow/python/ops/clip_ops"),
    *in_both_modes(ORIGIN, f"{_KERNELS}/conditional_accumulator_test.py", "tensorflow1"),
    *in_both_modes(
        ORIGIN, f"{_KERNELS}/sparse_conditional_accumulator_test.py", "tensorflow1", SPARSE_NODES
    ),
    *(
        _of(f"{_TRAINING}/{name}")
        for name in [
            "adadelta",
            "adagrad_da",
            "adam",
            "ftrl",
            "momentum",
            "proximal_adagrad",
            "proximal_gradient_descent",
            "rmsprop",
            "training_ops",
        ]
    ),
    _of(
        f"{_TRAINING}/adagrad", absent={"AdagradOptimizerTest.testDynamicShapeVariable*": _DYNAMIC}
    ),
    _of(f"{_TRAINING}/gradient_descent"),
    _of(f"{_TRAINING}/moving_averages", absent=AVERAGES),
    _of(f"{_TRAINING}/training_util", absent=STEPS),
    _of(f"{_TRAINING}/experimental/loss_scale", absent=SCALES, differs=SHOWN),
    _of(f"{_TRAINING}/experimental/loss_scale_optimizer", absent=SCALED),
    _of(f"{_TRAINING}/optimizer"),
    _of(f"{_TRAINING}/learning_rate_decay"),
    _of(f"{_TRAINING}/sync_replicas_optimizer"),
    _of(f"{_TRAINING}/slot_creator", absent={"SlotCreatorTest.*": SLOTS}),
    *(
        _of(f"{_CONTRIB}/{name}")
        for name in ("adamax", "addsign", "powersign", "drop_stale_gradient_optimizer")
    ),
    _of(f"{_CONTRIB}/sign_decay"),
)
