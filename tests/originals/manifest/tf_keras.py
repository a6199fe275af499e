"""tf_keras 2.21's suites, which its package does not hold: legacy optimizers, the rewrite of 2.11,
schedules. Before them those of tf.keras as TensorFlow 2.1 had it.
"""

from tests.originals.manifest.tensorflow import TENSORS
from tests.originals.suites import Absent, Differs, Origin, Suite

ORIGIN = Origin("tf_keras", "2.21")
TENSORFLOW = Origin("tensorflow", "2.1.0-rc2")
_FOLDER = "tf_keras/optimizers"

_MODELS = Absent("gl.keras.Sequential", "trains or saves a Keras model; gradlab has none")
_CHECKPOINT = Absent("gl.train.Checkpoint", "TensorFlow's checkpoints; gradlab has gl.save")
_STRATEGY = Absent(
    "gl.MirroredStrategy",
    "distribution strategies with Keras models; gradlab has gl.keras.replicas",
)


def _each(test: str, cases: str, absent: Absent) -> dict[str, Absent]:
    return {f"{test}.{case}": absent for case in cases.split()}


_GRAPH = Absent(
    "gl.Graph.get_operations", "looks for double nodes in TensorFlow's graph of a Keras model"
)
_VAR_NAME = Absent("gl.keras.name_scope", "names of slots under a scope of names")
_VAR_KEY = Absent("gl.keras.var_key", "by what name Keras keeps a variable; gradlab by itself")
_TENSORFLOW = {
    "OptimizerCoefficientTest.*": _GRAPH,
    **_each(
        "OptimizerTest",
        "testOptimizerWithCallableVarList testOptimizerWithCallbacks testOptimizerWithKerasModel",
        _MODELS,
    ),
    "OptimizerTest.testVarName": _VAR_NAME,
    "Optimizer*Test.testVarKey*": _VAR_KEY,
    "OptimizersCompatibilityTest.*": _MODELS,
}
_OPTIMIZER_V2 = {
    "OptimizerCoefficientTest.*": _GRAPH,
    **_each("OptimizerTest", "testOptimizerSaving_* testOptimizerWith*", _MODELS),
    **_each("OptimizerTest", "testRestoringIterationsWithoutAnOptimizer_*", _CHECKPOINT),
    "OptimizerTest.testSlotWithNonstandardShapeRestoresBasedOnCheckpoint_*": _CHECKPOINT,
    "OptimizerTest.testVarName": _VAR_NAME,
    "Optimizer*Test.testVarKey*": _VAR_KEY,
    "OptimizerTest.test_create_slots_for_sharded_variables_*": Absent(
        "gl.ShardedVariable", "a variable in pieces; gradlab's shards are gl.tpu's"
    ),
    "OptimizerTest.test_override_aggregate_gradients_*": Absent(
        "gl.keras.SGD._aggregate_gradients",
        "a private method to override; gradlab takes gradient_aggregator",
    ),
}

_GENERATIONS = Absent(
    "gl.keras.convert_to_legacy_optimizer", "which of two generations a program is to have"
)
_REWRITE = {
    **_each(
        "OptimizerFuntionalityTest",
        "testAddVariableFromReference testAddVarialeWithCustomShape testBuildIndexDict "
        "testApplyGradientsNameArg",
        Absent(
            "gl.keras.Optimizer.add_variable_from_reference",
            "how Keras's own optimizers make and find their slots",
        ),
    ),
    **_each(
        "OptimizerFuntionalityTest",
        "testCheckpointOptimizerWithModel testRestoreOldOptimizerCheckpoint testVariableConstraints",
        _MODELS,
    ),
    "OptimizerFuntionalityTest.testCheckpointOptimizer": _CHECKPOINT,
    "OptimizerFuntionalityTest.testGetAndFromConfig": Absent(
        "gl.schedules.serialize(module)",
        "the module of a class of the program itself; a suite that is read is none",
    ),
    "OptimizerFuntionalityTest.testSaveAndLoadOptimizerWithModel*": _MODELS,
    **_each(
        "OptimizerFuntionalityTest",
        "test_arm_mac_get_legacy_optimizer test_convert_to_legacy_optimizer",
        _GENERATIONS,
    ),
    "DistributedTrainingTest.*": _STRATEGY,
}

