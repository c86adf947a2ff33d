"""What the service counts, in the form that Prometheus reads."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
#: Requests whose times tell what is usual now.
RECENT = 2000
#: Of each model: name in its status, name of the metric, what it is, whether it only grows.
OF_MODELS = (
    ("rows", "okspca_rows", "Rows learned.", True),
    ("rows_waiting", "okspca_rows_waiting", "Rows in the journal, not yet learned.", False),
    ("rows_set_aside", "okspca_rows_set_aside", "Rows that were set aside.", True),
    ("pending", "okspca_rows_pending", "Rows that wait for their target.", False),
    ("expired", "okspca_rows_expired", "Rows whose target never came.", True),
    ("evicted", "okspca_rows_evicted", "Rows that had to make room for later ones.", True),
    ("sources", "okspca_sources", "Sources with sequence numbers.", False),
    ("journal_bytes", "okspca_journal_bytes", "Length of the journal.", False),
    ("rows_since_checkpoint", "okspca_rows_since_checkpoint", "Rows no checkpoint has.", False),
)


class Metrics:
    """Counters of requests, and a look at every model when somebody reads them.

    Parameters
    ----------
    statuses : callable
        Returns the status of every model.
    """

    def __init__(self, statuses: Callable[[], Iterable[dict[str, Any]]]) -> None:
        self.registry = CollectorRegistry()
        own, labels = self.registry, ("route", "status")
        self._requests = Counter("okspca_requests", "Requests.", labels, registry=own)
        self._seconds = Histogram(
            "okspca_request_seconds", "Time of requests.", ("route",), buckets=SECONDS, registry=own
        )
        self.ready = Gauge("okspca_ready", "Whether all models do what they should.", registry=own)
        self.registry.register(_Models(statuses))
        self._recent: deque[tuple[float, float]] = deque(maxlen=RECENT)

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        self._recent.append((time.monotonic(), seconds))

    def text(self) -> bytes:
        """All metrics."""
        found: bytes = generate_latest(self.registry)
        return found

    def recent(self) -> dict[str, Any]:
        """Requests a second, and how long they took, in the last seconds."""
        now = time.monotonic()
        last = [seconds for then, seconds in list(self._recent) if now - then <= 5.0]
        ordered = sorted(last)
        shares = {"p50": 0.5, "p99": 0.99}
        latency = {
            name: 1e3 * ordered[int(share * (len(ordered) - 1))] if ordered else None
            for name, share in shares.items()
        }
        return {"requests_per_second": len(last) / 5.0, "latency_ms": latency}


class _Models(Collector):
    """Looks at the models when metrics are read."""

    def __init__(self, statuses: Callable[[], Iterable[dict[str, Any]]]) -> None:
        self._statuses = statuses

    def collect(self) -> Iterator[Any]:
        """One family for each number of a model's status."""
        statuses = list(self._statuses())
        for name, metric, told, grows in OF_MODELS:
            kind = CounterMetricFamily if grows else GaugeMetricFamily
            family = kind(metric, told, labels=["model"])
            for status in statuses:
                family.add_metric([status["name"]], status[name])
            yield family
