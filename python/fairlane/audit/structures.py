"""Rule `structure`: a task is in exactly the structures that belong to its state.

    pending, queued    pending:<tenant>; deadline timer if it has a deadline
    pending, waiting   ready timer; deadline timer
    enqueued           flight; handed:<worker>; deadline timer
    active             flight; cancelling:<worker> if somebody cancelled it
    ended              a TTL, nothing else

An active task keeps its deadline timer until it fires.
"""

from collections.abc import Iterator

from fairlane.audit.violation import Rule, Violation
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.stored import Stored, StoredTask

Entry = tuple[str, str]
"""A structure and the member in it."""


def check_structures(stored: Stored) -> Iterator[Violation]:
    """Compare where tasks are with where their states say they should be."""
    wanted: dict[Entry, int] = {}
    for task in stored.tasks.values():
        wanted.update(_places_of(task))
    found = dict(_entries(stored))
    for entry, score in wanted.items():
        if entry not in found:
            yield _violation(entry, "missing", f"score {score}")
        elif found[entry] != score:
            yield _violation(entry, f"score {found[entry]}", f"score {score}")
    for entry in found.keys() - wanted.keys():
        if not _fired_later(entry, stored):
            yield _violation(entry, f"there, with its task {_state_of(entry, stored)}", "not there")
    yield from _check_records(stored)


def _places_of(task: StoredTask) -> Iterator[tuple[Entry, int]]:
    numbers, name = task.numbers, str(task.ref)
    if task.queued:
        yield (f"pending:{task.ref.tenant}", task.member), numbers["score"]
    elif task.waiting:
        yield ("timers", f"ready:{name}"), numbers["ready_at"]
    elif task.in_flight:
        if task.state is TaskState.ENQUEUED:
            yield (f"handed:{task.worker}", name), numbers["fence"]
        if numbers["cancel"]:
            yield (f"cancelling:{task.worker}", name), numbers["fence"]
    if numbers["deadline"] and task.state in {TaskState.PENDING, TaskState.ENQUEUED}:
        yield ("timers", f"deadline:{name}"), numbers["deadline"]


def _entries(stored: Stored) -> Iterator[tuple[Entry, int]]:
    for kind, groups in (("pending", stored.pending), ("handed", stored.handed), ("cancelling", stored.cancelling)):
        for group, members in groups.items():
            for member, score in members.items():
                yield (f"{kind}:{group}", member), score
    for timer, at in stored.timers.items():
        if timer.startswith(("deadline:", "ready:")):
            yield ("timers", timer), at


def _fired_later(entry: Entry, stored: Stored) -> bool:
    """Return whether this is the deadline timer of a task in flight: nothing removes it before it fires."""
    structure, member = entry
    task = _task_of(entry, stored)
    return structure == "timers" and member.startswith("deadline:") and task is not None and task.in_flight


def _task_of(entry: Entry, stored: Stored) -> StoredTask | None:
    structure, member = entry
    kind, _, group = structure.partition(":")
    if kind == "pending":
        return stored.tasks.get(TaskRef(group, member.partition(":")[2]))
    name = member.partition(":")[2] if kind == "timers" else member
    tenant, _, task = name.partition(":")
    return stored.tasks.get(TaskRef(tenant, task))


def _state_of(entry: Entry, stored: Stored) -> str:
    task = _task_of(entry, stored)
    return "without a record" if task is None else task.state.value


def _check_records(stored: Stored) -> Iterator[Violation]:
    fences: dict[int, TaskRef] = {}
    for ref, task in stored.tasks.items():
        fence = task.numbers["fence"]
        if not task.in_flight:
            continue
        if fence in fences:
            yield Violation(Rule.STRUCTURE, f"task:{ref}", f"fence {fence}, as {fences[fence]}", "a fence of its own")
        if not 0 < fence <= stored.pool["fence"]:
            yield Violation(Rule.STRUCTURE, f"task:{ref}", f"fence {fence}", f"1 to {stored.pool['fence']}")
        fences[fence] = ref


def _violation(entry: Entry, found: str, expected: str) -> Violation:
    return Violation(Rule.STRUCTURE, f"{entry[0]} {entry[1]}", found, expected)
