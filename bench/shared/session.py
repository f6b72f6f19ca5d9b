"""Steps that drivers share: warm a scheduler's workers up, submit, and read what is left after the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.shared.evidence import Evidence
from bench.shared.metrics import EndMetrics
from bench.shared.platform import Progress, Session
from bench.shared.watch import Watch
from fairlane.audit import check_invariants
from fairlane.clock import RANDOM_IDS
from fairlane.domain.task import TaskRef
from fairlane.errors import FairlaneError
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec

WARM_UP: Final = "warm-up"
"""The tenant of the tasks that warm workers up."""
UNLIMITED: Final = 1_000_000
"""Calls at once that a provider takes when only the pool is to limit."""
_WARM_UP_ROUNDS: Final = 50
_TIMEOUT_S: Final = 30.0


class ScenarioError(FairlaneError):
    """The scenario could not be carried out, so it shows nothing."""

    code = "scenario"


@dataclass(frozen=True)
class Arrival:
    """One task to submit."""

    at_ms: int
    tenant: str
    task_id: str
    takes_ms: int
    cost: int
    priority: int

    def spec(self) -> TaskSpec:
        """Return the task as it is submitted."""
        return TaskSpec(
            self.tenant,
            {"ms": self.takes_ms, "units": self.cost},
            self.cost,
            task_id=self.task_id,
            priority=self.priority,
        )


@dataclass(frozen=True, slots=True)
class CallSpan:
    """When a call entered and left by the provider's own marks, in microseconds of the server's clock."""

    entered_us: int
    left_us: int


def fresh_name(purpose: str) -> str:
    """Return a name for a scheduler or for keys that nothing else on the server has."""
    return f"bench-{purpose}-{RANDOM_IDS.new_id()[:8]}"


async def warm_up(session: Session, watch: Watch, workers: int, slots: int, progress: Progress) -> None:
    """Let every worker run something, then leave no trace of it but in the event stream.

    Raises:
        ScenarioError: a worker took nothing.
    """
    progress("warming up")
    evidence = watch.recorder.evidence
    for _ in range(_WARM_UP_ROUNDS):
        handles = await submit(session, [TaskSpec(WARM_UP, {"ms": 20, "units": 1}, 1) for _ in range(2 * slots)])
        await session.wait_many(handles, _TIMEOUT_S)
        await catch_up(session, watch)
        worked = {evidence.worker_of(each) for each in evidence.attempts.values() if each.active is not None}
        if len(worked) == workers:
            await session.remove_tenant(WARM_UP)
            return
    raise ScenarioError(f"only {len(worked)} of {workers} workers took work while warming up")


async def submit(session: Session, specs: Sequence[TaskSpec]) -> list[TaskHandle]:
    """Submit tasks of which none may be refused.

    Raises:
        ScenarioError: one was refused.
    """
    handles = []
    for answer in await session.submit_many(specs):
        if not isinstance(answer, TaskHandle):
            raise ScenarioError(f"a submit was refused: {answer}")
        handles.append(answer)
    return handles


async def catch_up(session: Session, watch: Watch) -> None:
    """Read all events there are."""
    await watch.catch_up((await session.store.snapshot()).pool.events, _TIMEOUT_S)


async def leftovers(session: Session, watch: Watch) -> EndMetrics:
    """Return what is still held, which attempts hang, and what an audit finds, when nothing runs any more."""
    violations = await check_invariants(session.store)
    left = (await session.store.snapshot()).pool
    await watch.catch_up(left.events, _TIMEOUT_S)
    hanging = [each for each in watch.recorder.evidence.attempts.values() if each.ended is None]
    return EndMetrics(
        potential_orphans=[f"{each.ref} (fence {each.fence})" for each in hanging],
        left_in_flight={"slots": left.slots, "cost": left.cost},
        violations=[str(violation) for violation in violations],
    )


def complete(evidence: Evidence) -> Evidence:
    """Return the evidence of a stream that was read from its beginning.

    Raises:
        ScenarioError: an event is missing.
    """
    if evidence.gap is not None or evidence.first_number != 1:
        raise ScenarioError(f"the event stream is incomplete: {evidence.gap or 'its beginning is missing'}")
    return evidence


def spans_of(handles: Sequence[TaskHandle], outcomes: Sequence[object]) -> dict[TaskRef, CallSpan]:
    """Return the provider's marks of the calls that completed."""
    spans = {}
    for handle, outcome in zip(handles, outcomes, strict=True):
        match outcome:
            case {"entered_us": int(entered_us), "left_us": int(left_us)}:
                spans[handle.ref] = CallSpan(entered_us, left_us)
    return spans
