"""Names of TensorFlow and Keras that gradlab does not have, each with a sentence.

`suggest.py` imports this table when a name is missing, and never before. A row says where the names
are looked for, which names they are, and what to use in their place. A test walks the public names
of the installed TensorFlow, tf_keras and Keras: each is either in gradlab or in a row, never both.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


class LeftOut(NamedTuple):
    """Names that are left out for one reason.

    `places` are modules of gradlab and `names` are names in them, separated by blanks; `*` stands
    for any text. The sentence follows a semicolon in an error message.
    """

    places: str
    names: str
    sentence: str


LEFT_OUT = (
    # Where TensorFlow's modules are.
    LeftOut("gradlab", "compat v1", "replace `tf.compat.v1.` with `gl.`"),
    LeftOut("gradlab", "optimizers", "Keras's optimizers are in gl.keras.optimizers"),
    LeftOut(
        "gradlab",
        "mixed_precision",
        "loss scales are in gl.train, and LossScaleOptimizer is in gl.keras; a policy of dtypes "
        "isn't here: cast arrays yourself",
    ),
    LeftOut(
        "gradlab.keras gradlab.keras.mixed_precision",
        "Policy dtype_policy global_policy set_dtype_policy set_global_policy DTypePolicy",
        "a policy of dtypes isn't here: cast arrays yourself",
    ),
    LeftOut(
        "gradlab gradlab.keras",
        "experimental",
        "of the modules of this name gradlab has gl.train.experimental and gl.tpu.experimental",
    ),
    LeftOut(
        "gradlab",
        "nn",
        "for `embedding_lookup` use gl.gather, for sparse ids gl.tpu.embedding_lookup_sparse; "
        "clips are in gl; for layers and losses use the library your model is written in",
    ),
    LeftOut(
        "gradlab",
        "distribute",
        "gl.keras.replicas steps replicas together, and gl.workers runs asynchronous workers",
    ),
    LeftOut(
        "gradlab",
        "summary Summary SummaryMetadata Event HistogramProto LogMessage SessionLog trace profiler",
        "gl.Recorder records what happens to gradients and streams it to TensorBoard",
    ),
    LeftOut(
        "gradlab",
        "layers metrics losses estimator feature_column",
        "gradlab has no models: build yours with any library, and pass its gradients",
    ),
    # Graphs and sessions.
    LeftOut(
        "gradlab",
        "placeholder placeholder_with_default sparse_placeholder",
        "gradlab has no placeholders. Make what you feed a gl.Variable(..., trainable=False), and "
        "assign it before the run: sess.run(x.assign(batch)). If batches have several shapes, write "
        "the loss as a function that reads a Python variable",
    ),
    LeftOut(
        "gradlab",
        "ConfigProto GPUOptions",
        "leave it out: gl.Session() has nothing to configure",
    ),
    LeftOut(
        "gradlab",
        "InteractiveSession get_default_session delete_session_tensor get_session_handle "
        "get_session_tensor container op_scope name_scope get_current_name_scope colocate_with",
        "`with graph.as_default():` of a gl.Graph is the one block that operations look at; pass "
        "everything else as an argument",
    ),
    LeftOut(
        "gradlab",
        "tuple identity identity_n init_scope count_up_to "
        "CriticalSection grad_pass_through guarantee_const Print print Assert "
        "add_check_numerics_ops",
        "operations run in the order of your program: use a plain statement of Python",
    ),
    LeftOut(
        "gradlab",
        "GraphDef GraphOptions NodeDef AttrValue MetaGraphDef NameAttrList OptimizerOptions "
        "RunMetadata RunOptions TensorInfo config graph_util "
        "import_graph_def saved_model lite mlir xla wrap_function "
        "nondifferentiable_batch_function Module DeviceSpec sysconfig load_library load_op_library "
        "load_file_system_library user_ops dtensor",
        "gradlab has no runtime to configure and no graph to export: its functions are Python, "
        "which jax.jit compiles",
    ),
    LeftOut(
        "gradlab",
        "autograph function make_template numpy_function py_func py_function",
        "call the Python function itself, or compile it with jax.jit",
    ),
    LeftOut("gradlab", "device", "jax.default_device and jax.device_put place arrays"),
    LeftOut(
        "gradlab",
        "enable_* disable_control_flow_v2 disable_resource_variables disable_tensor_equality "
        "disable_v2_tensorshape executing_eagerly_outside_functions inside_function "
        "control_flow_v2_enabled resource_variables_enabled is_symbolic_tensor",
        "it is about a part of TensorFlow that gradlab doesn't have: operations run at once, and "
        "wait only inside a gl.Graph",
    ),
    LeftOut(
        "gradlab",
        "cond case switch_case while_loop foldl foldr map_fn vectorized_map scan",
        "use Python's own `if` and `for`, or jax.lax and jax.vmap inside jax.jit",
    ),
    # Variables.
    LeftOut(
        "gradlab",
        "AUTO_REUSE VariableScope get_variable get_variable_scope get_local_variable "
        "variable_scope variable_op_scope variable_creator_scope create_partitioned_variables "
        "fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner "
        "VariableAggregation VariableSynchronization",
        "make a variable with gl.Variable(value, name=...), and share it by passing it as an "
        "argument",
    ),
    LeftOut(
        "gradlab",
        "all_variables local_variables model_variables moving_average_variables GraphKeys "
        "get_collection get_collection_ref add_to_collection add_to_collections",
        "gl.trainable_variables lists variables, and gl.variable_collection holds those that are "
        "created inside it",
    ),
    LeftOut(
        "gradlab",
        "initialize_all_tables initialize_all_variables initialize_local_variables "
        "initialize_variables tables_initializer is_variable_initialized "
        "report_uninitialized_variables assert_variables_initialized",
        "a gl.Variable has its value when it is created; nothing else has to be initialized",
    ),
    LeftOut(
        "gradlab",
        "scatter_* batch_scatter_update",
        "change the array and assign it to the variable as a whole, with v.assign",
    ),
    LeftOut(
        "gradlab",
        "initializers constant_initializer glorot_normal_initializer glorot_uniform_initializer "
        "ones_initializer orthogonal_initializer random_normal_initializer "
        "random_uniform_initializer truncated_normal_initializer "
        "uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer "
        "no_regularizer",
        "gl.Variable takes its first value as an array: make it with NumPy or jax.random",
    ),
    # Gradients.
    LeftOut(
        "gradlab",
        "autodiff UnconnectedGradients",
        "gl.gradients(loss, variables) differentiates a function of variables; jax.grad does it "
        "for a function of arrays",
    ),
    LeftOut(
        "gradlab",
        "RegisterGradient NoGradient NotDifferentiable no_gradient recompute_grad",
        "JAX differentiates: jax.custom_vjp sets the derivative of a function, and "
        "jax.checkpoint saves memory by computing values again",
    ),
    LeftOut(
        "gradlab",
        "ConditionalAccumulatorBase",
        "gl.ConditionalAccumulator and gl.SparseConditionalAccumulator have no common class",
    ),
    # Tensors, and functions of them.
    LeftOut(
        "gradlab",
        "TensorShape TensorSpec TensorArray TensorArraySpec TypeSpec NoneTensorSpec "
        "OptionalSpec Dimension dimension_at_index dimension_value type_spec_from_value "
        "convert_to_tensor* register_tensor_conversion_function is_tensor get_static_value "
        "make_ndarray make_tensor_proto ensure_shape nest types IndexedSlicesSpec",
        "gradlab computes on NumPy's and JAX's arrays as they are",
    ),
    LeftOut("gradlab", "constant", "write np.float32(value), or np.array(value, dtype)"),
    LeftOut(
        "gradlab",
        "SparseTensor SparseTensorSpec SparseTensorValue RaggedTensor RaggedTensorSpec ragged "
        "ragged_* sparse sparse_* serialize_sparse serialize_many_sparse deserialize_many_sparse",
        "a sparse gradient is a gl.IndexedSlices; gl.tpu takes ids of any length as lists of lists "
        "or as gl.tpu.Ids",
    ),
    LeftOut(
        "gradlab",
        "float16 float32 float64 half double complex complex64 complex128 int8 int16 int32 int64 "
        "uint8 uint16 uint32 uint64 bool string resource variant",
        "dtypes are NumPy's: write np.float32 or 'float32'",
    ),
    LeftOut("gradlab", "bfloat16", "write jnp.bfloat16, or 'bfloat16' where JAX is installed"),
    LeftOut(
        "gradlab",
        "DType as_dtype dtypes QUANTIZED_DTYPES qint8 qint16 qint32 quint8 quint16 "
        "quantization quantize quantize_v2 quantized_concat dequantize fake_quant_*",
        "dtypes are NumPy's, and none of them is quantized; gl.tpu.quantize simulates the "
        "quantization of embedding tables",
    ),
    LeftOut(
        "gradlab",
        "abs accumulate_n acos acosh add add_n angle approx_top_k arg_max arg_min argmax argmin argsort asin "
        "asinh atan atan2 atanh batch_gather batch_to_space batch_to_space_nd betainc bincount "
        "bitcast bitwise boolean_mask broadcast_* cast ceil check_numerics check_pinned cholesky cholesky_solve "
        "concat confusion_matrix conj conv conv2d_* cos cosh count_nonzero cross cumprod cumsum "
        "depth_to_space diag diag_part digamma div div_no_nan divide dynamic_partition "
        "dynamic_stitch edit_distance eig eigvals einsum equal erf erfc exp expand_dims expm1 "
        "extract_*_patches eye fft* fill fingerprint floor floor_div floordiv floormod gather_nd "
        "greater greater_equal histogram_fixed_width* ifft* igamma igammac imag image "
        "invert_permutation irfft* is_finite is_inf is_nan is_non_decreasing is_numeric_tensor "
        "is_strictly_increasing lbeta less less_equal lgamma lin_space linalg linspace log log1p "
        "log_sigmoid logical_* manip math matmul matrix_* maximum meshgrid minimum mod multiply "
        "negative newaxis norm not_equal one_hot ones ones_like pad parallel_stack polygamma pow "
        "qr range rank real realdiv reciprocal reduce_* repeat required_space_to_batch_paddings "
        "reshape reverse reverse_* rfft* rint roll round rsqrt saturate_cast scalar_mul "
        "searchsorted segment_* self_adjoint_eig* sequence_mask setdiff1d sets shape shape_n "
        "sigmoid sign signal sin sinh size slice sort space_to_* spectral split sqrt square "
        "squared_difference squeeze stack strided_slice subtract svd tan tanh tensor_scatter_* "
        "tensordot tile timestamp to_* transpose truediv truncatediv truncatemod unique "
        "unique_with_counts unravel_index unsorted_segment_* unstack verify_tensor_all_finite "
        "where where_v2 zeros zeros_like zeta",
        "gradlab has no math. In a gl.Graph or a gl.GradientTape write np.mean(x), in a loss function "
        "jnp.mean(x)",
    ),
    LeftOut(
        "gradlab",
        "random random_* multinomial truncated_normal distributions set_random_seed get_seed",
        "use numpy.random or jax.random; what is random in gradlab takes a seed",
    ),
    LeftOut(
        "gradlab",
        "assert_* debugging test",
        "use Python's assert, numpy.testing and pytest",
    ),
    # Data, files, the machine.
    LeftOut(
        "gradlab",
        "data queue QueueBase *Queue ReaderBase *Reader io python_io gfile read_file write_file "
        "matching_files decode_* encode_* parse_* serialize_tensor FixedLen* VarLenFeature "
        "SparseFeature strings string_* substr as_string regex_replace audio lookup",
        "gradlab begins at the gradient: read and prepare data with the library you like, and pass "
        "arrays",
    ),
    LeftOut(
        "gradlab",
        "COMPILER_VERSION CXX11_ABI_FLAG CXX_VERSION GIT_VERSION VERSION version "
        "GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER "
        "MONOLITHIC_BUILD",
        "gl.__version__ is gradlab's version",
    ),
    LeftOut(
        "gradlab",
        "app flags logging get_logger resource_loader tools security",
        "use Python's argparse, logging and pathlib",
    ),
    LeftOut(
        "gradlab", "OpError", "gl.errors has the errors that gradlab raises, by TensorFlow's names"
    ),
    # gl.train.
    LeftOut(
        "gradlab.train",
        "*Session *SessionCreator *Hook Scaffold SessionManager SessionRunArgs SessionRunContext "
        "SessionRunValues CheckpointSaverListener Supervisor SecondOrStepTimer basic_train_loop "
        "NanLossDuringTrainingError",
        "sessions that run hooks aren't here: write the loop in Python, and call what a hook would "
        "do between two steps; gl.Recorder records each step",
    ),
    LeftOut(
        "gradlab.train",
        "Coordinator LooperThread QueueRunner add_queue_runner queue_runner start_queue_runners",
        "use threading.Thread; gl.train.SyncReplicasOptimizer.chief stops the accumulators that "
        "threads wait for",
    ),
    LeftOut(
        "gradlab.train",
        "batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch "
        "maybe_shuffle_batch_join shuffle_batch shuffle_batch_join *input_producer limit_epochs "
        "match_filenames_once BytesList Example Feature FeatureList FeatureLists Features "
        "FloatList Int64List SequenceExample summary_iterator",
        "gradlab begins at the gradient: read and prepare data with the library you like, and pass "
        "arrays",
    ),
    LeftOut(
        "gradlab.train",
        "ClusterDef ClusterSpec JobDef Server ServerDef replica_device_setter",
        "gl.workers runs workers in virtual time, in threads, or on a cluster with Ray",
    ),
    LeftOut(
        "gradlab.train",
        "Checkpoint CheckpointManager CheckpointOptions CheckpointView TrackableView Saver "
        "SaverDef NewCheckpointReader VocabInfo warm_start *checkpoint* list_variables "
        "load_variable export_meta_graph import_meta_graph write_graph MaxShardSizePolicy "
        "ShardByTaskPolicy ShardableTensor ShardingCallback PythonState",
        "gl.save(path, ...) writes variables, slots and steps to one file, and gl.load reads them; "
        "TensorFlow's checkpoints aren't read",
    ),
    LeftOut(
        "gradlab.train",
        "do_quantize_training_on_graphdef",
        "gradlab has no graph of a model that could be rewritten",
    ),
    LeftOut(
        "gradlab.train gradlab.raw_ops",
        "sdca_* Sdca*",
        "SDCA fits a linear model to examples and takes no gradient; for penalties of L1 and L2 "
        "use gl.train.FtrlOptimizer or gl.train.ProximalAdagradOptimizer",
    ),
    LeftOut(
        "gradlab.train",
        "enable_mixed_precision_graph_rewrite disable_mixed_precision_graph_rewrite",
        "gradlab has no graph of a model that could be rewritten: cast arrays yourself",
    ),
    # gl.contrib.
    LeftOut(
        "gradlab.contrib.opt",
        "ExternalOptimizerInterface ScipyOptimizerInterface",
        "it hands a loss to SciPy's minimizers, which leave no gradient to look at: call "
        "scipy.optimize.minimize, with gl.gradients for its derivative",
    ),
    # gl.keras.
    LeftOut(
        "gradlab.keras gradlab.keras.optimizers",
        "legacy",
        "gl.keras.Adam is `tf.keras.optimizers.legacy.Adam` unless you pass another semantics=, and "
        "so are the others that Keras had then",
    ),
    LeftOut(
        "gradlab.keras.optimizers",
        "experimental",
        "the optimizers that began as experimental are those of the rewrite: "
        'gl.keras.Adagrad(..., semantics="rewrite")',
    ),
    LeftOut(
        "gradlab.keras",
        "schedules",
        "schedules are in gl.schedules and gl.keras.optimizers.schedules",
    ),
    LeftOut("gradlab.keras", "Variable", "variables are gl.Variable in all of gradlab"),
    LeftOut(
        "gradlab.keras",
        "FloatDTypePolicy Function Initializer Input InputSpec KerasTensor Layer Loss "
        "Metric Model Operation Quantizer Regularizer RematScope Sequential StatelessScope "
        "SymbolicScope activations applications backend callbacks config constraints "
        "datasets device distillation distribution dtensor dtype_policies estimator export "
        "initializers layers losses metrics models name_scope ops preprocessing protobuf "
        "quantizers random regularizers remat saving src tree utils version visualization wrappers",
        "gl.keras has Keras's optimizers and schedules only; they take variables and gradients "
        "from any library",
    ),
    # gl.raw_ops.
    LeftOut(
        "gradlab.raw_ops",
        "ConfigureDistributedTPU ConfigureAndInitializeGlobalTPU DTensorSetGlobalTPUArray "
        "ShutdownDistributedTPU ShutdownTPUSystem",
        "gl.tpu.initialize_system and gl.tpu.shutdown_system start and stop the system",
    ),
    LeftOut(
        "gradlab.raw_ops",
        "GlobalIterId",
        "it numbers the iterations of a program on TPUs, and runs nowhere else: count your own",
    ),
    LeftOut(
        "gradlab.raw_ops",
        "TPUAnnotate* TPUCompile* TPUCompilationResult TPUCopy* TPUDummyInput TPUExecute* "
        "TPUOrdinalSelector TPUPartitioned* TPUReplicate* TPUReshardVariables TPURoundRobin",
        "the op places parts of a program on TPUs; gradlab runs on any machine, and jax.sharding "
        "places arrays",
    ),
    # gl.tpu.
    LeftOut(
        "gradlab.tpu",
        "CrossShardOptimizer cross_replica_sum",
        "jax.lax.pmean averages gradients over cores; gl.keras.replicas does it for Keras's "
        "optimizers",
    ),
    LeftOut(
        "gradlab.tpu",
        "PaddingSpec XLAOptions batch_parallel bfloat16_scope core outside_compilation replicate "
        "rewrite shard",
        "it compiles and places programs on TPUs; gradlab runs on any machine, where jax.jit "
        "compiles and jax.sharding places arrays",
    ),
    LeftOut(
        "gradlab.tpu.experimental",
        "DeviceAssignment DeviceOrderMode HardwareFeature TPUSystemMetadata Topology",
        "it describes a TPU; gradlab runs on any machine, and gl.tpu.Plan has the number of cores",
    ),
    LeftOut(
        "gradlab.tpu.experimental",
        "initialize_tpu_system shutdown_tpu_system",
        "gl.tpu.initialize_system and gl.tpu.shutdown_system start and stop the system",
    ),
)

# Where nothing is near and the list of names would fill a page.
ELSE = {
    "gradlab.contrib": "of tf.contrib, gl.contrib has opt, and of layers the training step",
    "gradlab.contrib.layers": "of tf.contrib.layers, gradlab has optimize_loss and its clips",
    "gradlab.raw_ops": "gl.raw_ops has TensorFlow's ops of training, of conditional accumulators, "
    "of TPU embeddings and of SparseCores; for other ops use numpy or jax.numpy",
    "gradlab.optax": "gl.optax has gradlab's rules and clips as transformations; all others are in "
    "optax itself",
    "gradlab.tpu": "gl.tpu has embedding tables only; dir(gl.tpu) lists its names",
    "gradlab.train": "gl.train has the optimizers and decays of TensorFlow 1; dir(gl.train) lists "
    "its names",
    "gradlab": "dir(gl) lists its names; for functions of arrays use numpy or jax.numpy",
}


def explain(place: str, name: str) -> str | None:
    """Return the sentence about a name that a module leaves out on purpose.

    >>> explain("gradlab.train", "ClusterSpec")
    'gl.workers runs workers in virtual time, in threads, or on a cluster with Ray'
    """
    for places, names, sentence in LEFT_OUT:
        if place in places.split() and any(fnmatchcase(name, n) for n in names.split()):
            return sentence
    return None
