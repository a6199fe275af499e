"""The catalogue of update rules, in order of increasing complexity: one file each, one line here."""

from collections.abc import Mapping
from typing import Any

from ._rule import Rule as Rule
from .ada_max import AdaMax as AdaMax
from .adagrad import Adagrad as Adagrad
from .add_sign import AddSign as AddSign
from .ams_grad import AMSGrad as AMSGrad
from .momentum import Momentum as Momentum
from .power_sign import PowerSign as PowerSign
from .stochastic_gradient_descent import StochasticGradientDescent as StochasticGradientDescent

_CATALOGUE: tuple[type[Rule], ...] = (
    StochasticGradientDescent,
    Momentum,
    Adagrad,
    AdaMax,
    AddSign,
    PowerSign,
    AMSGrad,
)


def catalogue() -> dict[str, type[Rule]]:
    """Every rule by name. Not in TensorFlow.

    >>> list(catalogue())[:3]
    ['StochasticGradientDescent', 'Momentum', 'Adagrad']
    """
    return {rule.__name__: rule for rule in _CATALOGUE}


def from_config(config: Mapping[str, Any]) -> Rule:
    """The rule whose `get_config` gave this. Not in TensorFlow.

    Raises:
        ValueError: no "rule", or one that is not in the catalogue. TypeError: a name that is no field of the rule.

    >>> from_config(Momentum(0.5).get_config())
    Momentum(momentum=0.5, use_nesterov=False)
    """
    fields = dict(config)
    name = fields.pop("rule", None)
    if name not in catalogue():
        raise ValueError(f"config names the rule {name!r}; there are {', '.join(catalogue())}")
    return catalogue()[name](**fields)
