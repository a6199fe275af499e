from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OptimizerDynamicInput(_message.Message):
    __slots__ = ("tag",)
    TAG_FIELD_NUMBER: _ClassVar[int]
    tag: int
    def __init__(self, tag: _Optional[int] = ...) -> None: ...

class LearningRate(_message.Message):
    __slots__ = ("constant", "dynamic")
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_FIELD_NUMBER: _ClassVar[int]
    constant: float
    dynamic: OptimizerDynamicInput
    def __init__(self, constant: _Optional[float] = ..., dynamic: _Optional[_Union[OptimizerDynamicInput, _Mapping]] = ...) -> None: ...

class ClippingLimits(_message.Message):
    __slots__ = ("lower", "upper")
    LOWER_FIELD_NUMBER: _ClassVar[int]
    UPPER_FIELD_NUMBER: _ClassVar[int]
    lower: _wrappers_pb2.FloatValue
    upper: _wrappers_pb2.FloatValue
    def __init__(self, lower: _Optional[_Union[_wrappers_pb2.FloatValue, _Mapping]] = ..., upper: _Optional[_Union[_wrappers_pb2.FloatValue, _Mapping]] = ...) -> None: ...

class SimulatedQuantization(_message.Message):
    __slots__ = ("enabled", "clipping_limits", "num_buckets")
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    CLIPPING_LIMITS_FIELD_NUMBER: _ClassVar[int]
    NUM_BUCKETS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    clipping_limits: ClippingLimits
    num_buckets: int
    def __init__(self, enabled: bool = ..., clipping_limits: _Optional[_Union[ClippingLimits, _Mapping]] = ..., num_buckets: _Optional[int] = ...) -> None: ...

