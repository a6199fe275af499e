"""The catalog of update rules, in order of increasing complexity.

A rule is one dataclass with one formula, in a file of its own; `rule.py` has its contract and says
how to add one. `dense_and_sparse.py` applies a rule to arrays and slices.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from .ada_max import AdaMax
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adagrad_da import AdagradDA
from .adagrad_momentum import AdagradMomentum
from .adam import Adam
from .add_sign import AddSign
from .ams_grad import AMSGrad
from .assign import Assign
from .bounded_adagrad import BoundedAdagrad
from .centered_rms_prop import CenteredRMSProp
from .clippy_adagrad import ClippyAdagrad
from .dense_and_sparse import every_row, sparse
from .frequency_aware_adagrad import FrequencyAwareAdagrad
from .frequency_estimator import FrequencyEstimator
from .ftrl import Ftrl
from .in_place import dense, each, rows
from .keras_momentum import KerasMomentum
from .lamb import Lamb
from .laprop import LaProp
from .lars import LARS
from .lion import Lion
from .mdl_adagrad_light import MdlAdagradLight
from .momentum import Momentum
from .muon import Muon
from .nadam import Nadam
from .online_yogi import OnlineYogi
from .partial_row_wise_adam import PartialRowWiseAdam
from .power_sign import PowerSign
from .proximal_adagrad import ProximalAdagrad
from .proximal_gradient_descent import ProximalGradientDescent
from .proximal_yogi import ProximalYogi
from .rms_prop import RMSProp
from .row_wise_adagrad import RowWiseAdagrad
from .rule import Rule, Shared, Slots
from .schedule_free_adam import ScheduleFreeAdam
from .schedule_free_sgd import ScheduleFreeSGD
from .shampoo import Shampoo
from .soap import SOAP
from .stochastic_gradient_descent import StochasticGradientDescent
from .user_defined import UserDefined

__all__ = [
    "LARS",
    "SOAP",
    "AMSGrad",
    "AdaMax",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "AdagradDA",
    "AdagradMomentum",
    "Adam",
    "AddSign",
    "Assign",
    "BoundedAdagrad",
    "CenteredRMSProp",
    "ClippyAdagrad",
    "FrequencyAwareAdagrad",
    "FrequencyEstimator",
    "Ftrl",
    "KerasMomentum",
    "LaProp",
    "Lamb",
    "Lion",
    "MdlAdagradLight",
    "Momentum",
    "Muon",
    "Nadam",
    "OnlineYogi",
    "PartialRowWiseAdam",
    "PowerSign",
    "ProximalAdagrad",
    "ProximalGradientDescent",
    "ProximalYogi",
    "RMSProp",
    "RowWiseAdagrad",
    "Rule",
    "ScheduleFreeAdam",
    "ScheduleFreeSGD",
    "Shampoo",
    "Shared",
    "Slots",
    "StochasticGradientDescent",
    "UserDefined",
    "catalog",
    "dense",
    "each",
    "every_row",
    "from_config",
    "rows",
    "sparse",
    "tensor_rules",
]

_CATALOG: tuple[type[Rule], ...] = (
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
    RowWiseAdagrad,
    Adadelta,
    RMSProp,
    CenteredRMSProp,
    Adam,
    AdaMax,
    AddSign,
    PowerSign,
    AMSGrad,
    Nadam,
    ScheduleFreeSGD,
    ScheduleFreeAdam,
    PartialRowWiseAdam,
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
_TENSOR_RULES: tuple[type[Rule], ...] = (
    LARS,
    ClippyAdagrad,
    Lamb,
    Adafactor,
    SOAP,
    Muon,
    Shampoo,
)


def catalog() -> dict[str, type[Rule]]:
    """Return every rule of rows by name; those that keep one entry for a whole row name it in `row_slots`.

    Not in TensorFlow.

    >>> list(catalog())[:3]
    ['StochasticGradientDescent', 'Momentum', 'KerasMomentum']
    >>> [name for name, rule in catalog().items() if rule.row_slots]
    ['RowWiseAdagrad', 'PartialRowWiseAdam']
    """
    return {rule.__name__: rule for rule in _CATALOG}


def tensor_rules() -> dict[str, type[Rule]]:
    """Return every tensor rule by name: rules that read whole tensors, so that no table can have them.

    Not in TensorFlow.

    >>> list(tensor_rules())
    ['LARS', 'ClippyAdagrad', 'Lamb', 'Adafactor', 'SOAP', 'Muon', 'Shampoo']
    """
    return {rule.__name__: rule for rule in _TENSOR_RULES}


def from_config(config: Mapping[str, Any]) -> Rule:
    """Return the rule whose `get_config` returned this. Not in TensorFlow.

    Raises:
        ValueError: no "rule", or one that is neither in the catalog nor a tensor rule.
        TypeError: a name that isn't a field of the rule.

    >>> from_config(Momentum(0.5).get_config())
    Momentum(momentum=0.5, use_nesterov=False, order='dense')
    """
    fields = dict(config)
    name = fields.pop("rule", None)
    known = catalog() | tensor_rules()
    if name not in known:
        raise ValueError(f"config names the rule {name!r}; there are {', '.join(known)}")
    return known[name](**fields)


if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
