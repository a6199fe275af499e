"""While modules are loaded no garbage is collected; afterwards as it was before."""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradlab._base.loading import loaded

SAYS = "import gc\ncollects = gc.isenabled()\n"
MODULES = {
    "said": SAYS,
    "said_twice": f"{SAYS}from gradlab._base.loading import loaded\nsaid = loaded('said')\nstill = gc.isenabled()\n",
    "said_and_failed": f"{SAYS}raise LookupError(collects)\n",
    "said_and_waits": "import threading\nbegun, may_end = threading.Event(), threading.Event()\n"
    "begun.set()\nmay_end.wait()\n",
}


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules that say whether garbage is collected while they are loaded."""
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


def test_no_garbage_is_collected_while_a_module_is_loaded() -> None:
    assert not loaded("said").collects
    assert gc.isenabled()


def test_a_module_that_loads_another_goes_on_without_collections() -> None:
    module = loaded("said_twice")
    assert not (module.collects or module.said.collects or module.still)
    assert gc.isenabled()


def test_a_module_that_fails_leaves_the_collector_at_work() -> None:
    with pytest.raises(LookupError, match="False"):
        loaded("said_and_failed")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        loaded("said")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_a_child_that_is_forked_meanwhile_collects_its_garbage() -> None:
    thread = threading.Thread(target=loaded, args=("said_and_waits",))
    thread.start()
    while not hasattr(sys.modules.get("said_and_waits"), "may_end"):
        pass
    waits = sys.modules["said_and_waits"]
    waits.begun.wait()
    try:
        assert not gc.isenabled()
        if not (child := os.fork()):
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        waits.may_end.set()
        thread.join()
    assert gc.isenabled()
