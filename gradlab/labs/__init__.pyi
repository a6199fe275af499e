"""The labs as type checkers and editors see them. Written by `python -m tests.labs.signatures`."""

# ruff: noqa: I001
# fmt: off

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from matplotlib.figure import Figure

from ..record import Recorder
from . import _compare
from . import _tpu_embedding
from ._accumulators import lab as _accumulators
from ._adagrad import lab as _adagrad
from ._adagrad_libraries import lab as _adagrad_libraries
from ._clip_arrows import lab as _clip_arrows
from ._clip_libraries import lab as _clip_libraries
from ._clipping import lab as _clipping
from ._descent import lab as _descent
from ._gate_race import lab as _gate_race
from ._optimizers import lab as _optimizers
from ._run_adagrad import lab as _run_adagrad
from ._run_layers import lab as _run_layers
from ._run_staleness import lab as _run_staleness
from ._staleness import lab as _staleness
from ._staleness_effects import lab as _staleness_effects
from ._staleness_phases import lab as _staleness_phases
from ._staleness_races import lab as _staleness_races
from ._sync_replicas import lab as _sync_replicas
from ._tpu_embedding_run import lab as _tpu_embedding_run
from ._tpu_engines import lab as _tpu_engines
from ._word_rates import lab as _word_rates
from ._lab import Lab as Lab
from ._lab import Target as Target
from .placement_picture import PlacementPicture as PlacementPicture

def catalog() -> dict[str, type[Lab]]: ...

def from_link(link: str) -> Lab: ...

class _descent_controls(TypedDict, total=False):
    learning_rate: float
    step: int

class descent(_descent.descent):
    """Move the learning rate, and see gradient descent creep, arrive, jump across the minimum, or fly off."""

    def __init__(self, target: Literal["one_step", "largest"] | None = None, **initial:
        Unpack[_descent_controls]) -> None: ...
    def set(self, **params: Unpack[_descent_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_descent_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_descent_controls]
    ) -> str: ...

class _clipping_controls(TypedDict, total=False):
    limit: float
    method: Literal["global", "norm", "value"]
    run: str

class clipping(_clipping.clipping):
    """Drag a limit over the recorded gradients of a recurrent network and see what every step would have become."""

    def __init__(self, recording: str | PathLike[str] | Recorder | dict[float | None, Recorder] | None = None, *,
        target: Literal["keep_95", "turn_little"] | None = None, **initial: Unpack[_clipping_controls]) -> None: ...
    def set(self, **params: Unpack[_clipping_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_clipping_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_clipping_controls]
    ) -> str: ...

class _clip_arrows_controls(TypedDict, total=False):
    limit: float
    method: Literal["value", "norm", "average", "global"]
    others: float
    g1: float
    g2: float

class clip_arrows(_clip_arrows.clip_arrows):
    """Drag a two-entry gradient and see it clipped by value, norm, average norm or global norm."""

    def __init__(self, target: Literal["turn_25"] | None = None, **initial: Unpack[_clip_arrows_controls]) -> None: ...
    def set(self, **params: Unpack[_clip_arrows_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_clip_arrows_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_clip_arrows_controls]
    ) -> str: ...

class _clip_libraries_controls(TypedDict, total=False):
    case: Literal["above", "below", "at", "inf", "nan", "overflow", "zero", "limit_zero", "negative", "limit_inf"]

class clip_libraries(_clip_libraries.clip_libraries):
    """Choose an edge case and compare TensorFlow, Keras 3, optax, PyTorch and JAX's example optimizers entry by
    entry."""

    def __init__(self, target: None = None, **initial: Unpack[_clip_libraries_controls]) -> None: ...
    def set(self, **params: Unpack[_clip_libraries_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_clip_libraries_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_clip_libraries_controls]
    ) -> str: ...

class _gate_race_controls(TypedDict, total=False):
    step: int
    first: Literal["none_b", "none_a", "none_lucky", "op_b", "op_a", "graph_b"]
    second: Literal["none_b", "none_a", "none_lucky", "op_b", "op_a", "graph_b"]

