"""The catalogue of update rules, in order of increasing complexity: one file each, one line here."""

from ._rule import Rule as Rule
from .momentum import Momentum as Momentum
from .stochastic_gradient_descent import StochasticGradientDescent as StochasticGradientDescent

_CATALOGUE: tuple[type[Rule], ...] = (StochasticGradientDescent, Momentum)


def catalogue() -> dict[str, type[Rule]]:
    """Every rule by name. Not in TensorFlow.

    >>> list(catalogue())
    ['StochasticGradientDescent', 'Momentum']
    """
    return {rule.__name__: rule for rule in _CATALOGUE}
