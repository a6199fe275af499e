"""The catalogue of update rules, in order of increasing complexity: one file each, one line here."""

from collections.abc import Mapping
from typing import Any

from .ada_max import AdaMax as AdaMax
from .adadelta import Adadelta as Adadelta
from .adagrad import Adagrad as Adagrad
from .adagrad_da import AdagradDA as AdagradDA
from .adagrad_momentum import AdagradMomentum as AdagradMomentum
from .adam import Adam as Adam
from .add_sign import AddSign as AddSign
from .ams_grad import AMSGrad as AMSGrad
from .assign import Assign as Assign
from .bounded_adagrad import BoundedAdagrad as BoundedAdagrad
from .centered_rms_prop import CenteredRMSProp as CenteredRMSProp
from .frequency_aware_adagrad import FrequencyAwareAdagrad as FrequencyAwareAdagrad
from .frequency_estimator import FrequencyEstimator as FrequencyEstimator
from .ftrl import Ftrl as Ftrl
from .keras_momentum import KerasMomentum as KerasMomentum
from .laprop import LaProp as LaProp
from .lion import Lion as Lion
from .mdl_adagrad_light import MdlAdagradLight as MdlAdagradLight
from .momentum import Momentum as Momentum
from .online_yogi import OnlineYogi as OnlineYogi
from .power_sign import PowerSign as PowerSign
from .proximal_adagrad import ProximalAdagrad as ProximalAdagrad
from .proximal_gradient_descent import ProximalGradientDescent as ProximalGradientDescent
from .proximal_yogi import ProximalYogi as ProximalYogi
from .rms_prop import RMSProp as RMSProp
from .rule import Rule as Rule
from .stochastic_gradient_descent import StochasticGradientDescent as StochasticGradientDescent
from .user_defined import UserDefined as UserDefined

_CATALOGUE: tuple[type[Rule], ...] = (
    StochasticGradientDescent,
    Momentum,
    KerasMomentum,
    ProximalGradientDescent,
    Adagrad,
    BoundedAdagrad,
    ProximalAdagrad,
    AdagradMomentum,
    AdagradDA,
    FrequencyAwareAdagrad,
    Adadelta,
    RMSProp,
    CenteredRMSProp,
    Adam,
    AdaMax,
    AddSign,
    PowerSign,
    AMSGrad,
    ProximalYogi,
    LaProp,
    Lion,
    Ftrl,
    OnlineYogi,
    MdlAdagradLight,
    FrequencyEstimator,
    Assign,
    UserDefined,
)


def catalogue() -> dict[str, type[Rule]]:
    """Every rule by name. Not in TensorFlow.

    >>> list(catalogue())[:3]
    ['StochasticGradientDescent', 'Momentum', 'KerasMomentum']
    """
    return {rule.__name__: rule for rule in _CATALOGUE}


def from_config(config: Mapping[str, Any]) -> Rule:
    """The rule whose `get_config` gave this. Not in TensorFlow.

    Raises:
        ValueError: no "rule", or one that is not in the catalogue. TypeError: a name that is no field of the rule.

    >>> from_config(Momentum(0.5).get_config())
    Momentum(momentum=0.5, use_nesterov=False, order='dense')
    """
    fields = dict(config)
    name = fields.pop("rule", None)
    if name not in catalogue():
        raise ValueError(f"config names the rule {name!r}; there are {', '.join(catalogue())}")
    return catalogue()[name](**fields)
