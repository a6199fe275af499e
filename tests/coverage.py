"""What gradlab has of the pages of TensorFlow and Keras, and how each name is tested: one table a
page.

`python -m tests.coverage` writes the page of the site. `since` of a table is the one list of its
names; a live test compares it with the installed packages. Where a name is in gradlab and which
tests are about it is looked up, so no row can say what isn't true.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import gradlab as gl
from gradlab._base.left_out import LEFT_OUT
from tests.originals.manifest import SUITES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "notebooks" / "site" / "guide" / "coverage.md"
GOLDEN = ROOT / "tests" / "golden"
KERAS = "gradlab.keras.optimizers"
PATH = re.compile(r"\bgl(\.\w+)+(\([^)]*\))?")
CODE = r"`\g<0>`"

HEAD = """\
# Which of TensorFlow's names are here

One table for each module of TensorFlow and Keras: the names in it that gradlab has. The names that only gradlab has,
such as `gl.optax`, `gl.rules`, and `gl.save`, are in the API reference.

**Since** is the first release that has the name. Every minor release of TensorFlow from 1.0 to 2.21 was searched, every
one of Keras from 2.6 to 2.15, and of Keras 3 from 3.0 to 3.15. 1.0 means 1.0 or older. A dash means that the op has no
function in Python.

**Semantics** are the versions of Keras that have an optimizer. A dash means that the name isn't an optimizer.

**Tested by** names files:

- `.json`: golden files, which TensorFlow or Keras wrote, with the number of scenarios about the name
- `test_live_….py`: tests that run gradlab and the installed TensorFlow or Keras side by side
- `…_test.py`: [suites of the originals](originals.md), run against gradlab
- other `test_….py`: gradlab's own tests, in `tests/`

The last section lists the names that are left out, and what to use instead. Python says the same when you ask for
such a name: try `gl.train.MonitoredSession`. `python -m tests.coverage` writes this page, and a test compares it with
the installed TensorFlow, tf_keras and Keras.
"""


class Table(NamedTuple):
    """The names of one page of the originals.

    `since` has names separated by blanks, by the release they are in since. `compared` yields the
    golden files, live tests and suites that compare a name with its original.
    """

    title: str
    text: str
    originals: tuple[str, ...]
    place: str
    since: dict[str, str]
    compared: Callable[[str], Iterator[str]]

    def names(self) -> list[tuple[str, str]]:
        """Return name and release of each row, by release."""
        return [(n, release) for release, names in self.since.items() for n in names.split()]

    def has(self, name: str) -> bool:
        """Tell whether gradlab has the name."""
        return name in dir(importlib.import_module(self.place))

    def tests(self, name: str) -> list[str]:
        """Return the tests that are about a name."""
        thing = getattr(importlib.import_module(self.place), name)
        return list(dict.fromkeys([*self.compared(name), *own_test(thing)]))


# Which tests are about a name.


@cache
def scenarios(file: str) -> Counter[str]:
    """Count the scenarios of a golden file by the ops, classes and functions that they are about."""
    data = json.loads((GOLDEN / file).read_text("utf-8"))
    counts: Counter[str] = Counter()
    for scenario in data if isinstance(data, list) else data["scenarios"]:
        subjects = {str(scenario.get(key)) for key in ("op", "class")}
        if "accumulator" in scenario:
            is_sparse = scenario["accumulator"].get("kind") == "sparse"
            subjects.add("SparseConditionalAccumulator" if is_sparse else "ConditionalAccumulator")
        for call in scenario.get("calls", ()):
            subjects |= {str(call.get(key)) for key in ("class", "fn", "do")}
        counts.update({subject.rpartition(".")[2] for subject in subjects})
    return counts


def golden(name: str, *files: str) -> Iterator[str]:
    """Yield the golden files that have scenarios about a name."""
    for file in files:
        if scenarios(file)[name]:
            yield f"`{file.removeprefix('library/')}` ({scenarios(file)[name]})"


@cache
def read(file: str) -> str:
    return (ROOT / "tests" / file).read_text("utf-8")


def mentioning(name: str, *files: str) -> Iterator[str]:
    """Yield the tests that have a name in their text."""
    for file in files:
        if re.search(rf"\b{name}\b", read(file)):
            yield f"`{file.removeprefix('conformance/')}`"


def suites(name: str, folder: str = "") -> Iterator[str]:
    """Yield the originals' suites of a folder that are named after a class, without their folders."""
    wanted = name.removesuffix("Optimizer").lower()
    files = {suite.path.rpartition("/")[2] for suite in SUITES if folder in suite.path}
    for file in sorted(files):
        subject = file.removesuffix("_test.py").replace("_", "").removesuffix("optimizer")
        if subject == wanted:
            yield f"`{file}`"


