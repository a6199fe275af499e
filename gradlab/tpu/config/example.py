"""A configuration that is small enough for examples."""

from __future__ import annotations

from ..proto import TPUEmbeddingConfiguration


def example_config(
    optimizer: str = "stochastic_gradient_descent", rows: int = 4, width: int = 1, batch: int = 2
) -> bytes:
    """The bytes of a configuration with one table "t", one feature of it, and the learning rate 0.5. Not in TensorFlow.

    Args:
        optimizer: the name of its message in `OptimizationParameters`.

    >>> from gradlab.tpu import plan_of
    >>> plan_of(example_config()).tables[0].rows
    4
    """
    config = TPUEmbeddingConfiguration(mode="TRAINING", batch_size_per_tensor_core=batch)
    table = config.table_descriptor.add(name="t", vocabulary_size=rows, dimension=width, num_features=1)
    getattr(table.optimization_parameters, optimizer).SetInParent()
    table.optimization_parameters.learning_rate.constant = 0.5
    return config.SerializeToString()
