"""The records of telemetry, in memory."""

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import Instrument


class Recording:
    """A Telemetry, and its records."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self._exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.telemetry = Telemetry(MeterProvider([self._reader]), self.tracers)

    def values(self, instrument: Instrument) -> dict[tuple[object, ...], float]:
        """Return the sum (for a histogram the count) by the values of its attributes in order."""
        data = self._reader.get_metrics_data()
        points = [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == instrument.name
            for point in metric.data.data_points
        ]
        return {
            tuple((point.attributes or {})[name] for name in instrument.attributes): (
                point.count if isinstance(point, HistogramDataPoint) else point.value  # type: ignore[union-attr]
            )
            for point in points
        }

    def spans(self) -> list[tuple[str, dict[str, object], str | None, bool]]:
        """Return name, attributes, error and whether it has a parent, for each span that has ended."""
        return [
            (span.name, dict(span.attributes or {}), span.status.description, span.parent is not None)
            for span in self._exporter.get_finished_spans()
        ]
