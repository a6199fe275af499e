"""What shape the activations of each feature have: said with the feature, or to `build`, or seen in the first input.

An input shape has one axis more than the output, the one that is combined: (batch, ids of a sample).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table_config import FeatureConfig, Shape, shape_of

Named = Sequence[tuple[str, FeatureConfig]]


def output_shape(feature: FeatureConfig, given: Shape, path: str) -> Shape:
    """What an input of this shape becomes, on one core.

    Raises:
        ValueError: no axis at all.
    """
    if not given:
        raise ValueError(f"the input of feature {path!r} must have an axis, got a single number")
    if feature.is_sequence and len(given) == 2 and given[-1] != 1:
        return (given[0], feature.max_sequence_length)
    return given if len(given) == 1 else given[:-1]


def shapes_of_inputs(features: Named, given: Any) -> list[Shape]:
    """The output shapes of input shapes, nested like the features or in a row.

    Raises:
        ValueError: another number of shapes than features, or one without an axis.
    """
    shapes = list(_shapes_in(given))
    if len(shapes) != len(features):
        raise ValueError(
            f"per_replica_input_shapes must be one shape for each of {len(features)} features, got {given!r}"
        )
    return [output_shape(f, shape, path) for (path, f), shape in zip(features, shapes, strict=True)]


def shapes_of_batch(features: Named, batch_size: int) -> list[Shape]:
    """The output shapes for so many samples on each core."""
    return [(batch_size, f.max_sequence_length) if f.is_sequence else (batch_size,) for _, f in features]


def merged(features: Named, known: Sequence[Shape | None], given: Sequence[Shape]) -> list[Shape | None]:
    """The shapes that are known, and for the others those given.

    Raises:
        ValueError: both are there and differ; it names the feature.
    """
    for (path, _), old, new in zip(features, known, given, strict=True):
        if old is not None and not fits(old, new):
            raise ValueError(f"feature {path!r} has the output shape {old}, but its input makes it {new}")
    return [new if old is None else old for old, new in zip(known, given, strict=True)]


def fits(old: Shape, new: Shape) -> bool:
    """Whether an input that makes the shape `new` can fill `old`; a row of ragged samples may fill several axes."""
    if len(new) in (1, 2) and len(old) > len(new):
        return True
    return len(old) == len(new) and all(a == b or not a or not b for a, b in zip(old, new, strict=True))


def checked(features: Named, shapes: Sequence[Shape | None]) -> list[tuple[int, ...]]:
    """The shapes, when all of them are known.

    Raises:
        ValueError: some are not; it names the feature.
    """
    found = []
    for (path, _), shape in zip(features, shapes, strict=True):
        sizes = tuple(n for n in shape or () if n is not None)
        if shape is None or len(sizes) != len(shape):
            raise ValueError(
                f"feature {path!r} has the output shape {shape}, which must be known before the first step: give "
                "FeatureConfig(output_shape=...), or shapes or a batch size to build()"
            )
        found.append(sizes)
    return found


def _shapes_in(given: Any) -> list[Shape]:
    if isinstance(given, Mapping):
        return [shape for key in sorted(given) for shape in _shapes_in(given[key])]
    if isinstance(given, list | tuple) and not all(n is None or hasattr(n, "__index__") for n in given):
        return [shape for part in given for shape in _shapes_in(part)]
    return [shape_of(given)]
