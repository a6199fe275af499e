"""`plan_of` a configuration message, `config_of` a plan, and the checks of a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from google.protobuf.message import Message

from ..._base.suggest import did_you_mean
from ...errors import InvalidArgumentError
from ...rules import Rule
from ..plan import Combiner, Feature, Plan, Policy
from .messages import descriptor_of, table_of, tags_in
from .proto import TPUEmbeddingConfiguration
from .shapes import core_shapes
from .wire import read


def parse(config: bytes | str | Message) -> TPUEmbeddingConfiguration:
    """Return the configuration as a message of this library, from its bytes or from TensorFlow's message.

    Fields that are not known stay in it and are written again. A message of this library is copied.

    Raises:
        ValueError: bytes that aren't such a message; it says where they go wrong.
        TypeError: something other than bytes or a TPUEmbeddingConfiguration.

    Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

    >>> parse(bytes.fromhex("0a030a01741002")).table_descriptor[0].name
    't'
    """
    if isinstance(config, str):
        config = config.encode()
    if isinstance(config, Message):
        if config.DESCRIPTOR.name != "TPUEmbeddingConfiguration":
            raise TypeError(
                "config must be a TPUEmbeddingConfiguration, got a message "
                f"{config.DESCRIPTOR.full_name}"
            )
        config = config.SerializeToString()
    if not isinstance(config, bytes | bytearray | memoryview):
        raise TypeError(
            f"config must be bytes or a TPUEmbeddingConfiguration, got {type(config).__name__}"
        )
    message: TPUEmbeddingConfiguration = read(TPUEmbeddingConfiguration, bytes(config))
    return message


def plan_of(
    config: bytes | str | Message,
    policy: Policy | None = None,
    combiners: Sequence[Combiner] | Mapping[str, Combiner] | None = None,
    rules: Mapping[str, Rule] | None = None,
) -> Plan:
    """Return the plan that a configuration describes.

    With feature descriptors each is a feature. Without, each table has one, of the shape
    (num_features * batch_size_per_tensor_core,). What has no name gets one: table_0, feature_0 and
    so on. A number of cores or hosts that is not set is 1.

    Args:
        config: as for `parse`.
        policy: what is not publicly known; None for `Policy()`.
        combiners: one for each table, in order or by name; the configuration has none. None is
            "sum" for all, as in the enqueue operations.
        rules: by name of the table, instead of what the message says; a user-defined program needs
            it.

    Raises:
        ValueError: what cannot be run, with the name of the table or feature: no mode, no optimizer
            or learning rate, learning rate tags with gaps, a host without rows, a feature of a
            table that is not there, sizes below 1, two of one name.

    Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.engine.proto import OptimizationParameters, TPUEmbeddingConfiguration
    >>> config = TPUEmbeddingConfiguration(mode="TRAINING", batch_size_per_tensor_core=2)
    >>> t = config.table_descriptor.add(name="t", vocabulary_size=8, dimension=4, num_features=3)
    >>> t.optimization_parameters.stochastic_gradient_descent.SetInParent()
    >>> t.optimization_parameters.learning_rate.constant = 0.5
    >>> plan = plan_of(config)
    >>> plan.tables[0].rule, plan.features[0].shape
    (StochasticGradientDescent(), (6,))
    """
    message = parse(config)
    for check in CHECKS:
        check(message)
    names = table_names(message)
    if unknown := sorted((rules or {}).keys() - set(names)):
        raise ValueError(
            f"there is no table {unknown[0]!r} for a rule; {did_you_mean(unknown[0], names)}"
        )
    tables = (
        table_of(t, name, combiner, (rules or {}).get(name))
        for t, name, combiner in zip(
            message.table_descriptor, names, _combiners(names, combiners), strict=True
        )
    )
    return Plan(
        tuple(tables),
        tuple(features_of(message)),
        cores_of(message),
        is_pipelined(message),
        policy or Policy(),
    )


def config_of(plan: Plan, mode: str = "TRAINING", num_hosts: int = 1) -> TPUEmbeddingConfiguration:
    """Return the configuration that describes a plan, for operations that take one: the inverse of `plan_of`.

    Each feature is described. What a configuration does not have is left out: combiners, the
    policy, which features are sequences. Numbers become float32.

    Args:
        mode: "TRAINING", "INFERENCE" or "BACKWARD_PASS_ONLY".
        num_hosts: how many hosts share the rows.

    Raises:
        ValueError: another mode, a rule that cannot be written (see `parameters_of`), or what
            `plan_of` would refuse.

    Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Feature, Plan, Table
    >>> config_of(Plan((Table("t", 8, 4),), (Feature("f", 0, (3,)),))).feature_descriptor[0].name
    'f'
    """
    if mode not in TPUEmbeddingConfiguration.Mode.keys():  # noqa: SIM118 - not a dict
        raise ValueError(f"mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got {mode!r}")
    message = TPUEmbeddingConfiguration(
        table_descriptor=[descriptor_of(t) for t in plan.tables],
        mode=mode,
        num_hosts=num_hosts,
        num_tensor_cores=plan.cores,
        pipeline_execution_with_tensor_core=plan.pipelined,
    )
    for f in plan.features:
        message.feature_descriptor.add(name=f.name, table_id=f.table, input_shape=f.shape)
    for check in CHECKS:
        check(message)
    return message


def check_mode(message: TPUEmbeddingConfiguration) -> None:
    """Refuse a configuration that does not say what it is for."""
    known = TPUEmbeddingConfiguration.Mode.values()
    if message.mode not in known or message.mode == TPUEmbeddingConfiguration.UNSPECIFIED:
        given = message.mode or "UNSPECIFIED"
        raise InvalidArgumentError(
            f"mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got {given}"
        )


def is_pipelined(message: TPUEmbeddingConfiguration) -> bool:
    """Tell whether lookups run one update ahead; only in training."""
    return (
        message.pipeline_execution_with_tensor_core
        and message.mode == TPUEmbeddingConfiguration.TRAINING
    )


def table_names(message: TPUEmbeddingConfiguration) -> list[str]:
    """Return the names of the tables, in order; ValueError where two are the same."""
    return _named("table", (t.name for t in message.table_descriptor))


def cores_of(message: TPUEmbeddingConfiguration) -> int:
    """Return the number of cores, all replicas together."""
    cores, spmd = _at_least_1(message, "num_tensor_cores"), message.spmd_sharding
    if spmd.enabled and spmd.num_cores_per_replica < 1:
        raise ValueError(
            f"num_cores_per_replica must be at least 1, got {spmd.num_cores_per_replica}"
        )
    if spmd.enabled and cores % spmd.num_cores_per_replica:
        raise ValueError(
            f"{cores} tensor cores cannot be replicas of {spmd.num_cores_per_replica} cores each; "
            "num_tensor_cores must be a multiple of num_cores_per_replica"
        )
    return cores


def tags_of(message: TPUEmbeddingConfiguration) -> dict[int, list[int]]:
    """Return the tables that read each number which comes with every step, by tag."""
    found: dict[int, list[int]] = {}
    for k, t in enumerate(message.table_descriptor):
        for tag in tags_in(t.optimization_parameters):
            found.setdefault(tag, []).append(k)
    return dict(sorted(found.items()))


def _at_least_1(message: TPUEmbeddingConfiguration, name: str) -> int:
    """Return a number that is 1 where it is not set."""
    if (given := getattr(message, name)) < 0:
        raise ValueError(f"{name} must be at least 1, got {given}")
    return given or 1


def _named(kind: str, given: Iterable[str]) -> list[str]:
    names = [n or f"{kind}_{k}" for k, n in enumerate(given)]
    if twice := [n for n, count in Counter(names).items() if count > 1]:
        raise ValueError(f"two {kind}s have the name {twice[0]!r}; names must differ")
    return names


def check_tags(message: TPUEmbeddingConfiguration) -> None:
    """Refuse numbers of learning rates that leave one out."""
    tags, names = tags_of(message), table_names(message)
    if missing := sorted(set(range(len(tags))) - tags.keys()):
        used = ", ".join(
            f"{tag} ({', '.join(names[k] for k in tables)})" for tag, tables in tags.items()
        )
        raise ValueError(
            f"learning rate tag {missing[0]} not found: tags must be 0 to {len(tags) - 1} without "
            f"gaps, the tables use {used}"
        )


def check_shards(message: TPUEmbeddingConfiguration) -> None:
    """Refuse a host that would hold no row of a table."""
    hosts = _at_least_1(message, "num_hosts")
    among = f"{hosts} host{'s' * (hosts > 1)}"
    for t, name in zip(message.table_descriptor, table_names(message), strict=True):
        if t.vocabulary_size < hosts:
            raise ValueError(
                f"table {name!r} has {t.vocabulary_size} rows for {among}, and none may be empty; "
                f"set vocabulary_size to {hosts}, as TensorFlow's Python layer does"
            )


def features_of(message: TPUEmbeddingConfiguration) -> list[Feature]:
    """Return the features, each with the shape of what one core looks up."""
    shapes = core_shapes(message)
    if not message.feature_descriptor:
        outputs = dict(zip(table_names(message), shapes, strict=True))
        if below := [name for name, shape in outputs.items() if shape[0] < 0]:
            raise ValueError(
                f"the output of table {below[0]!r} would have {outputs[below[0]][0]} rows"
            )
        return [Feature(name, k, shape[:-1]) for k, (name, shape) in enumerate(outputs.items())]
    names = _named("feature", (f.name for f in message.feature_descriptor))
    found = []
    for f, name, shape in zip(message.feature_descriptor, names, shapes, strict=True):
        if len(shape) < 2 or min(shape) < 1:
            raise ValueError(
                f"input_shape of feature {name!r} must have axes of at least 1, got "
                f"{list(f.input_shape)}"
            )
        found.append(Feature(name, f.table_id, shape[:-1]))
    return found


CHECKS: tuple[Callable[[TPUEmbeddingConfiguration], object], ...] = (
    check_mode,
    table_names,
    check_tags,
    check_shards,
    cores_of,
    features_of,
)


def _combiners(
    names: list[str], given: Sequence[Combiner] | Mapping[str, Combiner] | None
) -> list[Combiner]:
    if given is None or not given:
        return ["sum"] * len(names)
    if isinstance(given, Mapping):
        if unknown := sorted(given.keys() - set(names)):
            raise ValueError(
                f"there is no table {unknown[0]!r} to combine; {did_you_mean(unknown[0], names)}"
            )
        return [given.get(n, "sum") for n in names]
    if len(given) != len(names):
        raise ValueError(
            f"combiners must be one for each of the {len(names)} tables, got {len(given)}"
        )
    return list(given)


def example_config(
    optimizer: str = "stochastic_gradient_descent", rows: int = 4, width: int = 1, batch: int = 2
) -> bytes:
    """Return the bytes of a configuration with a table "t", a feature of it, and learning rate 0.5.

    Not in TensorFlow.

    Args:
        optimizer: the name of its message in `OptimizationParameters`.

    >>> from gradlab.tpu import plan_of
    >>> plan_of(example_config()).tables[0].rows
    4
    """
    config = TPUEmbeddingConfiguration(mode="TRAINING", batch_size_per_tensor_core=batch)
    table = config.table_descriptor.add(
        name="t", vocabulary_size=rows, dimension=width, num_features=1
    )
    getattr(table.optimization_parameters, optimizer).SetInParent()
    table.optimization_parameters.learning_rate.constant = 0.5
    written: bytes = config.SerializeToString()
    return written
