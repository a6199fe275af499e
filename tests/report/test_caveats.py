"""Caveats: those that hold for this recording, and no others."""

import pytest

from gradlab.report._run import Run
from gradlab.report.caveats import section
from tests.report.conftest import Recorded

MERGED, SAMPLED, NONE = "each row stands for 2 steps", "computed on 5 entries of 44 entries", "holds no single entries"


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, []), ({"rows": 16}, [MERGED]), ({"entries": 5}, [SAMPLED]), ({"entries": 0}, [NONE])],
    ids=["plain", "merged", "sampled", "no entries"],
)
def test_only_what_holds_is_said(options: dict[str, int], said: list[str], recorded: Recorded) -> None:
    body = section(Run(recorded(**options), None, 0)).body()
    assert "With another limit the weights, and so all later gradients, would have been different." in body
    assert [words for words in (MERGED, SAMPLED, NONE) if words in body] == said
