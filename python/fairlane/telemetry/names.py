"""Every counter, histogram and span, declared once. docs/telemetry.md is generated from this module.

Attributes of instruments take few values: enum members, names of strategies and kinds of workers. Ids of workers and
tasks are attributes of spans only, which are not aggregated.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class InstrumentKind(StrEnum):
    """How the values of an instrument add up."""

    COUNTER = "counter"
    GAUGE = "up-down counter"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Instrument:
    """A metric. ``unit`` is UCUM: ``s``, or the name of the counted thing in braces."""

    name: str
    kind: InstrumentKind
    unit: str
    meaning: str
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpanName:
    """A traced span."""

    name: str
    meaning: str
    attributes: tuple[str, ...] = ()


TASKS: Final = Instrument(
    "fairlane.workers.tasks",
    InstrumentKind.COUNTER,
    "{task}",
    "tasks that have ended; outcome is completed or an error code",
    ("strategy", "outcome"),
)
TASK_DURATION: Final = Instrument(
    "fairlane.workers.task.duration",
    InstrumentKind.HISTOGRAM,
    "s",
    "time from assign to the task's end, including waits and retries",
    ("strategy", "outcome"),
)
SLOT_WAIT: Final = Instrument(
    "fairlane.workers.slot.wait",
    InstrumentKind.HISTOGRAM,
    "s",
    "time that an attempt waited for a free slot",
    ("strategy",),
)
WAITING: Final = Instrument(
    "fairlane.workers.waiting", InstrumentKind.GAUGE, "{task}", "tasks waiting for a free slot", ("strategy",)
)
RETRIES: Final = Instrument(
    "fairlane.workers.retries",
    InstrumentKind.COUNTER,
    "{attempt}",
    "retries, by the code of the error that caused them",
    ("strategy", "code"),
)
ATTEMPTS: Final = Instrument(
    "fairlane.workers.attempts",
    InstrumentKind.COUNTER,
    "{attempt}",
    "attempts that have ended; outcome is completed or an error code",
    ("kind", "outcome"),
)
ATTEMPT_DURATION: Final = Instrument(
    "fairlane.workers.attempt.duration",
    InstrumentKind.HISTOGRAM,
    "s",
    "time that a worker executed an attempt",
    ("kind", "outcome"),
)
LOAD: Final = Instrument("fairlane.workers.load", InstrumentKind.GAUGE, "{slot}", "slots in use", ("kind",))
WORKERS: Final = Instrument(
    "fairlane.workers.count",
    InstrumentKind.GAUGE,
    "{worker}",
    "workers between start and stop, by status",
    ("kind", "status"),
)
HEALTH_CHECKS: Final = Instrument(
    "fairlane.workers.health.checks",
    InstrumentKind.COUNTER,
    "{check}",
    "health checks; outcome is healthy, unhealthy, timeout or error",
    ("kind", "outcome"),
)
HEALTH_DURATION: Final = Instrument(
    "fairlane.workers.health.duration",
    InstrumentKind.HISTOGRAM,
    "s",
    "time that a health check took",
    ("kind", "outcome"),
)
RESTARTS: Final = Instrument(
    "fairlane.workers.restarts",
    InstrumentKind.COUNTER,
    "{restart}",
    "restarts of failed workers; outcome is restarted, failed or given_up",
    ("kind", "outcome"),
)

ASSIGN: Final = SpanName("fairlane.workers.assign", "one task, from assign to its end", ("task.id", "strategy"))
EXECUTE: Final = SpanName("fairlane.workers.execute", "one attempt on one worker", ("task.id", "worker.id", "kind"))
CHECK: Final = SpanName("fairlane.workers.check", "one health check", ("worker.id", "kind"))
RESTART: Final = SpanName("fairlane.workers.restart", "one restart of a failed worker", ("worker.id", "kind"))

INSTRUMENTS: Final = (
    TASKS,
    TASK_DURATION,
    SLOT_WAIT,
    WAITING,
    RETRIES,
    ATTEMPTS,
    ATTEMPT_DURATION,
    LOAD,
    WORKERS,
    HEALTH_CHECKS,
    HEALTH_DURATION,
    RESTARTS,
)
SPANS: Final = (ASSIGN, EXECUTE, CHECK, RESTART)
