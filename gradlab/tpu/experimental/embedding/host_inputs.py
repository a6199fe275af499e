"""The inputs of features: the shapes of their activations, and the ids of each core.

A shape comes from the feature, from `build`, or from the first input. An input shape has one axis
more than the output, the one that is combined: (batch, ids of a sample).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...._base.indices import rank_in_groups
from ....errors import EmbeddingWarning, warn
from ...ids import Ids, ids_of, is_nested, tensor_of
from ...plan import Feature
from .table_config import FeatureConfig, Shape, shape_of

Named = Sequence[tuple[str, FeatureConfig]]


def output_shape(feature: FeatureConfig, given: Shape, path: str) -> Shape:
    """Return the shape of the activations of an input of this shape, on one core.

    Raises:
        ValueError: no axis at all.
    """
    if not given:
        raise ValueError(f"the input of feature {path!r} must have an axis, got a single number")
    if feature.is_sequence and len(given) == 2 and given[-1] != 1:
        return (given[0], feature.max_sequence_length)
    return given if len(given) == 1 else given[:-1]


def shapes_of_inputs(features: Named, given: Any) -> list[Shape]:
    """Return the output shapes of input shapes, nested like the features or in a row.

    Raises:
        ValueError: another number of shapes than features, or one without an axis.
    """
    shapes = list(_shapes_in(given))
    if len(shapes) != len(features):
        raise ValueError(
            f"per_replica_input_shapes must be one shape for each of {len(features)} features, "
            f"got {given!r}"
        )
    return [output_shape(f, shape, path) for (path, f), shape in zip(features, shapes, strict=True)]


def shapes_of_batch(features: Named, batch_size: int) -> list[Shape]:
    """Return the output shapes for this number of samples on each core."""
    return [
        (batch_size, f.max_sequence_length) if f.is_sequence else (batch_size,) for _, f in features
    ]


def merge_shapes(
    features: Named, known: Sequence[Shape | None], given: Sequence[Shape]
) -> list[Shape | None]:
    """Return the shapes that are known, and for the others those given.

    Raises:
        ValueError: both are there and differ; it names the feature.
    """
    for (path, _), old, new in zip(features, known, given, strict=True):
        if old is not None and not fits(old, new):
            raise ValueError(
                f"Inconsistent shape founded for input feature: feature {path!r} has the output "
                f"shape {old}, but its input makes it {new}"
            )
    return [new if old is None else old for old, new in zip(known, given, strict=True)]


def fits(old: Shape, new: Shape) -> bool:
    """Tell whether an input of shape `new` can fill `old`; a row of ragged samples may fill several axes."""
    if len(new) in (1, 2) and len(old) > len(new):
        return True
    return len(old) == len(new) and all(
        a == b or not a or not b for a, b in zip(old, new, strict=True)
    )


def check_known(features: Named, shapes: Sequence[Shape | None]) -> list[tuple[int, ...]]:
    """Return the shapes, which must all be known.

    Raises:
        ValueError: some are not; it names the feature.
    """
    known = []
    for (path, _), shape in zip(features, shapes, strict=True):
        sizes = tuple(n for n in shape or () if n is not None)
        if shape is None or len(sizes) != len(shape):
            raise ValueError(
                f"Input Feature: feature {path!r} has the output shape {shape}, which must be "
                "known before the first step: give FeatureConfig(output_shape=...), or shapes or a "
                "batch size to build()"
            )
        known.append(sizes)
    return known


def _shapes_in(given: Any) -> list[Shape]:
    if isinstance(given, Mapping):
        return [shape for key in sorted(given) for shape in _shapes_in(given[key])]
    if isinstance(given, list | tuple) and not all(
        n is None or hasattr(n, "__index__") for n in given
    ):
        return [shape for part in given for shape in _shapes_in(part)]
    return [shape_of(given)]


class InputFormat(NamedTuple):
    """The format of a feature's ids, and the shape that implies it: None where none does."""

    kind: str  # dense, rows (a list for each sample), lists (nested deeper), sparse or ragged
    shape: Shape


def read_format(values: Any, path: str) -> InputFormat:
    """Return the format and the shape of an input.

    Raises:
        ValueError: dense ids with several for each sample, sparse ones without an axis for them, a
            single number.
    """
    if hasattr(values, "row_splits"):
        return InputFormat("ragged", (len(values.row_splits) - 1, None))
    if hasattr(values, "indices") and hasattr(values, "values"):
        values = (
            values.indices,
            values.values,
            *([values.dense_shape] if hasattr(values, "dense_shape") else []),
        )
    if isinstance(values, tuple):
        return _read_pair_format(values, path)
    if isinstance(values, list) and is_nested(values, 1):
        return InputFormat("lists" if is_nested(values, 2) else "rows", (len(values), None))
    shape = np.shape(values)
    if not shape:
        raise ValueError(
            f"the ids of feature {path!r} must have an axis, got {type(values).__name__}"
        )
    if len(shape) > 1 and shape[-1] != 1:
        raise ValueError(
            f"dense ids of feature {path!r} have one id for each sample, so that the last of "
            f"several axes is 1; got shape {shape}. For several ids give lists, (indices, ids) or "
            "(row_splits, ids)"
        )
    return InputFormat("dense", shape)


