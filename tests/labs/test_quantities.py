"""Quantities that are declared once: the .csv file has all of them, the tooltip those with a label."""

import numpy as np

from gradlab.labs._quantities import TraceQuantity, csv_columns, tooltip_values

QUANTITIES = (
    TraceQuantity("step", lambda trace: np.arange(len(trace))),
    TraceQuantity("norm_before", lambda trace: trace, "norm before"),
    TraceQuantity("norm_after", lambda trace: trace.clip(max=1.0), "norm after"),
)


def test_the_file_has_every_quantity_in_the_order_of_their_table() -> None:
    columns = csv_columns(QUANTITIES, np.array([0.5, 2.0]))

    assert list(columns) == ["step", "norm_before", "norm_after"]
    assert columns["norm_after"].tolist() == [0.5, 1.0]


def test_the_tooltip_has_those_with_a_label() -> None:
    values = tooltip_values(QUANTITIES, np.array([0.5, 2.0]))

    assert list(values) == ["norm before", "norm after"]
    assert values["norm before"].tolist() == [0.5, 2.0]
