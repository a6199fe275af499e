"""Real data that needs no download: `gradlab.models.datasets`."""

from .models.datasets import breast_cancer, digits, python_docs

__all__ = ["breast_cancer", "digits", "python_docs"]


def __dir__() -> list[str]:
    return __all__
