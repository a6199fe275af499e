"""TensorFlow 2.21's suites, which its wheel does not hold."""

from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("tensorflow", "2.21")
_TRAINING = "tensorflow/python/training"
_KERNELS = "tensorflow/python/kernel_tests"


_SHARDING = Absent("gl.xla_sharding", "how XLA lays a variable out over devices; gradlab's shards are gl.tpu's")
_SLOTS = Absent("gl.train.slot_creator", "how TensorFlow makes slot variables; in gradlab an optimizer makes its own")
_SESSIONS = Absent("gl.train.MonitoredTrainingSession", "sessions of processes that share variables by name")

SUITES = (
    Suite(ORIGIN, f"{_KERNELS}/math_ops/clip_ops_test.py", "tensorflow"),
    Suite(ORIGIN, "tensorflow/python/ops/clip_ops_test.py", "tensorflow"),
    Suite(ORIGIN, f"{_KERNELS}/data_structures/conditional_accumulator_test.py", "tensorflow"),
    Suite(ORIGIN, f"{_KERNELS}/sparse_ops/sparse_conditional_accumulator_test.py", "tensorflow"),
    *(
        Suite(ORIGIN, f"{_TRAINING}/{name}_test.py", "tensorflow")
        for name in (
            "adadelta adagrad adagrad_da ftrl gradient_descent momentum proximal_adagrad proximal_gradient_descent "
            "rmsprop training_ops"
        ).split()
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/adam_test.py",
        "tensorflow",
        absent={
            "AdamOptimizerTest.testGatherGradientWithBadIndicesPolicy": Absent(
                "gl.gather_nd", "an op that reads single entries and may ignore bad indices; gradlab reads rows"
            ),
            "AdamOptimizerTest.testXlaSharding": _SHARDING,
        },
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/optimizer_test.py",
        "tensorflow",
        absent={
            "OptimizerTest.testGetSlotUnderDistributedStrategy": Absent(
                "gl.MirroredStrategy", "slots of mirrored variables; gradlab's replicas are gl.keras.replicas"
            ),
        },
    ),
    Suite(
        ORIGIN,
        f"{_TRAINING}/sync_replicas_optimizer_test.py",
        "tensorflow",
        absent={"SyncReplicasOptimizer*": _SESSIONS},
    ),
    Suite(ORIGIN, f"{_TRAINING}/slot_creator_test.py", "tensorflow", absent={"SlotCreatorTest.*": _SLOTS}),
)
