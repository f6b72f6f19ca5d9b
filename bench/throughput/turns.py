"""Loads through real workers, in turns: the kinds of tenants one after the other, round after round.

A shared machine is slow for seconds at a time. Short turns side by side meet the same machine, so their ratio means
something even when no single figure does.
"""

from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from bench.shared.platform import Progress, Session
from bench.shared.recorder import Recorder
from bench.shared.session import ScenarioError, submit
from bench.throughput.measures import Turn, Turns
from bench.throughput.meter import Reading, read
from bench.throughput.scenario import ThroughputScenario
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.task import TaskState
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.store import Store

COST: Final = 1_000
WAIT_S: Final = 120.0
_PLENTY: Final = 10**9
_LIMITED: Final = TenantConfig(
    budget=BudgetConfig(limit_units=_PLENTY, period_ms=5_000),
    starts=WindowConfig(limit=_PLENTY, interval_ms=1_000),
    spend=WindowConfig(limit=_PLENTY, interval_ms=1_000),
)
"""Limits that hold no task back, so that only the cost of keeping them shows."""


@dataclass(frozen=True, slots=True)
class Tenants:
    """Tenants that are loaded together."""

    count: int
    limited: bool = False

    @property
    def ids(self) -> list[str]:
        """Their ids."""
        kind = "limited" if self.limited else "tenant"
        return [f"{kind}-of-{self.count}-{number:05}" for number in range(self.count)]


async def take_turns(scenario: ThroughputScenario, session: Session, progress: Progress) -> dict[Tenants, Turns]:
    """Load the kinds that each round is for, every other round in reverse; return the turns by kind.

    All tenants are registered throughout. A load starts with the tenant after the last one of its kind's load before.

    Raises:
        ScenarioError: a task was lost, or the event stream has a gap.
    """
    kinds = [Tenants(count) for count in scenario.tenant_counts]
    at = kinds.index(Tenants(scenario.limited_tenants)) + 1
    kinds.insert(at, Tenants(scenario.limited_tenants, limited=True))
    names = {kind: cycle(kind.ids) for kind in kinds}
    for kind in kinds:
        await session.store.put_tenants(dict.fromkeys(kind.ids, _LIMITED if kind.limited else TenantConfig()))
    turns: dict[Tenants, Turns] = {kind: {} for kind in kinds}
    compared = [kind for kind in kinds if kind.count == scenario.limited_tenants]
    for number in range(scenario.rounds):
        progress(f"{scenario.tasks:,} tasks of each kind of tenants, round {number + 1} of {scenario.rounds}")
        loaded = kinds if number % scenario.others_every == 0 else compared
        for kind in loaded if number % 2 == 0 else reversed(loaded):
            turns[kind][number] = await _load(session, list(islice(names[kind], scenario.tasks)))
    return turns


async def _load(session: Session, tenants: list[str]) -> Turn:
    """Drive one task of each tenant named, and read the events back."""
    store = session.store
    tasks = len(tenants)
    specs = [TaskSpec(tenant, {"n": number}, COST) for number, tenant in enumerate(tenants)]
    after = await store.last_event_id()
    before = await read(store)
    began_s = SYSTEM_CLOCK.monotonic_s()
    handles = await submit(session, specs)
    outcomes = await session.wait_many(handles, WAIT_S)
    elapsed_s = SYSTEM_CLOCK.monotonic_s() - began_s
    used = (await read(store)).since(before)
    lost = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    if lost:
        raise ScenarioError(f"{len(lost)} of {tasks} tasks have no result; the first: {lost[0]}")
    return _turn(tasks, elapsed_s, used, await _read_back(store, after, tasks))


def _turn(tasks: int, elapsed_s: float, used: Reading, events: int) -> Turn:
    return Turn(
        tasks_per_s=tasks / elapsed_s,
        calls_per_task=used.work_calls / tasks,
        cpu_us_per_task=used.cpu_s * 1_000_000 / tasks,
        commands_per_task={name: count / tasks for name, count in used.calls.items()},
        us_per_call={name: used.micros[name] / count for name, count in used.calls.items()},
        events=events,
    )


async def _read_back(store: Store, after: str, tasks: int) -> int:
    """Read the load's events; every task must have completed, exactly once."""
    recorder = Recorder()
    entries = 0
    while events := await store.events(after, 1_000):
        entries += len(events)
        after = events[-1].stream_id
        recorder.read(events)
    evidence = recorder.evidence
    if evidence.gap is not None:
        raise ScenarioError(f"the event stream is incomplete: {evidence.gap}")
    completed = sum(task.state is TaskState.COMPLETED for task in evidence.tasks.values())
    once = sum(attempt.ended_well for attempt in evidence.attempts.values())
    if (completed, once) != (tasks, tasks):
        raise ScenarioError(
            f"the events have {completed} completed tasks in {once} good attempts; expected {tasks} of each"
        )
    return entries