class gate_race(_gate_race.gate_race):
    """Step through two schedules of the same gradient-descent step, and see an update overtake a gradient."""

    def __init__(self, target: Literal["b_wrong"] | None = None, **initial: Unpack[_gate_race_controls]) -> None: ...
    def set(self, **params: Unpack[_gate_race_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_gate_race_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_gate_race_controls]
    ) -> str: ...

class _adagrad_controls(TypedDict, total=False):
    step: int
    learning_rate: float
    descent_rate: float
    initial_accumulator: float
    surface: Literal["bowl", "tumors"]
    condition: float
    epsilon: float
    clip: float | None
    epsilon_place: Literal["outside", "inside", "none"]
    schedule: Literal["constant", "inverse", "exponential", "cosine"]
    start_1: float
    start_2: float

class adagrad(_adagrad.adagrad):
    """Walk Adagrad and gradient descent down a ravine step by step, and see what the accumulator makes of the rate."""

    def __init__(self, target: Literal["bottom_15", "descent_wins", "become_descent"] | None = None, **initial:
        Unpack[_adagrad_controls]) -> None: ...
    def set(self, **params: Unpack[_adagrad_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_adagrad_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_adagrad_controls]
    ) -> str: ...

class _adagrad_libraries_controls(TypedDict, total=False):
    step: int
    case: Literal["defaults", "matched", "epsilon", "zero", "nothing", "huge", "half"]
    reference: Literal["TensorFlow 1", "Keras legacy", "Keras 3", "optax", "PyTorch"]

class adagrad_libraries(_adagrad_libraries.adagrad_libraries):
    """Give five libraries' Adagrads the same gradients and see at which digit their weights part."""

    def __init__(self, target: None = None, **initial: Unpack[_adagrad_libraries_controls]) -> None: ...
    def set(self, **params: Unpack[_adagrad_libraries_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_adagrad_libraries_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_adagrad_libraries_controls]
    ) -> str: ...

class _word_rates_controls(TypedDict, total=False):
    step: int
    word: str
    learning_rate: float
    initial: float
    rule: Literal["adagrad", "descent"]

class word_rates(_word_rates.word_rates):
    """Every word of Python's documentation by how often it is seen and at what rate Adagrad moves its weights."""

    def __init__(self, target: Literal["rare_26", "level"] | None = None, **initial:
        Unpack[_word_rates_controls]) -> None: ...
    def set(self, **params: Unpack[_word_rates_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_word_rates_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_word_rates_controls]
    ) -> str: ...

class _optimizers_controls(TypedDict, total=False):
    step: int
    factor: float
    surface: Literal["bowl", "ravine", "turned", "rosenbrock", "saddle", "beale", "himmelblau", "plateau"]
    heavy: Literal["first", "second", "third", "fourth"]
    first: Literal["StochasticGradientDescent", "Momentum", "KerasMomentum", "ProximalGradientDescent", "Adagrad",
        "BoundedAdagrad", "ProximalAdagrad", "AdagradMomentum", "AdagradDA", "FrequencyAwareAdagrad", "RowWiseAdagrad",
        "Adadelta", "RMSProp", "CenteredRMSProp", "Adam", "AdaMax", "AddSign", "PowerSign", "AMSGrad",
        "PartialRowWiseAdam", "ProximalYogi", "LaProp", "Lion", "Ftrl", "OnlineYogi", "MdlAdagradLight"]
    second: Literal["StochasticGradientDescent", "Momentum", "KerasMomentum", "ProximalGradientDescent", "Adagrad",
        "BoundedAdagrad", "ProximalAdagrad", "AdagradMomentum", "AdagradDA", "FrequencyAwareAdagrad", "RowWiseAdagrad",
        "Adadelta", "RMSProp", "CenteredRMSProp", "Adam", "AdaMax", "AddSign", "PowerSign", "AMSGrad",
        "PartialRowWiseAdam", "ProximalYogi", "LaProp", "Lion", "Ftrl", "OnlineYogi", "MdlAdagradLight"]
    third: Literal["none", "StochasticGradientDescent", "Momentum", "KerasMomentum", "ProximalGradientDescent",
        "Adagrad", "BoundedAdagrad", "ProximalAdagrad", "AdagradMomentum", "AdagradDA", "FrequencyAwareAdagrad",
        "RowWiseAdagrad", "Adadelta", "RMSProp", "CenteredRMSProp", "Adam", "AdaMax", "AddSign", "PowerSign", "AMSGrad",
        "PartialRowWiseAdam", "ProximalYogi", "LaProp", "Lion", "Ftrl", "OnlineYogi", "MdlAdagradLight"]
    fourth: Literal["none", "StochasticGradientDescent", "Momentum", "KerasMomentum", "ProximalGradientDescent",
        "Adagrad", "BoundedAdagrad", "ProximalAdagrad", "AdagradMomentum", "AdagradDA", "FrequencyAwareAdagrad",
        "RowWiseAdagrad", "Adadelta", "RMSProp", "CenteredRMSProp", "Adam", "AdaMax", "AddSign", "PowerSign", "AMSGrad",
        "PartialRowWiseAdam", "ProximalYogi", "LaProp", "Lion", "Ftrl", "OnlineYogi", "MdlAdagradLight"]
    noise: float
    x: float
    y: float

