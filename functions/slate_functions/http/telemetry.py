"""Tells CloudWatch what an app does: structured logs and metrics in the embedded format. For Lambda handlers."""

from __future__ import annotations

from dataclasses import asdict

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from slate_functions.http.observing import Fault, Served


class LambdaObserver:
    """One line a request, and metrics by route; refusals are counted apart from faults of ours."""

    def __init__(self, service: str) -> None:
        # Named here, not by the environment, so that a function says the same of itself wherever it runs.
        self._logger = Logger(service=service, log_uncaught_exceptions=False)
        self._metrics = Metrics(namespace="Slate", service=service)

    def served(self, served: Served) -> None:
        """Log a request and count it."""
        self._logger.info("served", extra=asdict(served))
        self._metrics.add_dimension("route", served.route)
        self._metrics.add_metric("Requests", MetricUnit.Count, 1)
        self._metrics.add_metric("Latency", MetricUnit.Milliseconds, served.milliseconds)
        self._metrics.add_metric("Refusals", MetricUnit.Count, int(served.code is not None and not served.fault))
        self._metrics.add_metric("Faults", MetricUnit.Count, int(served.fault))
        self._metrics.flush_metrics()

    def failed(self, fault: Fault) -> None:
        """Log a fault."""
        self._logger.error("failed", extra=asdict(fault))
