"""Keras 3's suites, read where Keras is installed. gradlab has most of its optimizers, and no
layers or models.
"""

from tests.originals.suites import Absent, Differs, Origin, Suite

ORIGIN = Origin("keras", "3.15.1", "keras")
FOLDER = "keras/src/optimizers"

_MODELS = Absent("gl.keras.Sequential", "trains a Keras model; gradlab has none")
_OTHERS = {
    "Adafactor": "10",
}  # which case of those that go through all optimizers by name

_FLOAT64 = Differs(
    "a float64 gradient of a float32 variable is refused, where Keras 3 casts it",
    "tests/test_bad_input.py::test_it_is_refused_and_nothing_changes",
)

SUITES = (
    Suite(ORIGIN, f"{FOLDER}/adagrad_test.py", "keras"),
    Suite(ORIGIN, f"{FOLDER}/sgd_test.py", "keras"),
    Suite(ORIGIN, f"{FOLDER}/adadelta_test.py", "keras"),
    Suite(
        ORIGIN,
        f"{FOLDER}/adam_test.py",
        "keras",
        absent={"AdamTest.test_clipnorm_indexed_slices": _MODELS, "AdamTest.test_ema": _MODELS},
    ),
    Suite(ORIGIN, f"{FOLDER}/adamax_test.py", "keras"),
    Suite(ORIGIN, f"{FOLDER}/adamw_test.py", "keras"),
    Suite(
        ORIGIN,
        f"{FOLDER}/ftrl_test.py",
        "keras",
        differs={
            "FtrlTest.test_correctness_with_golden": _FLOAT64,
            "FtrlTest.test_single_step": _FLOAT64,
        },
    ),
    Suite(ORIGIN, f"{FOLDER}/lamb_test.py", "keras"),
    Suite(ORIGIN, f"{FOLDER}/lion_test.py", "keras", absent={"LionTest.test_ema": _MODELS}),
    Suite(
        ORIGIN,
        f"{FOLDER}/nadam_test.py",
        "keras",
        absent={
            "NadamTest.test_build_with_empty_var_list": Absent(
                "gl.keras.Nadam._u_product",
                "a private weight; gradlab computes the product from the count of steps",
            )
        },
    ),
    Suite(ORIGIN, f"{FOLDER}/rmsprop_test.py", "keras"),
    Suite(
        ORIGIN,
        f"{FOLDER}/schedule_free_adamw_test.py",
        "keras",
        absent={"ScheduleFreeAdamWTest.test_with_model": _MODELS},
    ),
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
                    f"gl.keras.{name}", "a slot of another shape than the variable's"
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
                    f"gl.keras.{name}", "a slot of another shape than the variable's"
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
