"""Records the declared instruments and spans with the process's OpenTelemetry providers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import metrics, trace
from opentelemetry.metrics import Counter, Histogram, MeterProvider, UpDownCounter
from opentelemetry.trace import Span, Status, StatusCode, TracerProvider

from fairlane.errors import FairlaneError
from fairlane.telemetry.names import INSTRUMENTS, Instrument, InstrumentKind, SpanName

SCOPE: Final = "fairlane"


class Telemetry:
    """Records metrics and spans. The providers default to the process's own."""

    def __init__(self, meters: MeterProvider | None = None, tracers: TracerProvider | None = None) -> None:
        meter = (meters or metrics.get_meter_provider()).get_meter(SCOPE)
        self._tracer = (tracers or trace.get_tracer_provider()).get_tracer(SCOPE)
        self._sums: dict[str, Counter | UpDownCounter] = {}
        self._histograms: dict[str, Histogram] = {}
        for each in INSTRUMENTS:
            if each.kind is InstrumentKind.COUNTER:
                self._sums[each.name] = meter.create_counter(each.name, each.unit, each.meaning)
            elif each.kind is InstrumentKind.GAUGE:
                self._sums[each.name] = meter.create_up_down_counter(each.name, each.unit, each.meaning)
            else:
                self._histograms[each.name] = meter.create_histogram(each.name, each.unit, each.meaning)

    def add(self, instrument: Instrument, amount: int, *values: str) -> None:
        """Add to a counter; ``values`` are those of its attributes, in order."""
        self._sums[instrument.name].add(amount, dict(zip(instrument.attributes, values, strict=True)))

    def observe(self, instrument: Instrument, value: float, *values: str) -> None:
        """Record a value in a histogram; ``values`` are those of its attributes, in order."""
        self._histograms[instrument.name].record(value, dict(zip(instrument.attributes, values, strict=True)))

    @contextmanager
    def span(self, name: SpanName, *values: str) -> Iterator[Span]:
        """Trace the block. An exception marks the span as an error, with its code or class, never with its text."""
        attributes = dict(zip(name.attributes, values, strict=True))
        with self._tracer.start_as_current_span(
            name.name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                cause = error.code if isinstance(error, FairlaneError) else type(error).__name__
                span.set_status(Status(StatusCode.ERROR, cause))
                raise
