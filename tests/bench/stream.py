"""Hand-made event streams: one call per row, and one event per row unless rows are grouped."""

from bench.shared.evidence import Evidence
from bench.shared.recorder import Recorder
from fairlane.domain.event_decoder import decode_event
from fairlane.domain.events import Event


class Stream:
    """Writes events with gapless numbers at given server times."""

    def __init__(self, *tenants: tuple[str, int]) -> None:
        self.events: list[Event] = []
        self._fence = 0
        for tenant, weight in tenants:
            self.add(0, "put_tenants", ("tenant", tenant, weight, 0, 0))

    def add(self, at_ms: int, by: str, *rows: tuple[str | float, ...]) -> None:
        number = len(self.events) + 1
        self.events.append(decode_event(f"{at_ms}-{number}", number, at_ms, by, rows))

    def submit(self, at_ms: int, tenant: str, task: str, cost: int = 10, priority: int = 100) -> None:
        self.add(at_ms, "submit", ("pending", tenant, task, cost, priority))

    def hand(self, at_ms: int, tenant: str, task: str, cost: int = 10, to: str = "w1") -> int:
        self._fence += 1
        self.add(at_ms, "dispatch", ("enqueued", tenant, task, self._fence, cost, cost, to, 0.0, 0))
        return self._fence

    def start(self, at_ms: int, tenant: str, task: str, fence: int) -> None:
        self.add(at_ms, "start", ("active", tenant, task, fence))

    def end(
        self,
        at_ms: int,
        tenant: str,
        task: str,
        fence: int,
        kind: str = "completed",
        actual: int = 10,
        state: str = "completed",
        not_before: int = 0,
    ) -> None:
        self.add(at_ms, "settle", (kind, tenant, task, fence, actual, 0, 1000, state, not_before))

    def run(
        self, tenant: str, task: str, *, handed: int, until: int, submitted: int = 0, cost: int = 10, to: str = "w1"
    ) -> None:
        """A task that is submitted, handed over and started at once, and completes."""
        self.submit(submitted, tenant, task, cost)
        fence = self.hand(handed, tenant, task, cost, to)
        self.start(handed, tenant, task, fence)
        self.end(until, tenant, task, fence, actual=cost)

    def evidence(self) -> Evidence:
        recorder = Recorder()
        recorder.read(self.events)
        return recorder.evidence

    def by_time(self) -> Evidence:
        """The same rows in the order of their times, renumbered: for streams written task by task."""
        recorder = Recorder()
        ordered = sorted(self.events, key=lambda each: each.at_ms)
        recorder.read(
            Event(each.stream_id, number, each.at_ms, each.by, each.rows) for number, each in enumerate(ordered, 1)
        )
        return recorder.evidence
