"""One run of a fairness scenario, ready to be measured: the evidence, the clock's origin, and what counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from bench.fairness.scenario import FairnessScenario, TenantLoad
from bench.shared.evidence import Attempt, Delta, Evidence, Task
from bench.shared.session import CallSpan
from fairlane.domain.task import TaskRef


@dataclass(frozen=True)
class Observation:
    """What a run left behind. ``origin_ms`` is the server's time when the scenario's clock started."""

    scenario: FairnessScenario
    evidence: Evidence
    origin_ms: int
    calls: Mapping[TaskRef, CallSpan]

    @property
    def loads(self) -> tuple[TenantLoad, ...]:
        """The scenario's tenants."""
        return self.scenario.tenants

    @property
    def from_ms(self) -> int:
        """First server millisecond of the observation window."""
        return self.origin_ms + self.scenario.timing.observe_from_ms

    @property
    def until_ms(self) -> int:
        """First server millisecond after the observation window."""
        return self.origin_ms + self.scenario.timing.observe_until_ms

    @property
    def end_ms(self) -> int:
        """Server millisecond at which admission closed and cancelling began."""
        return self.origin_ms + self.scenario.timing.run_ms

    def offset(self, at_ms: int) -> int:
        """Return a server time as milliseconds since the clock started."""
        return at_ms - self.origin_ms

    @cached_property
    def attempts(self) -> dict[str, list[Attempt]]:
        """Every attempt of each of the scenario's tenants; what warmed the workers up is not among them."""
        attempts: dict[str, list[Attempt]] = {load.id: [] for load in self.loads}
        for attempt in self.evidence.attempts.values():
            if attempt.ref.tenant in attempts:
                attempts[attempt.ref.tenant].append(attempt)
        return attempts

    def all_attempts(self) -> Iterator[Attempt]:
        """Yield the attempts of all tenants of the scenario."""
        for attempts in self.attempts.values():
            yield from attempts

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of all tenants of the scenario."""
        return (task for task in self.evidence.tasks.values() if task.ref.tenant in self.attempts)

    @cached_property
    def counted(self) -> dict[str, list[Attempt]]:
        """By tenant, the successful starts: attempts that started inside the window and ended well."""
        return {
            tenant: [each for each in attempts if each.ended_well and self.in_window(each)]
            for tenant, attempts in self.attempts.items()
        }

    def in_window(self, attempt: Attempt) -> bool:
        """Say whether the attempt started inside the observation window."""
        return attempt.active is not None and self.from_ms <= attempt.active.at_ms < self.until_ms

    def waiting(self, tenant: str) -> list[Delta]:
        """Return the changes of the number of tasks submitted and not started."""
        trace = self.evidence.tenants.get(tenant)
        return trace.waiting if trace is not None else []


def sampled(changes: list[Delta], first_ms: int, until_ms: int, step_ms: int) -> list[int]:
    """Sample a count at first_ms, first_ms + step_ms … before until_ms. A change counts from its own millisecond."""
    values = []
    at, count = 0, 0
    for sample_ms in range(first_ms, until_ms, step_ms):
        while at < len(changes) and changes[at].at_ms <= sample_ms:
            count += changes[at].change
            at += 1
        values.append(count)
    return values
