"""The views of all labs, in states that fill them, for tests that hold for every figure."""

from collections.abc import Callable
from typing import Any

from gradlab import exercises, labs
from gradlab.live.drawing.style import DARK
from gradlab.live.scene import Scene
from gradlab.models import char_rnn


def revealed(name: str, **guess: float) -> exercises.Prediction:
    """A prediction with its result, and with the guess moved on."""
    prediction = exercises.predict(name, **guess)
    prediction.reveal()
    prediction.set(guess_1=guess["guess_1"] / 2)
    return prediction


STATES: dict[str, Callable[[], Any]] = {
    "descent": lambda: labs.descent(learning_rate=1.7, step=2),
    "descent, gone": lambda: labs.descent(learning_rate=2.2, step=9),
    "descent, slow": lambda: labs.descent(learning_rate=0.05, step=12),
    "clipping": lambda: labs.clipping(limit=1.0),
    "clipping by value": lambda: labs.clipping(limit=0.1, method="value"),
    "arrows": lambda: labs.clip_arrows(),
    "arrows, global": lambda: labs.clip_arrows(method="global", g1=-6.0, g2=-6.0, others=1.5),
    "libraries": lambda: labs.clip_libraries(),
    "libraries, errors": lambda: labs.clip_libraries(case="zero"),
    "libraries, moved": lambda: labs.clip_libraries(case="at"),
    "adagrad": lambda: labs.adagrad(),
    "adagrad, tumors": lambda: labs.adagrad(
        surface="tumors",
        step=60,
        epsilon=0.3,
        schedule="cosine",
        descent_rate=5.0,
        initial_accumulator=1e-4,
    ),
    "five adagrads": lambda: labs.adagrad_libraries(),
    "five adagrads, refused": lambda: labs.adagrad_libraries(
        case="nothing", step=12, reference="optax"
    ),
    "gate": lambda: labs.gate_race(),
    "gate, raced": lambda: labs.gate_race(step=4),
    "gate race": lambda: labs.gate_race(step=4),
    "gate race, waiting": lambda: labs.gate_race(step=1, first="op_a", second="graph_b"),
    "words": lambda: labs.word_rates(),
    "words, at the start": lambda: labs.word_rates(step=0, word="transformation"),
    "words, one rate": lambda: labs.word_rates(rule="descent", word="class"),
    "race": lambda: labs.optimizers(),
    "race, at the start": lambda: labs.optimizers(
        surface="rosenbrock", third="none", fourth="none", step=0
    ),
    "race, long names": lambda: labs.optimizers(
        surface="himmelblau",
        first="ProximalGradientDescent",
        third="FrequencyAwareAdagrad",
        factor=0.01,
    ),
    "staleness": lambda: labs.staleness(),
    "staleness, races": lambda: labs.staleness(workers=8, step_first=False, atomic=False),
    "staleness, waiting": lambda: labs.staleness(policy="wait", threshold=0, now=700),
    "staleness and models": lambda: labs.staleness_models(delay=16),
    "accumulator": lambda: labs.accumulators(event=21, needs=3, second=1, pause=3),
    "accumulator, just taken": lambda: labs.accumulators(
        event=32, needs=2, pause=10, reduction="SUM"
    ),
    "accumulator, forgotten step": lambda: labs.accumulators(event=32, notes="never"),
    "rows": lambda: labs.sparse_accumulators(case="words", event=6),
    "rows, as TensorFlow has them": lambda: labs.sparse_accumulators(
        case="unsorted", merge="tf", event=3
    ),
    "rows, none": lambda: labs.sparse_accumulators(event=0),
    "tokens": lambda: labs.sync_replicas(event=20, straggler=2.0),
    "tokens, left over": lambda: labs.sync_replicas(event=40, straggler=4.0, workers=4),
    "tokens, stuck": lambda: labs.sync_replicas(aggregate=3, workers=2, start_tokens=0, event=30),
    "spare workers": lambda: labs.backup_workers(aggregate=12),
    "phases": lambda: labs.staleness_phases(),
    "phases, starving": lambda: labs.staleness_phases(
        measure="slow", straggler=3.0, limit=24, workers=1
    ),
    "phases, waiting": lambda: labs.staleness_phases(
        measure="throughput", policy="wait", straggler=3.0
    ),
    "policies": lambda: labs.staleness_policies(),
    "policies, lost": lambda: labs.staleness_policies(learning_rate=3.0, momentum=0.9),
    "sequence of races": lambda: labs.staleness_races(),
    "sequence, repaired": lambda: labs.staleness_races(
        schedule="both", atomic=True, step_first=True
    ),
    "sequence, begun": lambda: labs.staleness_races(schedule="both", event=9),
    "table": lambda: labs.tpu_embedding(step=3, row=1),
    "table, seven lookups of a row": lambda: labs.tpu_embedding(
        zipf=1.5, rule="centered_rms_prop", clip="sum"
    ),
    "table, an id dropped": lambda: labs.tpu_embedding(
        zipf=0.0, last="drop", row=17, rule="mdl_adagrad_light"
    ),
    "table, refused": lambda: labs.tpu_embedding(last="raise"),
    "two tables": lambda: labs.tpu_embedding_run(),
    "two tables, late": lambda: labs.tpu_embedding_run(
        pipelined=True, zipf=2.0, strategy="mod", step=30
    ),
    "engines": lambda: labs.tpu_engines(zipf=1.5, limit=4),
    "engines, split": lambda: labs.tpu_engines(limit=2, beyond="split"),
    "engines, refused": lambda: labs.tpu_engines(limit=1, beyond="refuse"),
    "run's layers": lambda: labs.run_layers(),
    "run's layers, globally": lambda: labs.run_layers(method="global", limit=1.5, show="layers"),
    "run's entries": lambda: labs.run_adagrad(),
    "run's entries, at the start": lambda: labs.run_adagrad(step=0, entry="embed[0, 0]"),
    "run's staleness": lambda: labs.run_staleness(),
    "run's staleness, dropped": lambda: labs.run_staleness(
        workers=16, limit=0, straggler=5.0, speeds="equal"
    ),
    "runs compared": lambda: labs.compare(),
    "runs compared, a tensor": lambda: labs.compare(tensor="hidden", limit=0.1),
    "five runs compared": lambda: labs.compare(
        *char_rnn.shipped().values(), names=("none", "0.1", "0.3", "1", "3")
    ),
    "curve guessed": lambda: exercises.predict("clipping.share"),
    "curve revealed": lambda: revealed("clipping.turn", guess_1=20.0),
    "number guessed": lambda: exercises.predict("clipping.spikes"),
    "number revealed": lambda: revealed("clipping.spikes", guess_1=30.0),
}


class Shown:
    """A view in one of these states and its scene."""

    def __init__(self, state: str) -> None:
        self.lab = STATES[state]()
        self.view, self._trace = self.lab.make_view(), self.lab.compute(self.lab.params)
        self.lab.draw(self.view, self._trace)
        self.scene = Scene(self.view.figure, DARK)

    def arrange(self, narrow: bool) -> None:
        self.scene.rearranged(lambda: self.view.arrange(narrow))
        self.lab.draw(self.view, self._trace)
