"""One name of the repository: whatever else is written of it, README and notebooks included, agrees."""

import re
from pathlib import Path

import pytest

from gradlab import _repository

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"(?:mybinder\.org/v2/gh|research\.google\.com/github|git\+https://github\.com)/([\w.-]+/[\w.-]+)")


@pytest.mark.parametrize(
    "path", ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("notebooks/*.ipynb"))]
)
def test_links_lead_to_the_repository(path: str) -> None:
    named = set(NAMED.findall((ROOT / path).read_text("utf-8")))
    assert named <= {_repository.REPOSITORY}, "grep -rlI OLD . | xargs sed -i 's#OLD#NEW#' changes all of them"


def test_the_readme_opens_the_first_notebook() -> None:
    assert _repository.on_binder("00_start_here.ipynb") in (ROOT / "README.md").read_text("utf-8")