def own_test(thing: Any) -> Iterator[str]:
    """Yield the test file of the module in which something is written."""
    file = inspect.getsourcefile(inspect.unwrap(thing))
    assert file
    module = Path(file).relative_to(ROOT / "gradlab")
    test = module.parent / f"test_{module.stem.lstrip('_')}.py"
    if (ROOT / "tests" / test).is_file():
        yield f"`{test.as_posix()}`"


def tests_of_training_op(name: str) -> Iterator[str]:
    yield from golden(name, "library/training_ops.json")


def tests_of_accumulator(name: str) -> Iterator[str]:
    yield from golden(name, "accumulators.json")
    if name.startswith("Resource"):
        yield "`test_live_raw_ops.py`"


def tests_of_keras_optimizer(name: str) -> Iterator[str]:
    yield from golden(name, "library/keras_optimizers.json", "keras.json")
    yield from mentioning(name, "conformance/test_live_keras.py")
    if name.islower():  # get, serialize, deserialize
        yield from mentioning(name, "keras/test_serialization.py")
    yield from suites("GradientDescent" if name == "SGD" else name)
    if name == "SGD":
        yield "`sgd_test.py`"


def tests_of_schedule(name: str) -> Iterator[str]:
    yield from mentioning(name, "conformance/test_live_schedules.py")
    yield "`learning_rate_schedule_test.py`"


def tests_of_train(name: str) -> Iterator[str]:
    yield from golden(name, "library/train_v1.json", "v1.json", "train.json")
    yield from mentioning(name, "conformance/test_live_stale.py", "conformance/test_live_sync.py")
    yield from suites(name)
    if "decay" in name or "constant" in name:
        yield "`learning_rate_decay_test.py`"


def tests_of_contrib(name: str) -> Iterator[str]:
    yield from golden(name, "library/contrib_opt.json")
    if name.endswith("_decay_fn"):
        yield "`sign_decay_test.py`"
    if name == "DropStaleGradientOptimizer":
        yield from tests_of_train(name)
        return
    yield from suites(name, "tensorflow/contrib/opt")
    own = ("centers", "ggt", "layers", "rules", "wrappers")
    yield from mentioning(name, *(f"train/test_contrib_{subject}.py" for subject in own))


def tests_of_function(name: str) -> Iterator[str]:
    yield from golden(name, "clip.json", "train.json", "accumulators.json")
    yield from mentioning(name, "conformance/test_live_tensorflow.py")


def tests_of_tpu_function(name: str) -> Iterator[str]:
    yield from mentioning(name, "conformance/test_live_tpu.py")


def tests_of_tpu_op(name: str) -> Iterator[str]:
    if not name.endswith("GradAccumDebug"):
        yield "`test_live_tpu_ops.py`"


def tests_of_sparsecore_op(name: str) -> Iterator[str]:
    yield from golden(name, "library/sparsecore_ops.json")
    yield "`test_live_sparsecore_ops.py`"


def tests_of_tpu_column(name: str) -> Iterator[str]:
    yield from mentioning(name, "conformance/test_live_tpu_columns.py")


def tests_of_tpu_class(name: str) -> Iterator[str]:
    yield from mentioning(
        name,
        "conformance/test_live_mid_level.py",
        "conformance/test_live_mid_level_errors.py",
        "conformance/test_live_serving.py",
        "conformance/test_live_tpu_v0.py",
    )


