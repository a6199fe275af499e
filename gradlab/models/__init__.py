"""Models that the labs train, their data, and the recordings that ship."""

from typing import TYPE_CHECKING

from .._base.suggest import only_modules as _only_modules

if TYPE_CHECKING:
    from . import char_rnn as char_rnn
    from . import datasets as datasets
    from . import logistic_regression as logistic_regression
    from . import reader_run as reader_run
    from . import surfaces as surfaces
    from . import tpu_runs as tpu_runs
    from . import word_topics as word_topics
else:
    __getattr__, __dir__ = _only_modules(__name__)

__all__ = [
    "char_rnn",
    "datasets",
    "logistic_regression",
    "reader_run",
    "surfaces",
    "tpu_runs",
    "word_topics",
]