_FIRST = {
    "AdamOptimizerTest.testSetWeightsFromV1AdamWithoutMinimize": Absent(
        "gl.keras.optimizer_v1", "weights of an optimizer of the first Keras"
    )
}
_NAMES = (
    "adadelta",
    "adagrad",
    "adamax",
    "ftrl",
    "gradient_descent",
    "nadam",
    "rmsprop",
)
_OPTIMIZERS = "tensorflow/python/keras/optimizer_v2"

_WRAPPING = Differs(
    "gradlab's optimizers have their versions as an argument, and its errors say so",
    "tests/keras/test_loss_scale_optimizer.py::test_inner_optimizers_that_are_refused",
)
_LOSS_SCALE = {
    **_each(
        "LossScaleOptimizerTest",
        "testScalingWarning_* testScalingNoWarning_*",
        Absent("gl.logging", "TensorFlow's log; gradlab writes to Python's"),
    ),
    **_each("LossScaleOptimizerTest", "testCheckpoint_*", _CHECKPOINT),
    "LossScaleOptimizerTest.testConvertToLegacyOptimizer": _GENERATIONS,
    **_each(
        "LossScaleOptimizerTest",
        "testHyperParametersExposed testLossScaleDelegationWithWrapper_*",
        Absent(
            "gl.keras.Optimizer._set_hyper", "an optimizer of one's own; in gradlab it is a rule"
        ),
    ),
    "LossScaleOptimizerTest.testUnsupportedStrategy_*": Absent(
        "gl.CentralStorageStrategy", "a distribution strategy, which is refused"
    ),
}

SUITES = (
    *(Suite(TENSORFLOW, f"{_OPTIMIZERS}/{name}_test.py", "tf_keras23") for name in _NAMES),
    Suite(TENSORFLOW, f"{_OPTIMIZERS}/adam_test.py", "tf_keras23", absent=_FIRST),
    Suite(
        TENSORFLOW,
        f"{_OPTIMIZERS}/optimizer_v2_test.py",
        "tf_keras23",
        absent=_TENSORFLOW,
        differs={"OptimizerTest.testComputeGradientsWithTensors": TENSORS},
    ),
    Suite(ORIGIN, f"{_FOLDER}/schedules/learning_rate_schedule_test.py", "tf_keras"),
    Suite(ORIGIN, f"{_FOLDER}/legacy_learning_rate_decay_test.py", "tf_keras"),
    *(Suite(ORIGIN, f"{_FOLDER}/legacy/{name}_test.py", "tf_keras") for name in _NAMES),
    Suite(ORIGIN, f"{_FOLDER}/legacy/adam_test.py", "tf_keras", absent=_FIRST),
    Suite(
        ORIGIN,
        f"{_FOLDER}/legacy/optimizer_v2_test.py",
        "tf_keras",
        absent=_OPTIMIZER_V2,
        differs={"OptimizerTest.testComputeGradientsWithTensors_*": TENSORS},
    ),
    Suite(ORIGIN, f"{_FOLDER}/lion_test.py", "tf_keras"),
    Suite(
        ORIGIN,
        "tf_keras/mixed_precision/loss_scale_optimizer_test.py",
        "tf_keras",
        absent=_LOSS_SCALE,
        differs={
            f"LossScaleOptimizerTest.testErrorWhen{case}": _WRAPPING
            for case in ("V2LsoWrapsV3Optimizer", "V3LsoWrapsV2Optimizer", "WrappingNonOptimizer")
        },
    ),
    Suite(
        ORIGIN,
        f"{_FOLDER}/optimizer_test.py",
        "tf_keras",
        absent=_REWRITE,
        differs={
            "OptimizerFuntionalityTest.testComputeGradients": Differs(
                "a loss that makes variables runs twice, and what it makes "
                "again each time has no gradient",
                "tests/keras/test_optimizer.py::test_variables_may_be_made_by_the_loss",
            )
        },
    ),
)
