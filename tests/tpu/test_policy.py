"""Every unknown of the engine is a choice with a name; what each choice does is tested where it acts."""

import dataclasses
from typing import Any

import pytest

from gradlab.tpu import Policy


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Policy)])
def test_a_choice_that_is_none_is_refused(name: str) -> None:
    given: Any = {name: "perhaps"}
    with pytest.raises(ValueError, match=rf"{name} must be one of .*{getattr(Policy(), name)}.*; got 'perhaps'"):
        Policy(**given)


def test_a_policy_is_a_value() -> None:
    assert Policy() == Policy() != Policy(out_of_range="drop")
    assert len({Policy(), Policy()}) == 1


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Policy)])
def test_every_choice_is_explained(name: str) -> None:
    assert f"{name}: " in (Policy.__doc__ or "")
