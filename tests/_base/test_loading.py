"""While modules are loaded no garbage is collected; afterwards as it was before."""

import gc
import sys
from pathlib import Path

import pytest

from gradlab._base.loading import loaded, without_collections


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that say whether garbage is collected while they are loaded."""
    says = "import gc\ncollects = gc.isenabled()\n"
    (tmp_path / "said.py").write_text(says)
    (tmp_path / "said_twice.py").write_text(f"{says}from gradlab._base.loading import loaded\nsaid = loaded('said')\n")
    (tmp_path / "said_and_failed.py").write_text(f"{says}raise LookupError(collects)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


@pytest.mark.usefixtures("written")
def test_no_garbage_is_collected_while_a_module_is_loaded() -> None:
    assert not loaded("said").collects
    assert gc.isenabled()


@pytest.mark.usefixtures("written")
def test_a_module_that_loads_another_goes_on_without_collections() -> None:
    module = loaded("said_twice")
    assert not module.collects
    assert not module.said.collects
    assert gc.isenabled()


@pytest.mark.usefixtures("written")
def test_a_module_that_fails_leaves_the_collector_at_work() -> None:
    with pytest.raises(LookupError, match="False"):
        loaded("said_and_failed")
    assert gc.isenabled()


@pytest.mark.usefixtures("written")
def test_who_has_switched_the_collector_off_finds_it_off() -> None:
    gc.disable()
    try:
        loaded("said")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nothing_is_collected_within_one_of_two_that_ends_first() -> None:
    with without_collections():
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
