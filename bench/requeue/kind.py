"""A throttled task, as a kind of scenario."""

from bench.requeue.drive import drive
from bench.requeue.metrics import RequeueMetrics
from bench.requeue.scenario import THROTTLE_REQUEUE
from bench.requeue.tables import tables
from bench.shared.kind import Kind

REQUEUE = Kind(scenarios=(THROTTLE_REQUEUE,), metrics=RequeueMetrics, drive=drive, tables=tables)
