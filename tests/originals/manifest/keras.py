"""Keras 3's suites, read where Keras is installed. gradlab has two of its optimizers, and no layers
or models.
"""

from tests.originals.suites import Absent, Differs, Origin, Suite

ORIGIN = Origin("keras", "3.15.1", "keras")
FOLDER = "keras/src/optimizers"

_MODELS = Absent("gl.keras.Sequential", "trains a Keras model; gradlab has none")
_OTHERS = {
    "RMSprop": "4",
    "Adadelta": "5",
    "Adamax": "6",
    "Lion": "7",
    "Nadam": "8",
    "Ftrl": "9",
    "Adafactor": "10",
}  # which case of those that go through all optimizers by name

SUITES = (
    Suite(ORIGIN, f"{FOLDER}/adagrad_test.py", "keras"),
    Suite(ORIGIN, f"{FOLDER}/sgd_test.py", "keras"),
    Suite(
        ORIGIN,
        f"{FOLDER}/optimizer_test.py",
        "keras",
        absent={
            "OptimizerTest.test_ema_with_model_fit": _MODELS,
            "OptimizerTest.test_tf_checkpointing": _MODELS,
            "OptimizerTest.test_mixed_with_tf_variables": Absent(
                "gl.Variable(tf_variable)", "steps on TensorFlow's variables beside its own"
            ),
            "OptimizerTest.test_get_method": Absent(
                "gl.keras.get", "an optimizer by its name, AdamW among them"
            ),
            "OptimizerTest.test_overwrite_with_gradient*": Absent(
                "gl.Variable.overwrite_with_gradient", "Keras's mark of float8 scales on a variable"
            ),
            **{
                f"OptimizerTest.test_{case}{number}": Absent(
                    f"gl.keras.{name}", "gl.keras has Adagrad and SGD"
                )
                for case in ("gradient_accumulation_with_weigth_decay", "pickleable_optimizers")
                for name, number in _OTHERS.items()
            },
        },
        differs={
            "OptimizerTest.test_optimizer_auto_naming": Differs(
                "an optimizer that is given no name has that of its "
                "class, as in the older versions",
                "tests/keras/test_engine.py::test_names",
            )
        },
    ),
    Suite(
        ORIGIN,
        f"{FOLDER}/optimizer_sparse_test.py",
        "keras_sparse",
        absent={
            "OptimizerSparseTest.test_sparse_gradients_*": Absent(
                "gl.keras.Optimizer.assign",
                "by which method Keras writes rows; a rule of gradlab returns new ones",
            ),
            "OptimizerSparseTest.*_scatter_update": Absent(
                "gl.keras.Optimizer.update_step",
                "an optimizer by overriding a method; in gradlab it is a rule",
            ),
            "OptimizerSparseTest.*_loss_scale_optimizer_sgd": Absent(
                "gl.keras.LossScaleOptimizer",
                "a scale of its own choosing; gl.keras takes a loss_scale_factor",
            ),
            **{
                f"OptimizerSparseTest.test_sparse_correctness_{name.lower()}*": Absent(
                    f"gl.keras.{name}", "gl.keras has Adagrad and SGD"
                )
                for name in _OTHERS
            },
        },
    ),
    Suite(
        ORIGIN,
        f"{FOLDER}/schedules/learning_rate_schedule_test.py",
        "keras",
        absent={"TestFitLRSchedulesFlow.test_fit_lr_correctness": _MODELS},
    ),
)
