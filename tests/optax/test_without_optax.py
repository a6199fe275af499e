"""Without optax: the module loads, its functions say what to install."""

import re
import sys
from typing import Any

import pytest

import gradlab as gl
from gradlab._base.extras import how_to_install


@pytest.mark.parametrize(
    "use",
    [
        lambda: gl.optax.from_rule(gl.rules.Adagrad(), 0.1),
        lambda: gl.optax.clip_by_norm(1.0),
        lambda: gl.record.optax(gl.Recorder()),
    ],
)
def test_without_optax_the_error_names_the_extra(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optax", None)
    with pytest.raises(ImportError, match=re.escape(how_to_install("optax"))):
        use()