class AdagradParameters(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdagradMomentumParameters(_message.Message):
    __slots__ = ("momentum", "use_nesterov", "exponent", "beta2", "epsilon")
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    USE_NESTEROV_FIELD_NUMBER: _ClassVar[int]
    EXPONENT_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    momentum: float
    use_nesterov: bool
    exponent: float
    beta2: float
    epsilon: float
    def __init__(self, momentum: _Optional[float] = ..., use_nesterov: bool = ..., exponent: _Optional[float] = ..., beta2: _Optional[float] = ..., epsilon: _Optional[float] = ...) -> None: ...

class BoundedAdagradParameters(_message.Message):
    __slots__ = ("update_accumulator_first", "max_var_update", "max_accumulator")
    UPDATE_ACCUMULATOR_FIRST_FIELD_NUMBER: _ClassVar[int]
    MAX_VAR_UPDATE_FIELD_NUMBER: _ClassVar[int]
    MAX_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    update_accumulator_first: bool
    max_var_update: float
    max_accumulator: float
    def __init__(self, update_accumulator_first: bool = ..., max_var_update: _Optional[float] = ..., max_accumulator: _Optional[float] = ...) -> None: ...

class FrequencyAwareAdagradParameters(_message.Message):
    __slots__ = ("l1_regularization_strength", "l2_regularization_strength", "max_lr_multiplier", "probability_exponent", "accumulator_decay", "initial_accumulator_value", "step_counter")
    L1_REGULARIZATION_STRENGTH_FIELD_NUMBER: _ClassVar[int]
    L2_REGULARIZATION_STRENGTH_FIELD_NUMBER: _ClassVar[int]
    MAX_LR_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_EXPONENT_FIELD_NUMBER: _ClassVar[int]
    ACCUMULATOR_DECAY_FIELD_NUMBER: _ClassVar[int]
    INITIAL_ACCUMULATOR_VALUE_FIELD_NUMBER: _ClassVar[int]
    STEP_COUNTER_FIELD_NUMBER: _ClassVar[int]
    l1_regularization_strength: float
    l2_regularization_strength: float
    max_lr_multiplier: float
    probability_exponent: float
    accumulator_decay: float
    initial_accumulator_value: float
    step_counter: OptimizerDynamicInput
    def __init__(self, l1_regularization_strength: _Optional[float] = ..., l2_regularization_strength: _Optional[float] = ..., max_lr_multiplier: _Optional[float] = ..., probability_exponent: _Optional[float] = ..., accumulator_decay: _Optional[float] = ..., initial_accumulator_value: _Optional[float] = ..., step_counter: _Optional[_Union[OptimizerDynamicInput, _Mapping]] = ...) -> None: ...

class StochasticGradientDescentParameters(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FtrlParameters(_message.Message):
    __slots__ = ("l1", "l2", "lr_power", "multiply_linear_by_lr", "beta", "allow_zero_accumulator")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    LR_POWER_FIELD_NUMBER: _ClassVar[int]
    MULTIPLY_LINEAR_BY_LR_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    ALLOW_ZERO_ACCUMULATOR_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    lr_power: float
    multiply_linear_by_lr: bool
    beta: float
    allow_zero_accumulator: bool
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., lr_power: _Optional[float] = ..., multiply_linear_by_lr: bool = ..., beta: _Optional[float] = ..., allow_zero_accumulator: bool = ...) -> None: ...

class AdamParameters(_message.Message):
    __slots__ = ("beta1", "beta2", "epsilon", "use_non_lazy_adam", "use_sum_inside_sqrt")
    BETA1_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    USE_NON_LAZY_ADAM_FIELD_NUMBER: _ClassVar[int]
    USE_SUM_INSIDE_SQRT_FIELD_NUMBER: _ClassVar[int]
    beta1: float
    beta2: float
    epsilon: float
    use_non_lazy_adam: bool
    use_sum_inside_sqrt: bool
    def __init__(self, beta1: _Optional[float] = ..., beta2: _Optional[float] = ..., epsilon: _Optional[float] = ..., use_non_lazy_adam: bool = ..., use_sum_inside_sqrt: bool = ...) -> None: ...

class MomentumParameters(_message.Message):
    __slots__ = ("momentum", "use_nesterov")
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    USE_NESTEROV_FIELD_NUMBER: _ClassVar[int]
    momentum: float
    use_nesterov: bool
    def __init__(self, momentum: _Optional[float] = ..., use_nesterov: bool = ...) -> None: ...

class LionParameters(_message.Message):
    __slots__ = ("beta1", "beta2", "use_non_lazy_lion")
    BETA1_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    USE_NON_LAZY_LION_FIELD_NUMBER: _ClassVar[int]
    beta1: float
    beta2: float
    use_non_lazy_lion: bool
    def __init__(self, beta1: _Optional[float] = ..., beta2: _Optional[float] = ..., use_non_lazy_lion: bool = ...) -> None: ...

class RmsPropParameters(_message.Message):
    __slots__ = ("rho", "momentum", "epsilon")
    RHO_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    rho: float
    momentum: float
    epsilon: float
    def __init__(self, rho: _Optional[float] = ..., momentum: _Optional[float] = ..., epsilon: _Optional[float] = ...) -> None: ...

class CenteredRmsPropParameters(_message.Message):
    __slots__ = ("rho", "momentum", "epsilon")
    RHO_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    rho: float
    momentum: float
    epsilon: float
    def __init__(self, rho: _Optional[float] = ..., momentum: _Optional[float] = ..., epsilon: _Optional[float] = ...) -> None: ...

class MdlAdagradLightParameters(_message.Message):
    __slots__ = ("l2", "lr_power", "min_servable_mdl_benefit", "mdl_mix_in_margin", "mdl_benefit_rampup_coeff", "mdl_min_weight", "benefit_revisit_scale", "max_event_benefit", "max_total_benefit", "mdl_hard_limit", "hard_limit_min_benefit", "mdl_regularize")
    L2_FIELD_NUMBER: _ClassVar[int]
    LR_POWER_FIELD_NUMBER: _ClassVar[int]
    MIN_SERVABLE_MDL_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_MIX_IN_MARGIN_FIELD_NUMBER: _ClassVar[int]
    MDL_BENEFIT_RAMPUP_COEFF_FIELD_NUMBER: _ClassVar[int]
    MDL_MIN_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BENEFIT_REVISIT_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_EVENT_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_HARD_LIMIT_FIELD_NUMBER: _ClassVar[int]
    HARD_LIMIT_MIN_BENEFIT_FIELD_NUMBER: _ClassVar[int]
    MDL_REGULARIZE_FIELD_NUMBER: _ClassVar[int]
    l2: float
    lr_power: float
    min_servable_mdl_benefit: float
    mdl_mix_in_margin: float
    mdl_benefit_rampup_coeff: float
    mdl_min_weight: float
    benefit_revisit_scale: float
    max_event_benefit: float
    max_total_benefit: float
    mdl_hard_limit: float
    hard_limit_min_benefit: bool
    mdl_regularize: bool
    def __init__(self, l2: _Optional[float] = ..., lr_power: _Optional[float] = ..., min_servable_mdl_benefit: _Optional[float] = ..., mdl_mix_in_margin: _Optional[float] = ..., mdl_benefit_rampup_coeff: _Optional[float] = ..., mdl_min_weight: _Optional[float] = ..., benefit_revisit_scale: _Optional[float] = ..., max_event_benefit: _Optional[float] = ..., max_total_benefit: _Optional[float] = ..., mdl_hard_limit: _Optional[float] = ..., hard_limit_min_benefit: bool = ..., mdl_regularize: bool = ...) -> None: ...

class AdadeltaParameters(_message.Message):
    __slots__ = ("rho", "epsilon")
    RHO_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    rho: float
    epsilon: float
    def __init__(self, rho: _Optional[float] = ..., epsilon: _Optional[float] = ...) -> None: ...

class ProximalAdagradParameters(_message.Message):
    __slots__ = ("l1", "l2")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ...) -> None: ...

