"""TensorFlow 2.21's suites, which its wheel does not hold: of its repository at version 2.21.0,
March 2026.
"""

from collections.abc import Mapping

from tests.originals.suites import Absent, Differs, Origin, Suite

_TPU_TESTS = "tensorflow/python/tpu/tests"
ORIGIN = Origin(
    "tensorflow",
    "2.21",
    helpers=(
        f"{_TPU_TESTS}/tpu_embedding_base_test.py",
        f"{_TPU_TESTS}/tpu_embedding_v2_correctness_base_test.py",
    ),
)
_TRAINING = "tensorflow/python/training"
_KERNELS = "tensorflow/python/kernel_tests"


SHARDING = Absent(
    "gl.xla_sharding", "how XLA lays a variable out over devices; gradlab's shards are gl.tpu's"
)
SLOTS = Absent(
    "gl.train.slot_creator",
    "how TensorFlow makes slot variables; in gradlab an optimizer makes its own",
)
_NODE = Absent(
    "gl.SparseConditionalAccumulator.node_def", "what a node of TensorFlow's graph is written as"
)
SPARSE_NODES = {
    f"IndexedSlicesConditionalAccumulatorTest.{case}": _NODE
    for case in ("testConstructor", "testConstructorWithShape")
}
_DEBIASED = Absent(
    "gl.train.ExponentialMovingAverage.apply(tensors)",
    "averages of tensors, which start at zero and are corrected for it",
)
_GRAPHS = Absent("gl.Graph.as_graph_def", "what a graph is written as, and what its nodes wait for")
_STEP_READ = Absent(
    "gl.train._get_or_create_global_step_read", "a private tensor of the step before it counts"
)
STEPS = {"GlobalStepReadTest.*": _STEP_READ}
_SCALE_GET = Absent(
    "gl.train.get_loss_scale", "a scale by its name; gl.train's optimizer takes one"
)
SCALES = {
    "DynamicLossScaleTest.test_get": _SCALE_GET,
    "FixedLossScaleTest.test_serialization": _SCALE_GET,
}
SHOWN = {
    "DynamicLossScaleTest.test_repr_*": Differs(
        "a variable has its value in a Graph too, so the scale is shown there",
        "tests/train/test_loss_scale.py::test_a_scale_is_shown_in_a_graph_too",
    )
}
SCALED = {
    "MixedPrecisionLossScaleOptimizerTest.testCheckpoint*": Absent(
        "gl.train.Checkpoint", "TensorFlow's checkpoints; gradlab has gl.save"
    )
}
AVERAGES = {
    "MovingAveragesTest.testAssign*": Absent(
        "gl.train.assign_moving_average", "a step of one average, which TensorFlow does not export"
    ),
    "MovingAveragesTest.testWeighted*": Absent(
        "gl.train.weighted_moving_average", "a weighted mean, which TensorFlow does not export"
    ),
    "ExponentialMovingAverageTest.*_Debias*": _DEBIASED,
    "ExponentialMovingAverageTest.testAverageVariablesNames": _DEBIASED,
    "ExponentialMovingAverageTest.testAverageVariablesNamesRespectScope*": Absent(
        "gl.variable_scope", "names of variables under a scope of names"
    ),
    "ExponentialMovingAverageTest.testAverageVariablesDeviceAssignment": Absent(
        "gl.device", "the device of a variable; gradlab computes where its arrays are"
    ),
    "ExponentialMovingAverageTest.testAverageVariablesWithControlDeps": _GRAPHS,
    "ExponentialMovingAverageTest.testImportedGraphVariablesToRestore": _GRAPHS,
}
TENSORS = Differs(
    "an array is a constant to a loss, and refused when gradients are asked "
    "for, not when they are applied",
    "tests/test_bad_input.py::test_it_is_refused_and_nothing_changes",
)


def in_both_modes(
    origin: Origin, path: str, stand_in: str, absent: Mapping[str, Absent] | None = None
) -> list[Suite]:
    """A suite of accumulators with `strict="tf"`, and as gradlab makes them for everybody."""
    modes = (('strict="tf"', stand_in), ("by default", f"{stand_in}_default"))
    return [Suite(origin, path, name, absent or {}, mode=mode) for mode, name in modes]


SUITES = (
    Suite(ORIGIN, f"{_KERNELS}/math_ops/clip_ops_test.py", "tensorflow"),
    Suite(ORIGIN, "tensorflow/python/ops/clip_ops_test.py", "tensorflow"),
    *in_both_modes(
        ORIGIN, f"{_KERNELS}/data_structures/conditional_accumulator_test.py", "tensorflow"
    ),
    *in_both_modes(
        ORIGIN,
        f"{_KERNELS}/sparse_ops/sparse_conditional_accumulator_test.py",
        "tensorflow",
        SPARSE_NODES,
    ),
    *(
        Suite(ORIGIN, f"{_TRAINING}/{name}_test.py", "tensorflow")
        for name in [
            "adadelta",
            "adagrad",
            "adagrad_da",
            "ftrl",
            "gradient_descent",
            "momentum",
            "proximal_adagrad",
            "proximal_gradient_descent",
            "rmsprop",
        ]
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/training_ops_test.py",
        "tensorflow",
        absent={
            "TrainingOpsTest.testResourceSparseApplyAdagradV2AndDisableCopyOnReadRace": Absent(
                "gl.raw_ops.DisableCopyOnRead",
                "how a resource is read, in a race inside tf.function",
            ),
        },
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/adam_test.py",
        "tensorflow",
        absent={
            "AdamOptimizerTest.testGatherGradientWithBadIndicesPolicy": Absent(
                "gl.gather_nd",
                "an op that reads single entries and may ignore bad indices; gradlab reads rows",
            ),
            "AdamOptimizerTest.testXlaSharding": SHARDING,
        },
    ),
    Suite(ORIGIN, f"{_TRAINING}/training_util_test.py", "tensorflow", absent=STEPS),
    Suite(
        ORIGIN,
        f"{_TRAINING}/experimental/loss_scale_test.py",
        "tensorflow",
        absent=SCALES,
        differs=SHOWN,
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/experimental/loss_scale_optimizer_test.py",
        "tensorflow",
        absent=SCALED,
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/moving_averages_test.py",
        "tensorflow",
        absent=AVERAGES | {"ExponentialMovingAverageTest.testCopyXlaSharding": SHARDING},
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/optimizer_test.py",
        "tensorflow",
        absent={
            "OptimizerTest.testGetSlotUnderDistributedStrategy": Absent(
                "gl.MirroredStrategy",
                "slots of mirrored variables; gradlab's replicas are gl.keras.replicas",
            ),
        },
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/sync_replicas_optimizer_test.py",
        "tensorflow1",
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/slot_creator_test.py",
        "tensorflow",
        absent={"SlotCreatorTest.*": SLOTS},
    ),
)
