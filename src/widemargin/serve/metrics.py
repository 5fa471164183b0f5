"""Figures for Prometheus (`/metrics`)."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from widemargin.serve.drift import DriftWatch
from widemargin.serve.registry import Registry

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Counts of requests, documents and labels, and the state of the models."""

    def __init__(self, models: Registry, drift: DriftWatch) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "widemargin_requests", "Requests that were answered.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "widemargin_request_seconds", "Time to answer.", ["route"], registry=registry, buckets=_SECONDS
        )
        self.in_flight = Gauge("widemargin_requests_in_flight", "Requests at work.", registry=registry)
        self._documents = Counter(
            "widemargin_documents", "Documents that were labeled.", ["model"], registry=registry
        )
        self._labels = Counter(
            "widemargin_labels", "Labels that were assigned.", ["model", "label"], registry=registry
        )
        self._kept: dict[tuple[Any, ...], Any] = {}
        registry.register(_ModelFigures(models, drift))

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._child(self._requests, route, str(status)).inc()
        self._child(self._seconds, route).observe(seconds)

    def labeled(self, model: str, labels: Iterable[Sequence[Any]], n_documents: int) -> None:
        """Count the labels of some documents."""
        self._child(self._documents, model).inc(n_documents)
        for label, count in Tally(label for several in labels for label in several).items():
            self._child(self._labels, model, str(label)).inc(count)

    def _child(self, metric: Any, *values: str) -> Any:
        """The figure with these values of its labels; looking it up in the library takes longer."""
        key = (id(metric), *values)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = metric.labels(*values)
        return found

    def text(self) -> bytes:
        """All figures, in the format of Prometheus."""
        return generate_latest(self._registry)


class _ModelFigures:
    """Figures that are read from the models when they are asked for, so that old versions leave no trace."""

    def __init__(self, models: Registry, drift: DriftWatch) -> None:
        self._models, self._drift = models, drift

    def describe(self) -> Iterator[Any]:
        yield from ()

    def collect(self) -> Iterator[Any]:
        info = GaugeMetricFamily(
            "widemargin_model_info", "The version that is served.", labels=["model", "version"]
        )
        stale = GaugeMetricFamily(
            "widemargin_model_stale",
            "1 if the file of the model is missing or damaged, so that an older one is served.",
            labels=["model"],
        )
        for model in self._models.models:
            info.add_metric([model.name, model.version], 1)
            stale.add_metric([model.name], float(model.problem is not None))
        loads = CounterMetricFamily(
            "widemargin_model_changes",
            "Changes of model files, by what became of them.",
            labels=["model", "outcome"],
        )
        for (name, outcome), count in self._models.loads.items():
            loads.add_metric([name, outcome], count)
        yield from (info, stale, loads)
        yield from self._drift_figures()

    def _drift_figures(self) -> Iterator[Any]:
        documents = GaugeMetricFamily(
            "widemargin_drift_documents", "Documents compared with those of training.", labels=["model"]
        )
        alarms = GaugeMetricFamily(
            "widemargin_drift_alarms", "Differences beyond what chance allows.", labels=["model"]
        )
        of = ["model", "group", "property"]
        expected = GaugeMetricFamily(
            "widemargin_drift_expected_share", "Share of left-out training documents.", labels=of
        )
        share = GaugeMetricFamily("widemargin_drift_share", "Share of requested documents.", labels=of)
        for model in self._models.models:
            state = self._drift.state(model)
            if state is None:
                continue
            documents.add_metric([model.name], state.documents)
            alarms.add_metric([model.name], state.alarms)
            for row in self._drift.shares(model):
                names = [model.name, row["group"], row["name"]]
                expected.add_metric(names, row["expected"])
                if row["found"] is not None:
                    share.add_metric(names, row["found"])
        yield from (documents, alarms, expected, share)