class OnlineYogiParameters(_message.Message):
    __slots__ = ("l1", "l2", "beta2")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    beta2: float
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., beta2: _Optional[float] = ...) -> None: ...

class ProximalYogiParameters(_message.Message):
    __slots__ = ("l1", "l2", "beta1", "beta2", "epsilon")
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    BETA1_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    l1: float
    l2: float
    beta1: float
    beta2: float
    epsilon: float
    def __init__(self, l1: _Optional[float] = ..., l2: _Optional[float] = ..., beta1: _Optional[float] = ..., beta2: _Optional[float] = ..., epsilon: _Optional[float] = ...) -> None: ...

class FrequencyEstimatorParameters(_message.Message):
    __slots__ = ("tau", "max_delta", "outlier_threshold", "weight_exponent")
    TAU_FIELD_NUMBER: _ClassVar[int]
    MAX_DELTA_FIELD_NUMBER: _ClassVar[int]
    OUTLIER_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_EXPONENT_FIELD_NUMBER: _ClassVar[int]
    tau: float
    max_delta: float
    outlier_threshold: float
    weight_exponent: float
    def __init__(self, tau: _Optional[float] = ..., max_delta: _Optional[float] = ..., outlier_threshold: _Optional[float] = ..., weight_exponent: _Optional[float] = ...) -> None: ...

