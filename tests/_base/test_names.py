"""Names as readers see them."""

import pytest

from gradlab._base.names import printable
from tests.hostile import NAMES


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_name_is_one_line_that_can_be_written_anywhere(name: str) -> None:
    shown = printable(name)
    assert shown.isprintable()
    assert len(shown) == len(name)
    assert shown.encode().decode() == shown
    assert printable(shown) == shown