def tests_of_rule(name: str) -> Iterator[str]:
    yield from golden(name, "library/tensor_rules.json")
    yield from mentioning(name, "rules/test_beside_torch.py", "optax/test_tensor_rules.py")


TABLES = (
    Table(
        "Training ops",
        "In `tf.raw_ops`, in TensorFlow's documentation for Java `org.tensorflow.op.train`. Ops "
        "without `Resource` take the reference variables of TensorFlow 1.",
        ("tf.raw_ops",),
        "gradlab.raw_ops",
        {
            "1.0": (
                "ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdam ApplyCenteredRMSProp "
                "ApplyFtrl ApplyGradientDescent ApplyMomentum ApplyProximalAdagrad "
                "ApplyProximalGradientDescent ApplyRMSProp ResourceApplyAdadelta "
                "ResourceApplyAdagrad ResourceApplyAdagradDA ResourceApplyAdam "
                "ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyGradientDescent "
                "ResourceApplyMomentum ResourceApplyProximalAdagrad "
                "ResourceApplyProximalGradientDescent ResourceApplyRMSProp "
                "ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad "
                "ResourceSparseApplyAdagradDA ResourceSparseApplyCenteredRMSProp "
                "ResourceSparseApplyFtrl ResourceSparseApplyMomentum "
                "ResourceSparseApplyProximalAdagrad ResourceSparseApplyProximalGradientDescent "
                "ResourceSparseApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad "
                "SparseApplyAdagradDA SparseApplyCenteredRMSProp SparseApplyFtrl "
                "SparseApplyMomentum SparseApplyProximalAdagrad "
                "SparseApplyProximalGradientDescent SparseApplyRMSProp"
            ),
            "1.3": "ApplyFtrlV2 ResourceApplyFtrlV2 ResourceSparseApplyFtrlV2 SparseApplyFtrlV2",
            "1.5": "ApplyAddSign ApplyPowerSign ResourceApplyAddSign ResourceApplyPowerSign",
            "1.9": "ApplyAdaMax ResourceApplyAdaMax",
            "1.13": (
                "ResourceApplyAdamWithAmsgrad ResourceApplyKerasMomentum "
                "ResourceSparseApplyKerasMomentum"
            ),
            "1.15": (
                "ApplyAdagradV2 ResourceApplyAdagradV2 ResourceSparseApplyAdagradV2 "
                "SparseApplyAdagradV2"
            ),
        },
        tests_of_training_op,
    ),
    Table(
        "Conditional accumulators",
        "In `tf.raw_ops`, in TensorFlow's documentation for Java `org.tensorflow.op.train`. The "
        "classes of the same names are in the table of `tf`.",
        ("tf.raw_ops",),
        "gradlab.raw_ops",
        {
            "1.0": (
                "AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep "
                "AccumulatorTakeGradient ConditionalAccumulator SparseAccumulatorApplyGradient "
                "SparseAccumulatorTakeGradient SparseConditionalAccumulator"
            ),
            "1.15": (
                "ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated "
                "ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient "
                "ResourceConditionalAccumulator"
            ),
        },
        tests_of_accumulator,
    ),
    Table(
        "tf.keras.optimizers",
        "`semantics=` takes the versions of Keras that have the class: `tf2.3`, `legacy` (TensorFlow "
        "2.4 to 2.10, and `tf.keras.optimizers.legacy` since), `rewrite` (2.11 to 2.15) and `keras3`.",
        ("tf.keras.optimizers", "tf_keras.optimizers", "tf_keras.optimizers.legacy"),
        KERAS,
        {
            "1.4": (
                "Adadelta Adagrad Adam Adamax Nadam RMSprop SGD Optimizer deserialize get serialize"
            ),
            "1.13": "Ftrl",
            "1.14": "LossScaleOptimizer",
            "2.9": "AdamW",
            "2.11": "Adafactor",
            "2.13": "Lion",
            "Keras 3.5": "Lamb",
            "Keras 3.10": "Muon",
            "Keras 3.14": "ScheduleFreeAdamW",
            "Keras 3.15": "MultiOptimizer OptimizerMap",
        },
        tests_of_keras_optimizer,
    ),
    Table(
        "Rules of papers, torch and optax",
        "Since: the year of the paper. `gl.keras` has some of them, too, as Keras has them.",
        (),
        "gradlab.rules",
        {
            "2018": "Adafactor",
            "2019": "Lamb",
            "2023": "ClippyAdagrad",
            "2024": "Muon ScheduleFreeAdam ScheduleFreeSGD SOAP",
        },
        tests_of_rule,
    ),
    Table(
        "tf.keras.optimizers.schedules",
        "The same objects are in `gl.keras.optimizers.schedules`.",
        ("tf.keras.optimizers.schedules",),
        "gradlab.schedules",
        {
            "1.14": (
                "CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay "
                "LearningRateSchedule PiecewiseConstantDecay PolynomialDecay deserialize serialize"
            )
        },
        tests_of_schedule,
    ),
    Table(
        "tf.train",
        "In `tf.compat.v1.train`; loss scales are in `tf.compat.v1.mixed_precision`, too.",
        (
            "tf.compat.v1.train",
            "tf.compat.v1.train.experimental",
            "tf.compat.v1.mixed_precision",
        ),
        "gradlab.train",
        {
            "1.0": (
                "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer "
                "ExponentialMovingAverage FtrlOptimizer GradientDescentOptimizer "
                "MomentumOptimizer Optimizer ProximalAdagradOptimizer "
                "ProximalGradientDescentOptimizer RMSPropOptimizer SyncReplicasOptimizer "
                "assert_global_step exponential_decay get_global_step global_step "
                "inverse_time_decay natural_exp_decay piecewise_constant polynomial_decay"
            ),
            "1.1": "create_global_step get_or_create_global_step",
            "1.5": "cosine_decay linear_cosine_decay noisy_linear_cosine_decay",
            "1.6": "cosine_decay_restarts",
            "1.13": "piecewise_constant_decay",
            "1.14": ("DynamicLossScale FixedLossScale LossScale MixedPrecisionLossScaleOptimizer"),
        },
        tests_of_train,
    ),
    Table(
        "tf.contrib.opt",
        "The last release that has it is 1.15. The decays of signs were in "
        "`tensorflow.contrib.opt.python.training.sign_decay`, which was in no public module. "
        "`DelayCompensatedGradientDescentOptimizer` was in 1.3 alone.",
        (),
        "gradlab.contrib.opt",
        {
            "1.0": "MovingAverageOptimizer VariableClippingOptimizer",
            "1.1": "LazyAdamOptimizer",
            "1.2": "DropStaleGradientOptimizer NadamOptimizer",
            "1.3": "DelayCompensatedGradientDescentOptimizer",
            "1.5": (
                "AddSignOptimizer ElasticAverageCustomGetter ElasticAverageOptimizer "
                "MultitaskOptimizerWrapper PowerSignOptimizer clip_gradients_by_global_norm "
                "get_cosine_decay_fn get_linear_decay_fn get_restart_decay_fn"
            ),
            "1.6": "ModelAverageCustomGetter ModelAverageOptimizer",
            "1.9": "AdaMaxOptimizer",
            "1.10": (
                "AdamWOptimizer DecoupledWeightDecayExtension GGTOptimizer MomentumWOptimizer "
                "extend_with_decoupled_weight_decay"
            ),
            "1.11": "LARSOptimizer RegAdagradOptimizer ShampooOptimizer",
            "1.12": "AGNCustomGetter AGNOptimizer",
            "1.13": "AdamGSOptimizer LazyAdamGSOptimizer",
        },
        tests_of_contrib,
    ),
    Table(
        "tf.contrib.layers",
        "The last release that has it is 1.15. `adaptive_clipping_fn` was in "
        "`tensorflow.contrib.layers.python.layers.optimizers`, which was in no public module.",
        (),
        "gradlab.contrib.layers",
        {"1.0": "adaptive_clipping_fn optimize_loss"},
        tests_of_contrib,
    ),
    Table(
        "tf",
        "In `tf.compat.v1` and `tf`.",
        ("tf.compat.v1", "tf"),
        "gradlab",
        {
            "1.0": (
                "AggregationMethod ConditionalAccumulator Graph IndexedSlices Operation Session "
                "SparseConditionalAccumulator Tensor Variable assign assign_add assign_sub "
                "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value "
                "control_dependencies gather get_default_graph global_norm global_variables "
                "global_variables_initializer gradients group hessians "
                "local_variables_initializer no_op reset_default_graph stop_gradient "
                "trainable_variables variables_initializer"
            ),
            "1.7": "custom_gradient executing_eagerly",
            "1.8": "GradientTape",
            "1.13": "disable_eager_execution disable_v2_behavior",
        },
        tests_of_function,
    ),
    Table(
        "tf.tpu and tf.nn",
        "In `tf.compat.v1.tpu` and `tf.nn`.",
        ("tf.compat.v1.tpu", "tf.nn"),
        "gradlab.tpu",
        {
            "1.0": "embedding_lookup_sparse",
            "1.3": "initialize_system shutdown_system",
            "1.10": "safe_embedding_lookup_sparse",
        },
        tests_of_tpu_function,
    ),
    Table(
        "Ops of TPU embeddings",
        "In `tf.raw_ops`, in TensorFlow's documentation for Java `org.tensorflow.op.tpu`. The last "
        "release that has those that end in `GradAccumDebug` is 2.6.",
        ("tf.raw_ops",),
        "gradlab.raw_ops",
        {
            "1.6": "TPUEmbeddingActivations",
            "1.12": (
                "EnqueueTPUEmbeddingIntegerBatch EnqueueTPUEmbeddingSparseBatch "
                "EnqueueTPUEmbeddingSparseTensorBatch LoadTPUEmbeddingADAMParameters "
                "LoadTPUEmbeddingADAMParametersGradAccumDebug LoadTPUEmbeddingAdadeltaParameters "
                "LoadTPUEmbeddingAdadeltaParametersGradAccumDebug "
                "LoadTPUEmbeddingAdagradParameters LoadTPUEmbeddingAdagradParametersGradAccumDebug "
                "LoadTPUEmbeddingCenteredRMSPropParameters LoadTPUEmbeddingFTRLParameters "
                "LoadTPUEmbeddingFTRLParametersGradAccumDebug "
                "LoadTPUEmbeddingMDLAdagradLightParameters LoadTPUEmbeddingMomentumParameters "
                "LoadTPUEmbeddingMomentumParametersGradAccumDebug "
                "LoadTPUEmbeddingProximalAdagradParameters "
                "LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug "
                "LoadTPUEmbeddingRMSPropParameters LoadTPUEmbeddingRMSPropParametersGradAccumDebug "
                "LoadTPUEmbeddingStochasticGradientDescentParameters RecvTPUEmbeddingActivations "
                "RetrieveTPUEmbeddingADAMParameters "
                "RetrieveTPUEmbeddingADAMParametersGradAccumDebug "
                "RetrieveTPUEmbeddingAdadeltaParameters "
                "RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug "
                "RetrieveTPUEmbeddingAdagradParameters "
                "RetrieveTPUEmbeddingAdagradParametersGradAccumDebug "
                "RetrieveTPUEmbeddingCenteredRMSPropParameters RetrieveTPUEmbeddingFTRLParameters "
                "RetrieveTPUEmbeddingFTRLParametersGradAccumDebug "
                "RetrieveTPUEmbeddingMDLAdagradLightParameters "
                "RetrieveTPUEmbeddingMomentumParameters "
                "RetrieveTPUEmbeddingMomentumParametersGradAccumDebug "
                "RetrieveTPUEmbeddingProximalAdagradParameters "
                "RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug "
                "RetrieveTPUEmbeddingRMSPropParameters "
                "RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug "
                "RetrieveTPUEmbeddingStochasticGradientDescentParameters SendTPUEmbeddingGradients"
            ),
            "1.15": "ConfigureTPUEmbedding",
            "2.3": (
                "EnqueueTPUEmbeddingRaggedTensorBatch LoadTPUEmbeddingProximalYogiParameters "
                "LoadTPUEmbeddingProximalYogiParametersGradAccumDebug "
                "LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug "
                "RetrieveTPUEmbeddingProximalYogiParameters "
                "RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug "
                "RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug"
            ),
            "2.5": (
                "LoadTPUEmbeddingFrequencyEstimatorParameters "
                "LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug "
                "RetrieveTPUEmbeddingFrequencyEstimatorParameters "
                "RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug"
            ),
            "2.7": (
                "IsTPUEmbeddingInitialized LoadTPUEmbeddingAdagradMomentumParameters "
                "RetrieveTPUEmbeddingAdagradMomentumParameters"
            ),
            "2.8": (
                "DynamicEnqueueTPUEmbeddingArbitraryTensorBatch "
                "EnqueueTPUEmbeddingArbitraryTensorBatch"
            ),
            "2.11": (
                "CollateTPUEmbeddingMemory ConfigureTPUEmbeddingHost ConfigureTPUEmbeddingMemory "
                "ConnectTPUEmbeddingHosts EnqueueTPUEmbeddingBatch ExecuteTPUEmbeddingPartitioner "
                "FinalizeTPUEmbedding LoadAllTPUEmbeddingParameters "
                "RetrieveAllTPUEmbeddingParameters XlaRecvTPUEmbeddingActivations "
                "XlaRecvTPUEmbeddingDeduplicationData "
                "XlaSendTPUEmbeddingGradients"
            ),
            "2.12": "ComputeDedupDataTupleMask MergeDedupData SplitDedupData",
            "2.15": "DynamicEnqueueTPUEmbeddingRaggedTensorBatch",
            "-": (
                "ComputeDedupDataSize ComputeDedupDataSizeV2 ComputeDedupDataTupleMaskV2 "
                "FinalizeTPUEmbeddingV2 XlaRecvTPUEmbeddingActivationsV2 "
                "XlaRecvTPUEmbeddingDeduplicationDataV2 XlaSendTPUEmbeddingGradientsV2"
            ),
        },
        tests_of_tpu_op,
    ),
    Table(
        "Ops of SparseCores",
        "In `tf.raw_ops`. TensorFlow runs those that begin with `Xla` in programs for TPUs only.",
        ("tf.raw_ops",),
        "gradlab.raw_ops",
        {
            "2.16": (
                "ConvertToCooTensor GetMinibatchSplitsWithPhysicalReplica "
                "GetMinibatchesInCsrWithPhysicalReplica StoreMinibatchStatisticsInFdo "
                "XlaSparseCoreAdagrad XlaSparseCoreAdagradMomentum XlaSparseCoreAdam "
                "XlaSparseCoreFtrl XlaSparseCoreSgd XlaSparseDenseMatmul "
                "XlaSparseDenseMatmulGradWithAdagradAndCsrInput "
                "XlaSparseDenseMatmulGradWithAdagradMomentumAndCsrInput "
                "XlaSparseDenseMatmulGradWithAdamAndCsrInput "
                "XlaSparseDenseMatmulGradWithFtrlAndCsrInput "
                "XlaSparseDenseMatmulGradWithSgdAndCsrInput XlaSparseDenseMatmulWithCsrInput"
            ),
            "2.17": (
                "ConvertToListOfSparseCoreCooTensors ConvertToSparseCoreCsrWrappedCooTensor "
                "GetStatsFromListOfSparseCoreCooTensors SortListOfSparseCoreCooTensors "
                "XlaSparseDenseMatmulGradWithAdagradAndStaticBufferSize "
                "XlaSparseDenseMatmulGradWithAdagradMomentumAndStaticBufferSize "
                "XlaSparseDenseMatmulGradWithAdamAndStaticBufferSize "
                "XlaSparseDenseMatmulGradWithFtrlAndStaticBufferSize "
                "XlaSparseDenseMatmulGradWithSgdAndStaticBufferSize "
                "XlaSparseDenseMatmulWithStaticBufferSize"
            ),
            "2.18": "XlaSparseDenseMatmulGradWithCsrInput",
            "2.20": (
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradAndCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdagradMomentumAndCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithAdamAndCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithFtrlAndCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput "
                "XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput"
            ),
            "-": "XlaSparseActivationsUnstack XlaSparseGradientsStack",
        },
        tests_of_sparsecore_op,
    ),
    Table(
        "tf.tpu.experimental",
        "In `tf.compat.v1.tpu.experimental`. The last release that has the parameters is 2.15.",
        ("tf.compat.v1.tpu.experimental",),
        "gradlab.tpu.experimental",
        {
            "1.15": (
                "AdagradParameters AdamParameters StochasticGradientDescentParameters "
                "embedding_column shared_embedding_columns"
            ),
            "2.2": "FtrlParameters",
        },
        tests_of_tpu_column,
    ),
    Table(
        "tf.tpu.experimental.embedding",
        "",
        ("tf.tpu.experimental.embedding",),
        "gradlab.tpu.experimental.embedding",
        {
            "2.3": "Adagrad Adam FeatureConfig SGD TPUEmbedding TableConfig",
            "2.4": "serving_embedding_lookup",
            "2.5": "FTRL",
            "2.9": "AdagradMomentum TPUEmbeddingForServing TPUEmbeddingV0",
            "2.11": "QuantizationConfig",
            "2.16": "RowIdInitializer TPUEmbeddingV2",
            "2.17": "SparseCoreEmbeddingConfig",
            "2.18": "CustomOptimizer",
            "2.20": "CustomCombiner",
        },
        tests_of_tpu_class,
    ),
)