class HloModuleProto(_message.Message):
    __slots__ = ("name", "host_program_shape")
    class Shape(_message.Message):
        __slots__ = ("tuple_shapes",)
        TUPLE_SHAPES_FIELD_NUMBER: _ClassVar[int]
        tuple_shapes: _containers.RepeatedCompositeFieldContainer[HloModuleProto.Shape]
        def __init__(self, tuple_shapes: _Optional[_Iterable[_Union[HloModuleProto.Shape, _Mapping]]] = ...) -> None: ...
    class ProgramShape(_message.Message):
        __slots__ = ("parameters", "result")
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        RESULT_FIELD_NUMBER: _ClassVar[int]
        parameters: _containers.RepeatedCompositeFieldContainer[HloModuleProto.Shape]
        result: HloModuleProto.Shape
        def __init__(self, parameters: _Optional[_Iterable[_Union[HloModuleProto.Shape, _Mapping]]] = ..., result: _Optional[_Union[HloModuleProto.Shape, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    HOST_PROGRAM_SHAPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    host_program_shape: HloModuleProto.ProgramShape
    def __init__(self, name: _Optional[str] = ..., host_program_shape: _Optional[_Union[HloModuleProto.ProgramShape, _Mapping]] = ...) -> None: ...

class UserDefinedProgramParameters(_message.Message):
    __slots__ = ("program",)
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    program: HloModuleProto
    def __init__(self, program: _Optional[_Union[HloModuleProto, _Mapping]] = ...) -> None: ...

class AssignParameters(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GradientAccumulationStatus(_message.Message):
    __slots__ = ()
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[GradientAccumulationStatus.Status]
        ENABLED: _ClassVar[GradientAccumulationStatus.Status]
        DISABLED: _ClassVar[GradientAccumulationStatus.Status]
    UNSPECIFIED: GradientAccumulationStatus.Status
    ENABLED: GradientAccumulationStatus.Status
    DISABLED: GradientAccumulationStatus.Status
    def __init__(self) -> None: ...

class LowDimensionalPackingStatus(_message.Message):
    __slots__ = ()
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[LowDimensionalPackingStatus.Status]
        ENABLED: _ClassVar[LowDimensionalPackingStatus.Status]
        DISABLED: _ClassVar[LowDimensionalPackingStatus.Status]
    UNSPECIFIED: LowDimensionalPackingStatus.Status
    ENABLED: LowDimensionalPackingStatus.Status
    DISABLED: LowDimensionalPackingStatus.Status
    def __init__(self) -> None: ...

class HotIdReplicationConfiguration(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[HotIdReplicationConfiguration.Status]
        ENABLED: _ClassVar[HotIdReplicationConfiguration.Status]
        DISABLED: _ClassVar[HotIdReplicationConfiguration.Status]
        MIGRATION_ONLY: _ClassVar[HotIdReplicationConfiguration.Status]
    UNSPECIFIED: HotIdReplicationConfiguration.Status
    ENABLED: HotIdReplicationConfiguration.Status
    DISABLED: HotIdReplicationConfiguration.Status
    MIGRATION_ONLY: HotIdReplicationConfiguration.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: HotIdReplicationConfiguration.Status
    def __init__(self, status: _Optional[_Union[HotIdReplicationConfiguration.Status, str]] = ...) -> None: ...

class OptimizationParameters(_message.Message):
    __slots__ = ("learning_rate", "clipping_limits", "gradient_clipping_limits", "weight_decay_factor", "multiply_weight_decay_factor_by_learning_rate", "simulated_quantization", "gradient_accumulation_status", "low_dimensional_packing_status", "hot_id_replication_configuration", "adagrad", "stochastic_gradient_descent", "ftrl", "adam", "momentum", "rms_prop", "centered_rms_prop", "mdl_adagrad_light", "adadelta", "proximal_adagrad", "bounded_adagrad", "online_yogi", "proximal_yogi", "frequency_estimator", "user_defined_program", "assign", "adagrad_momentum", "lion", "frequency_aware_adagrad")
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    CLIPPING_LIMITS_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_CLIPPING_LIMITS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FACTOR_FIELD_NUMBER: _ClassVar[int]
    MULTIPLY_WEIGHT_DECAY_FACTOR_BY_LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    SIMULATED_QUANTIZATION_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_ACCUMULATION_STATUS_FIELD_NUMBER: _ClassVar[int]
    LOW_DIMENSIONAL_PACKING_STATUS_FIELD_NUMBER: _ClassVar[int]
    HOT_ID_REPLICATION_CONFIGURATION_FIELD_NUMBER: _ClassVar[int]
    ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    STOCHASTIC_GRADIENT_DESCENT_FIELD_NUMBER: _ClassVar[int]
    FTRL_FIELD_NUMBER: _ClassVar[int]
    ADAM_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    RMS_PROP_FIELD_NUMBER: _ClassVar[int]
    CENTERED_RMS_PROP_FIELD_NUMBER: _ClassVar[int]
    MDL_ADAGRAD_LIGHT_FIELD_NUMBER: _ClassVar[int]
    ADADELTA_FIELD_NUMBER: _ClassVar[int]
    PROXIMAL_ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    BOUNDED_ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    ONLINE_YOGI_FIELD_NUMBER: _ClassVar[int]
    PROXIMAL_YOGI_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_ESTIMATOR_FIELD_NUMBER: _ClassVar[int]
    USER_DEFINED_PROGRAM_FIELD_NUMBER: _ClassVar[int]
    ASSIGN_FIELD_NUMBER: _ClassVar[int]
    ADAGRAD_MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    LION_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_AWARE_ADAGRAD_FIELD_NUMBER: _ClassVar[int]
    learning_rate: LearningRate
    clipping_limits: ClippingLimits
    gradient_clipping_limits: ClippingLimits
    weight_decay_factor: float
    multiply_weight_decay_factor_by_learning_rate: bool
    simulated_quantization: SimulatedQuantization
    gradient_accumulation_status: GradientAccumulationStatus.Status
    low_dimensional_packing_status: LowDimensionalPackingStatus.Status
    hot_id_replication_configuration: HotIdReplicationConfiguration
    adagrad: AdagradParameters
    stochastic_gradient_descent: StochasticGradientDescentParameters
    ftrl: FtrlParameters
    adam: AdamParameters
    momentum: MomentumParameters
    rms_prop: RmsPropParameters
    centered_rms_prop: CenteredRmsPropParameters
    mdl_adagrad_light: MdlAdagradLightParameters
    adadelta: AdadeltaParameters
    proximal_adagrad: ProximalAdagradParameters
    bounded_adagrad: BoundedAdagradParameters
    online_yogi: OnlineYogiParameters
    proximal_yogi: ProximalYogiParameters
    frequency_estimator: FrequencyEstimatorParameters
    user_defined_program: UserDefinedProgramParameters
    assign: AssignParameters
    adagrad_momentum: AdagradMomentumParameters
    lion: LionParameters
    frequency_aware_adagrad: FrequencyAwareAdagradParameters
    def __init__(self, learning_rate: _Optional[_Union[LearningRate, _Mapping]] = ..., clipping_limits: _Optional[_Union[ClippingLimits, _Mapping]] = ..., gradient_clipping_limits: _Optional[_Union[ClippingLimits, _Mapping]] = ..., weight_decay_factor: _Optional[float] = ..., multiply_weight_decay_factor_by_learning_rate: bool = ..., simulated_quantization: _Optional[_Union[SimulatedQuantization, _Mapping]] = ..., gradient_accumulation_status: _Optional[_Union[GradientAccumulationStatus.Status, str]] = ..., low_dimensional_packing_status: _Optional[_Union[LowDimensionalPackingStatus.Status, str]] = ..., hot_id_replication_configuration: _Optional[_Union[HotIdReplicationConfiguration, _Mapping]] = ..., adagrad: _Optional[_Union[AdagradParameters, _Mapping]] = ..., stochastic_gradient_descent: _Optional[_Union[StochasticGradientDescentParameters, _Mapping]] = ..., ftrl: _Optional[_Union[FtrlParameters, _Mapping]] = ..., adam: _Optional[_Union[AdamParameters, _Mapping]] = ..., momentum: _Optional[_Union[MomentumParameters, _Mapping]] = ..., rms_prop: _Optional[_Union[RmsPropParameters, _Mapping]] = ..., centered_rms_prop: _Optional[_Union[CenteredRmsPropParameters, _Mapping]] = ..., mdl_adagrad_light: _Optional[_Union[MdlAdagradLightParameters, _Mapping]] = ..., adadelta: _Optional[_Union[AdadeltaParameters, _Mapping]] = ..., proximal_adagrad: _Optional[_Union[ProximalAdagradParameters, _Mapping]] = ..., bounded_adagrad: _Optional[_Union[BoundedAdagradParameters, _Mapping]] = ..., online_yogi: _Optional[_Union[OnlineYogiParameters, _Mapping]] = ..., proximal_yogi: _Optional[_Union[ProximalYogiParameters, _Mapping]] = ..., frequency_estimator: _Optional[_Union[FrequencyEstimatorParameters, _Mapping]] = ..., user_defined_program: _Optional[_Union[UserDefinedProgramParameters, _Mapping]] = ..., assign: _Optional[_Union[AssignParameters, _Mapping]] = ..., adagrad_momentum: _Optional[_Union[AdagradMomentumParameters, _Mapping]] = ..., lion: _Optional[_Union[LionParameters, _Mapping]] = ..., frequency_aware_adagrad: _Optional[_Union[FrequencyAwareAdagradParameters, _Mapping]] = ...) -> None: ...

class StateVariableSpecification(_message.Message):
    __slots__ = ("name", "user_defined", "fill_with_constant")
    class UserDefined(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class FillWithConstant(_message.Message):
        __slots__ = ("initial_value",)
        INITIAL_VALUE_FIELD_NUMBER: _ClassVar[int]
        initial_value: float
        def __init__(self, initial_value: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    USER_DEFINED_FIELD_NUMBER: _ClassVar[int]
    FILL_WITH_CONSTANT_FIELD_NUMBER: _ClassVar[int]
    name: str
    user_defined: StateVariableSpecification.UserDefined
    fill_with_constant: StateVariableSpecification.FillWithConstant
    def __init__(self, name: _Optional[str] = ..., user_defined: _Optional[_Union[StateVariableSpecification.UserDefined, _Mapping]] = ..., fill_with_constant: _Optional[_Union[StateVariableSpecification.FillWithConstant, _Mapping]] = ...) -> None: ...

class TPUEmbeddingConfiguration(_message.Message):
    __slots__ = ("table_descriptor", "mode", "batch_size_per_tensor_core", "num_hosts", "num_tensor_cores", "sharding_strategy", "pipeline_execution_with_tensor_core", "profile_data_directory", "feature_descriptor", "spmd_sharding")
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[TPUEmbeddingConfiguration.Mode]
        INFERENCE: _ClassVar[TPUEmbeddingConfiguration.Mode]
        TRAINING: _ClassVar[TPUEmbeddingConfiguration.Mode]
        BACKWARD_PASS_ONLY: _ClassVar[TPUEmbeddingConfiguration.Mode]
    UNSPECIFIED: TPUEmbeddingConfiguration.Mode
    INFERENCE: TPUEmbeddingConfiguration.Mode
    TRAINING: TPUEmbeddingConfiguration.Mode
    BACKWARD_PASS_ONLY: TPUEmbeddingConfiguration.Mode
    class ShardingStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DIV_DEFAULT: _ClassVar[TPUEmbeddingConfiguration.ShardingStrategy]
        MOD: _ClassVar[TPUEmbeddingConfiguration.ShardingStrategy]
    DIV_DEFAULT: TPUEmbeddingConfiguration.ShardingStrategy
    MOD: TPUEmbeddingConfiguration.ShardingStrategy
    class TableDescriptor(_message.Message):
        __slots__ = ("name", "vocabulary_size", "dimension", "num_features", "optimization_parameters")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VOCABULARY_SIZE_FIELD_NUMBER: _ClassVar[int]
        DIMENSION_FIELD_NUMBER: _ClassVar[int]
        NUM_FEATURES_FIELD_NUMBER: _ClassVar[int]
        OPTIMIZATION_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        name: str
        vocabulary_size: int
        dimension: int
        num_features: int
        optimization_parameters: OptimizationParameters
        def __init__(self, name: _Optional[str] = ..., vocabulary_size: _Optional[int] = ..., dimension: _Optional[int] = ..., num_features: _Optional[int] = ..., optimization_parameters: _Optional[_Union[OptimizationParameters, _Mapping]] = ...) -> None: ...
    class FeatureDescriptor(_message.Message):
        __slots__ = ("name", "table_id", "input_shape")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TABLE_ID_FIELD_NUMBER: _ClassVar[int]
        INPUT_SHAPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        table_id: int
        input_shape: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, name: _Optional[str] = ..., table_id: _Optional[int] = ..., input_shape: _Optional[_Iterable[int]] = ...) -> None: ...
    class SpmdSharding(_message.Message):
        __slots__ = ("enabled", "num_cores_per_replica", "use_manual_partitioning", "use_shardy_partitioner")
        ENABLED_FIELD_NUMBER: _ClassVar[int]
        NUM_CORES_PER_REPLICA_FIELD_NUMBER: _ClassVar[int]
        USE_MANUAL_PARTITIONING_FIELD_NUMBER: _ClassVar[int]
        USE_SHARDY_PARTITIONER_FIELD_NUMBER: _ClassVar[int]
        enabled: bool
        num_cores_per_replica: int
        use_manual_partitioning: bool
        use_shardy_partitioner: bool
        def __init__(self, enabled: bool = ..., num_cores_per_replica: _Optional[int] = ..., use_manual_partitioning: bool = ..., use_shardy_partitioner: bool = ...) -> None: ...
    TABLE_DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_PER_TENSOR_CORE_FIELD_NUMBER: _ClassVar[int]
    NUM_HOSTS_FIELD_NUMBER: _ClassVar[int]
    NUM_TENSOR_CORES_FIELD_NUMBER: _ClassVar[int]
    SHARDING_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_EXECUTION_WITH_TENSOR_CORE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_DATA_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    FEATURE_DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    SPMD_SHARDING_FIELD_NUMBER: _ClassVar[int]
    table_descriptor: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingConfiguration.TableDescriptor]
    mode: TPUEmbeddingConfiguration.Mode
    batch_size_per_tensor_core: int
    num_hosts: int
    num_tensor_cores: int
    sharding_strategy: TPUEmbeddingConfiguration.ShardingStrategy
    pipeline_execution_with_tensor_core: bool
    profile_data_directory: str
    feature_descriptor: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingConfiguration.FeatureDescriptor]
    spmd_sharding: TPUEmbeddingConfiguration.SpmdSharding
    def __init__(self, table_descriptor: _Optional[_Iterable[_Union[TPUEmbeddingConfiguration.TableDescriptor, _Mapping]]] = ..., mode: _Optional[_Union[TPUEmbeddingConfiguration.Mode, str]] = ..., batch_size_per_tensor_core: _Optional[int] = ..., num_hosts: _Optional[int] = ..., num_tensor_cores: _Optional[int] = ..., sharding_strategy: _Optional[_Union[TPUEmbeddingConfiguration.ShardingStrategy, str]] = ..., pipeline_execution_with_tensor_core: bool = ..., profile_data_directory: _Optional[str] = ..., feature_descriptor: _Optional[_Iterable[_Union[TPUEmbeddingConfiguration.FeatureDescriptor, _Mapping]]] = ..., spmd_sharding: _Optional[_Union[TPUEmbeddingConfiguration.SpmdSharding, _Mapping]] = ...) -> None: ...

class TPUEmbeddingError(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TensorProto(_message.Message):
    __slots__ = ("dtype", "tensor_shape", "tensor_content", "int_val")
    class Shape(_message.Message):
        __slots__ = ("dim", "unknown_rank")
        class Dim(_message.Message):
            __slots__ = ("size",)
            SIZE_FIELD_NUMBER: _ClassVar[int]
            size: int
            def __init__(self, size: _Optional[int] = ...) -> None: ...
        DIM_FIELD_NUMBER: _ClassVar[int]
        UNKNOWN_RANK_FIELD_NUMBER: _ClassVar[int]
        dim: _containers.RepeatedCompositeFieldContainer[TensorProto.Shape.Dim]
        unknown_rank: bool
        def __init__(self, dim: _Optional[_Iterable[_Union[TensorProto.Shape.Dim, _Mapping]]] = ..., unknown_rank: bool = ...) -> None: ...
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CONTENT_FIELD_NUMBER: _ClassVar[int]
    INT_VAL_FIELD_NUMBER: _ClassVar[int]
    dtype: int
    tensor_shape: TensorProto.Shape
    tensor_content: bytes
    int_val: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dtype: _Optional[int] = ..., tensor_shape: _Optional[_Union[TensorProto.Shape, _Mapping]] = ..., tensor_content: _Optional[bytes] = ..., int_val: _Optional[_Iterable[int]] = ...) -> None: ...

class SparseFeatures(_message.Message):
    __slots__ = ("id", "weight", "description")
    ID_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    id: _containers.RepeatedScalarFieldContainer[int]
    weight: _containers.RepeatedScalarFieldContainer[float]
    description: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[_Iterable[int]] = ..., weight: _Optional[_Iterable[float]] = ..., description: _Optional[_Iterable[str]] = ...) -> None: ...