class optimizers(_optimizers.optimizers):
    """Race any rules of the catalog over a loss of two weights, from a start that you drag."""

    def __init__(self, target: Literal["descent_wins", "valley"] | None = None, **initial:
        Unpack[_optimizers_controls]) -> None: ...
    def set(self, **params: Unpack[_optimizers_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_optimizers_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_optimizers_controls]
    ) -> str: ...

class _staleness_controls(TypedDict, total=False):
    now: int
    threshold: int
    policy: Literal["apply", "drop", "wait", "backup"]
    straggler: float
    workers: int
    spread: float
    step_first: bool
    atomic: bool

class staleness(_staleness.staleness):
    """Several workers train one set of weights: who reads which version, and what comes of gradients that are late."""

    def __init__(self, target: Literal["all_fed", "let_through"] | None = None, **initial:
        Unpack[_staleness_controls]) -> None: ...
    def set(self, **params: Unpack[_staleness_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_staleness_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_staleness_controls]
    ) -> str: ...

class _staleness_phases_controls(TypedDict, total=False):
    straggler: float
    measure: Literal["acceptance", "slow", "throughput", "staleness", "waiting"]
    policy: Literal["drop", "wait"]
    limit: int
    workers: int
    spread: float

class staleness_phases(_staleness_phases.staleness_phases):
    """Acceptance, throughput and staleness for every limit and every number of workers, while you drag their speeds."""

    def __init__(self, target: Literal["nine_of_ten", "not_starving"] | None = None, **initial:
        Unpack[_staleness_phases_controls]) -> None: ...
    def set(self, **params: Unpack[_staleness_phases_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_staleness_phases_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_staleness_phases_controls]
    ) -> str: ...

class _staleness_policies_controls(TypedDict, total=False):
    learning_rate: float
    straggler: float
    staleness: int
    momentum: float

