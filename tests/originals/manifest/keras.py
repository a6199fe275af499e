"""Keras 3's suites, read where Keras is installed. gradlab has most of its optimizers, and no
layers or models.
"""

from tests.originals.suites import Absent, Differs, Origin, Suite

ORIGIN = Origin("keras", "3.15.1", "keras")
FOLDER = "keras/src/optimizers"

_MODELS = Absent("gl.keras.Sequential", "trains a Keras model; gradlab has none")
_STATELESS = Absent(
    "gl.keras.Optimizer.stateless_apply", "the pure form by lists; gradlab's is init and step"
)
_OVERWRITE = Absent(
    "gl.Variable.overwrite_with_gradient", "Keras's mark of float8 scales on a variable"
)
_FLOAT64 = Differs(
    "a float64 gradient of a float32 variable is refused, where Keras 3 casts it",
    "tests/test_bad_input.py::test_it_is_refused_and_nothing_changes",
)

SUITES = (
    Suite(
        ORIGIN,
        f"{FOLDER}/adafactor_test.py",
        "keras",
        differs={
            f"AdafactorTest.test_{case}": _FLOAT64
            for case in (
                *("correctness_with_golden", "single_step_1d", "single_step_2d", "weight_decay"),
            )
        },
    ),
    Suite(ORIGIN, f"{FOLDER}/adagrad_test.py", "keras"),
    Suite(
        ORIGIN,
        f"{FOLDER}/loss_scale_optimizer_test.py",
        "keras",
        absent={
            "LossScaleOptimizerTest.test_*_stateless": _STATELESS,
            "LossScaleOptimizerTest.test_finite_step_with_overwrite_stateful": _OVERWRITE,
        },
    ),
    Suite(
        ORIGIN,
        f"{FOLDER}/multi_optimizer_test.py",
        "keras",
        absent={
            "MultiOptimizerTest.test_stateless_apply": _STATELESS,
            **{
                f"MultiOptimizerTest.test_{case}": _MODELS
                for case in (
                    "learning_rate_scheduler_with_multi_optimizer",
                    "multi_optimizer_with_model_fit",
                    "reduce_lr_on_plateau_with_multi_optimizer",
                    "swap_ema_weights_with_multi_optimizer",
                    "tensorboard_logging_with_multi_optimizer",
                )
            },
        },
    ),
    Suite(
        ORIGIN,
        f"{FOLDER}/muon_test.py",
        "keras",
        absent={
            "MuonTest.test_should_use_adamw": _MODELS,
            "MuonTest.test_model_fit": _MODELS,
            **{
                f"MuonTest.test_{case}": Absent(
                    f"gl.keras.Muon.{method}",
                    "a method in which Keras's class computes; in gradlab it is a rule",
                )
                for case, method in {
                    "Newton_Schulz": "zeropower_via_newtonschulz5",
                    "adamw_single_step": "update_step",
                    "muon_single_step": "update_step",
                    "adamw_weight_decay": "_apply_weight_decay",
                    "muon_weight_decay": "_apply_weight_decay",
                    "lr_adjust_2d": "lr_adjust",
                    "lr_adjust_none": "lr_adjust",
                }.items()
            },
        },
    ),
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
            "OptimizerTest.test_overwrite_with_gradient*": _OVERWRITE,
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
        },
    ),
    Suite(
        ORIGIN,
        f"{FOLDER}/schedules/learning_rate_schedule_test.py",
        "keras",
        absent={"TestFitLRSchedulesFlow.test_fit_lr_correctness": _MODELS},
    ),
)
