"""Two replicas that step together: what is summed, and when clips act."""

from __future__ import annotations

from typing import Any

from tests.golden.build import Json, do, scenario

ONE = [[[3.0, 4.0, 0.0]], [[1.0, 0.0, 2.0]]]  # by replica, then by variable
TWO = [[[3.0, 4.0, 0.0], [12.0, 0.0, 0.0]], [[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]]]
ADAGRAD = {"class": "Adagrad", "kwargs": {"learning_rate": 0.1}}


def scenarios() -> list[Json]:
    own = {"experimental_aggregate_gradients": False}
    return [
        replicas("sum", ADAGRAD, ONE, [{}, {}]),
        replicas("momentum", sgd(momentum=0.9), ONE, [{}, {}]),
        replicas("mean_by_hand", sgd(), ONE, [own], pre="mean"),
        replicas("mean_summed_again", sgd(), ONE, [{}], pre="mean"),
        *(replicas(name, sgd(**{name: 1.0}), TWO, [{}]) for name in ("clipnorm", "clipvalue", "global_clipnorm")),
        replicas("none", sgd(), [[grads[0], None] for grads in TWO], [{}]),
    ]


def sgd(**kwargs: Any) -> Json:
    return {"class": "SGD", "kwargs": {"learning_rate": 1.0, **kwargs}}


def replicas(name: str, opt: Json, grads: list[Any], calls: list[Json], **more: Any) -> Json:
    given = {"opt": opt, "grads": grads, **more}
    steps = [do("step", **call) for call in calls]
    return scenario("replicas", f"keras.replicas.{name}", steps, mode="replicas", input=given)
