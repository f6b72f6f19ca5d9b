"""A group with a supervisor and the events that it reports."""

from fairlane.clock import Rng
from fairlane.config.workers import SupervisorConfig
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.supervisor import Supervisor, SupervisorEvent, SupervisorEventKind
from tests.support.virtual_time import VirtualClock, now_s
from tests.support.worker_members import ScriptedMember
from tests.support.worker_telemetry import Recording

RESTARTED, RESTART_FAILED, GAVE_UP = SupervisorEventKind
CONFIG = SupervisorConfig(
    backoff_base_ms=1_000, backoff_cap_ms=8_000, max_restarts=5, window_ms=60_000, start_timeout_ms=500
)


class Highest:
    """A source of chance that draws the upper end, so that waits are known."""

    def uniform(self, low: float, high: float) -> float:
        return high


class Supervised:
    """A group, a supervisor that has not been entered yet, and its events."""

    def __init__(self, *members: ScriptedMember, config: SupervisorConfig = CONFIG, rng: Rng | None = None) -> None:
        self.group = WorkerGroup(members)
        self.events: list[SupervisorEvent] = []
        self.observed_s: list[float] = []
        self.recording = Recording()
        self.supervisor = Supervisor(
            self.group,
            config,
            clock=VirtualClock(),
            rng=rng or Highest(),
            telemetry=self.recording.telemetry,
            observer=self._see,
        )

    def _see(self, event: SupervisorEvent) -> None:
        self.events.append(event)
        self.observed_s.append(now_s())

    def observed(self) -> list[tuple[SupervisorEventKind, float, int]]:
        """The kind and the time of each event, and the number of restarts within the window."""
        return [(event.kind, at_s, event.restarts) for event, at_s in zip(self.events, self.observed_s, strict=True)]


async def failed(*members: ScriptedMember) -> None:
    for member in members:
        await member.start()
        member.fail("broken")
        member.started_s.clear()
