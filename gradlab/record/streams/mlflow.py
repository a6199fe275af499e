"""Steps as metrics of an MLflow run."""

from __future__ import annotations

import time
from typing import Any

from ..._base.extras import need
from .sink import PREFIX, Steps

_MOST = 1000  # metrics in a request


class MLflow:
    """A run by its id, whose metrics are sent many at a time."""

    most = 50

    def __init__(self, run_id: str) -> None:
        mlflow = need("mlflow", "rec.stream to MLflow", "mlflow")
        self._client, self._metric, self._run = (
            mlflow.MlflowClient(),
            mlflow.entities.Metric,
            run_id,
        )
        self.name = "MLflow"

    def begin(self, steps: Steps) -> int:
        history = self._client.get_metric_history(self._run, f"{PREFIX}global_norm")
        return max((metric.step + 1 for metric in history), default=0)

    def write(self, steps: Steps) -> None:
        now = int(time.time() * 1000)
        metrics = [
            self._metric(PREFIX + name, x, now, step)
            for step, values in steps
            for name, x in values.items()
        ]
        for start in range(0, len(metrics), _MOST):
            self._client.log_batch(self._run, metrics=metrics[start : start + _MOST])

    def flush(self) -> None:
        """Each request has been answered."""

    def close(self) -> None:
        """Leave the run open: it belongs to the code that began it."""


def current() -> MLflow:
    """The run that is active in this process, or a new one, which ends as MLflow ends them."""
    mlflow: Any = need("mlflow", "rec.stream to MLflow", "mlflow")
    return MLflow((mlflow.active_run() or mlflow.start_run()).info.run_id)