class staleness_policies(_staleness_effects.staleness_policies):
    """Tell digits apart with eight workers under six policies for stale gradients: the loss by gradients and by
    time."""

    def __init__(self, target: Literal["all_learn", "slow_wait"] | None = None, **initial:
        Unpack[_staleness_policies_controls]) -> None: ...
    def set(self, **params: Unpack[_staleness_policies_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_staleness_policies_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params:
            Unpack[_staleness_policies_controls]
    ) -> str: ...

class _staleness_races_controls(TypedDict, total=False):
    event: int
    schedule: Literal["checks", "notes", "both", "turns"]
    atomic: bool
    step_first: bool
    threshold: int

class staleness_races(_staleness_races.staleness_races):
    """Step through moves of three workers, and see gradients accepted that are staler than the limit."""

    def __init__(self, target: Literal["over", "caught"] | None = None, **initial:
        Unpack[_staleness_races_controls]) -> None: ...
    def set(self, **params: Unpack[_staleness_races_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_staleness_races_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_staleness_races_controls]
    ) -> str: ...

class _staleness_models_controls(TypedDict, total=False):
    delay: int

class staleness_models(_staleness_effects.staleness_models):
    """Networks that read digits, trained with gradients that are up to `delay` updates stale."""

    def __init__(self, target: None = None, **initial: Unpack[_staleness_models_controls]) -> None: ...
    def set(self, **params: Unpack[_staleness_models_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_staleness_models_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_staleness_models_controls]
    ) -> str: ...

class _accumulators_controls(TypedDict, total=False):
    event: int
    needs: int
    pause: int
    second: int
    notes: Literal["read", "never", "ahead"]
    reduction: Literal["MEAN", "SUM"]

class accumulators(_accumulators.accumulators):
    """Four workers hand gradients to an accumulator, and takers in a queue wait for their mean."""

    def __init__(self, target: Literal["more", "dropped"] | None = None, **initial:
        Unpack[_accumulators_controls]) -> None: ...
    def set(self, **params: Unpack[_accumulators_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_accumulators_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_accumulators_controls]
    ) -> str: ...

class _sparse_accumulators_controls(TypedDict, total=False):
    event: int
    case: Literal["two", "words", "twice", "unsorted", "empty"]
    merge: Literal["gradlab", "tf"]

class sparse_accumulators(_accumulators.sparse_accumulators):
    """Gradients of some rows come to a sparse accumulator; every row has a sum and a count, and there are two means."""

    def __init__(self, target: Literal["apart"] | None = None, **initial:
        Unpack[_sparse_accumulators_controls]) -> None: ...
    def set(self, **params: Unpack[_sparse_accumulators_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_sparse_accumulators_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params:
            Unpack[_sparse_accumulators_controls]
    ) -> str: ...

class _sync_replicas_controls(TypedDict, total=False):
    event: int
    workers: int
    aggregate: int
    straggler: float
    start_tokens: int
    chief: int

class sync_replicas(_sync_replicas.sync_replicas):
    """Step through `SyncReplicasOptimizer`: workers push and wait for tokens, a chief takes the mean and puts them
    in."""

    def __init__(self, target: Literal["fast_fills", "more"] | None = None, **initial:
        Unpack[_sync_replicas_controls]) -> None: ...
    def set(self, **params: Unpack[_sync_replicas_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_sync_replicas_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_sync_replicas_controls]
    ) -> str: ...

class _backup_workers_controls(TypedDict, total=False):
    aggregate: int

class backup_workers(_sync_replicas.backup_workers):
    """Sixteen workers read digits in rounds; a round ends with the first `aggregate` gradients, the others are
    dropped."""

    def __init__(self, target: Literal["half_round"] | None = None, **initial:
        Unpack[_backup_workers_controls]) -> None: ...
    def set(self, **params: Unpack[_backup_workers_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_backup_workers_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_backup_workers_controls]
    ) -> str: ...

class _tpu_embedding_controls(TypedDict, total=False):
    row: int
    step: int
    rule: Literal["sgd", "momentum", "adagrad", "adagrad_momentum", "bounded_adagrad", "proximal_adagrad",
        "frequency_aware", "adadelta", "rms_prop", "centered_rms_prop", "adam", "adam_corrected", "proximal_yogi",
        "lion", "ftrl", "online_yogi", "mdl_adagrad_light"]
    zipf: float
    combiner: Literal["sum", "mean", "sqrtn"]
    learning_rate: float
    duplicates: float
    last: Literal["ordinary", "empty", "zero", "drop", "clamp", "wrap", "raise"]
    accumulate: bool
    clip: Literal["none", "sum", "contribution"]
    decay: Literal["none", "before", "after", "multiply"]

class tpu_embedding(_tpu_embedding.tpu_embedding):
    """Follow the ids of a batch to the rows of an embedding table and the gradients on their way back."""

    def __init__(self, target: Literal["moved_by_nothing", "farther_alone"] | None = None, **initial:
        Unpack[_tpu_embedding_controls]) -> None: ...
    def set(self, **params: Unpack[_tpu_embedding_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_tpu_embedding_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_tpu_embedding_controls]
    ) -> str: ...

class _tpu_embedding_run_controls(TypedDict, total=False):
    zipf: float
    step: int
    strategy: Literal["div", "mod"]
    rule: Literal["sgd", "momentum", "adagrad", "adagrad_momentum", "bounded_adagrad", "proximal_adagrad",
        "frequency_aware", "adadelta", "rms_prop", "centered_rms_prop", "adam", "adam_corrected", "proximal_yogi",
        "lion", "ftrl", "online_yogi", "mdl_adagrad_light"]
    rate_words: float
    rate_users: float
    pipelined: bool

class tpu_embedding_run(_tpu_embedding_run.tpu_embedding_run):
    """Train two embedding tables whose rows are dealt out over eight devices, each table with its own learning rate."""

    def __init__(self, target: Literal["late_but_low", "one_device"] | None = None, **initial:
        Unpack[_tpu_embedding_run_controls]) -> None: ...
    def set(self, **params: Unpack[_tpu_embedding_run_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_tpu_embedding_run_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_tpu_embedding_run_controls]
    ) -> str: ...

class _tpu_engines_controls(TypedDict, total=False):
    limit: int
    beyond: Literal["refuse", "drop", "split"]
    rule: Literal["sgd", "adagrad", "adagrad_momentum", "adam", "ftrl"]
    combiner: Literal["sum", "mean", "sqrtn"]
    zipf: float
    duplicates: float
    row: int

class tpu_engines(_tpu_engines.tpu_engines):
    """Hand the ids of one batch to the classic engine and to two SparseCores, and let a table sum gradients or not."""

    def __init__(self, target: Literal["dropped", "four"] | None = None, **initial:
        Unpack[_tpu_engines_controls]) -> None: ...
    def set(self, **params: Unpack[_tpu_engines_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_tpu_engines_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_tpu_engines_controls]
    ) -> str: ...

class _run_layers_controls(TypedDict, total=False):
    limit: float
    method: Literal["norm", "global"]
    tensor: str
    show: str

class run_layers(_run_layers.run_layers):
    """See layer by layer how often a limit fires on a recorded run, and drag another limit over it."""

    def __init__(self, recording: str | PathLike[str] | Recorder | None = None, *, target: Literal["one_alone",
        "not_as_usual"] | None = None, **initial: Unpack[_run_layers_controls]) -> None: ...
    def set(self, **params: Unpack[_run_layers_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_run_layers_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_run_layers_controls]
    ) -> str: ...

class _run_adagrad_controls(TypedDict, total=False):
    step: int
    below: float
    initial: float
    entry: str

class run_adagrad(_run_adagrad.run_adagrad):
    """Run Adagrad over a recorded run and see which entries are held back by their past, and which have no gradient."""

    def __init__(self, recording: str | PathLike[str] | Recorder | None = None, *, target: Literal["recovers",
        "past_counts"] | None = None, **initial: Unpack[_run_adagrad_controls]) -> None: ...
    def set(self, **params: Unpack[_run_adagrad_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_run_adagrad_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_run_adagrad_controls]
    ) -> str: ...

class _run_staleness_controls(TypedDict, total=False):
    limit: int
    workers: int
    straggler: float
    speeds: Literal["measured", "equal"]

class run_staleness(_run_staleness.run_staleness):
    """Let several workers share a recorded run: how stale gradients come, what a limit drops, how much still agrees."""

    def __init__(self, recording: str | PathLike[str] | Recorder | None = None, *, target: Literal["kept_fresh",
        "worth_having"] | None = None, **initial: Unpack[_run_staleness_controls]) -> None: ...
    def set(self, **params: Unpack[_run_staleness_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_run_staleness_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_run_staleness_controls]
    ) -> str: ...

class _compare_controls(TypedDict, total=False):
    limit: float
    tensor: str | None

class compare(_compare.compare):
    """Put recorded runs on the same axes: see where they part, and how often one limit fires on each."""

    def __init__(self, *recordings: str | PathLike[str] | Recorder, names: Sequence[str] | None = None, target:
        Literal["one_run_only"] | None = None, **initial: Unpack[_compare_controls]) -> None: ...
    def set(self, **params: Unpack[_compare_controls]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[_compare_controls]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[_compare_controls]
    ) -> str: ...