def _read_pair_format(values: Sequence[Any], path: str) -> InputFormat:
    where = np.asarray(values[0])
    if where.ndim < 2:
        return InputFormat("ragged", (where.size - 1, None))
    shape = tuple(int(n) for n in values[2]) if len(values) > 2 else (None,) * where.shape[1]
    if len(shape) < 2:
        raise ValueError(f"sparse ids of feature {path!r} have at least two axes, got {len(shape)}")
    return InputFormat("sparse", shape)


def shape_of_one_core(shape: Shape, cores: int, path: str) -> Shape:
    """Return the shape of one core's share of an input of all cores.

    Raises:
        ValueError: the samples cannot be shared out.
    """
    first, *rest = shape
    if first is not None and first % cores:
        raise ValueError(
            f"feature {path!r} has {first} samples, which {cores} cores cannot share equally"
        )
    return (None if first is None else first // cores, *rest)


def split_ids(
    feature: Feature, config: FeatureConfig, values: Any, weights: Any, cores: int
) -> list[Ids]:
    """Return the ids of one feature on each core.

    Args:
        feature: its name for errors, and the shape of what one core looks up; a sequence has its
            length as last axis.
        values, weights: of all cores together, one after another along the first axis.

    Raises:
        ValueError: weights of dense ids or of a sequence, sparse ones of ragged ids or the reverse,
            and all that `ids_of` refuses.
    """
    form = read_format(values, feature.name)
    if weights is not None:
        check_weights(feature.name, form.kind, weights)
    length = _sequence_length(feature, config, form, cores)
    if length:
        shape: tuple[int, ...] = (feature.samples // length * cores, length)
    elif form.kind == "rows":
        shape = (feature.samples * cores,)
    else:
        shape = (feature.shape[0] * cores, *feature.shape[1:])
    feature_of_all = dataclasses.replace(feature, shape=shape, sequence_length=length)
    ids = ids_of(feature_of_all, values, weights)
    if length:
        ids = _one_sample_each(ids, length)
    return _split_by_core(ids, feature.samples, cores)


def check_weights(path: str, kind: str, weights: Any) -> None:
    """Refuse weights of dense ids, and those written another way than the ids; a vector of them may be of any.

    In TensorFlow's words, which it tests.
    """
    if kind == "dense":
        raise ValueError(
            f"Weight specified for dense input: feature {path!r} is dense: each weighs 1, so it "
            "takes no weights"
        )
    ids_type = "SparseTensor" if kind == "sparse" else "RaggedTensor"
    weights_type = tensor_of(weights)
    if weights_type not in ("Tensor", ids_type):
        raise ValueError(
            f"Weight for {path!r} is type {weights_type} which does not match type input which is "
            f"{ids_type}: write both the same way"
        )


def _sequence_length(feature: Feature, config: FeatureConfig, form: InputFormat, cores: int) -> int:
    """Return the length of the sequences of ids, 0 where they are combined.

    With an output shape of n times the samples, each sample is a sequence of n places.
    """
    axes = len(form.shape)
    if config.max_sequence_length and axes > 2:
        warn(
            f"the ids of feature {feature.name!r} have {axes} axes, so that they are no sequence",
            EmbeddingWarning,
        )
    if config.is_sequence:
        return config.max_sequence_length if axes == 2 else 0
    samples = (form.shape[0] or 0) // cores
    if (
        form.kind not in ("ragged", "rows")
        or not 0 < samples < feature.samples
        or feature.samples % samples
    ):
        return 0
    return feature.samples // samples


def _one_sample_each(ids: Ids, length: int) -> Ids:
    """Return the ids of sequences, each in a sample of its own, without those past the end of their
    sequence.
    """
    samples = np.asarray(ids.samples)
    places = rank_in_groups(samples) if ids.places is None else ids.places
    keep = places < length
    return Ids((samples * length + places)[keep], np.asarray(ids.ids)[keep])


def _split_by_core(ids: Ids, samples: int, cores: int) -> list[Ids]:
    ends = np.searchsorted(ids.samples, np.arange(cores + 1) * samples)
    by_core = []
    for core, (start, end) in enumerate(itertools.pairwise(ends)):
        weights = None if ids.weights is None else ids.weights[start:end]
        by_core.append(Ids(ids.samples[start:end] - core * samples, ids.ids[start:end], weights))
    return by_core