def row(table: Table, name: str, release: str) -> list[str]:
    """Return the cells of a row."""
    cells = [f"`{name}`", release]
    if table.place == KERAS:
        cells.append(", ".join(semantics(name)) or "-")
    return [*cells, ", ".join(table.tests(name))]


def semantics(name: str) -> list[str]:
    """Return the versions of Keras of which gradlab has an optimizer."""
    optimizer: Any = getattr(gl.keras.optimizers, name)
    if not isinstance(optimizer, type) or not issubclass(optimizer, gl.keras.Optimizer):
        return []
    return [version for version in gl.keras.VERSIONS if takes(optimizer, version)]


def takes(optimizer: Any, version: Any) -> bool:
    inner = gl.keras.SGD(semantics=version)
    arguments = {"LossScaleOptimizer": [inner], "MultiOptimizer": [lambda variable: inner]}
    try:
        optimizer(*arguments.get(optimizer.__name__, []), semantics=version)
    except (TypeError, ValueError):  # a version without it, or `Optimizer` itself
        return False
    return True


def page() -> str:
    """Return the text of the site's page."""
    lines = [HEAD]
    for table in TABLES:
        heads = ["name", "since", "tested by"]
        if table.place == KERAS:
            heads.insert(2, "semantics")
        where = f"Here: `{public_path(table.place)}`. {table.text}".strip()
        lines += [f"## {table.title}", "", where, ""]
        lines += [line(heads), line(["---"] * len(heads))]
        lines += [line(row(table, *pair)) for pair in table.names()]
        lines.append("")
    lines += ["## What is left out, and what to use instead", ""]
    for places in dict.fromkeys(left_out.places for left_out in LEFT_OUT):
        lines += [f"### {' and '.join(public_path(place) for place in places.split())}", ""]
        for left_out in LEFT_OUT:
            if left_out.places == places:
                names = ", ".join(f"`{name}`" for name in left_out.names.split())
                lines.append(f"- {names}: {PATH.sub(CODE, left_out.sentence)}")
        lines.append("")
    lines.pop()
    return "\n".join(lines) + "\n"


def public_path(place: str) -> str:
    return f"gl{place.removeprefix('gradlab')}"


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
