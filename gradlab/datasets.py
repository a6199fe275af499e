"""Real data that needs no download: `gradlab.models.datasets`."""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from .models.datasets import breast_cancer, digits, python_docs

__all__ = ["breast_cancer", "digits", "python_docs"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
