"""Turns a caller's task into a submission to the store, and a refusal by the store into an error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fairlane.domain.limits import (
    MAX_COST,
    MAX_DURATION_MS,
    MAX_PRIORITY,
    check_integer,
    check_task_id,
    check_tenant_id,
)
from fairlane.domain.task import OnUnknown, TaskRef
from fairlane.errors import (
    AdmissionClosed,
    CostAboveCeiling,
    IdempotencyConflict,
    InvalidTask,
    QueueFull,
    Rejected,
    UnknownTenant,
)
from fairlane.lifecycle.payload import encode, fingerprint
from fairlane.store.messages import Submission, SubmitStatus, Submitted

DEFAULT_PRIORITY: Final = 100
_REMEMBERED_TENANTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task to submit. ``payload`` is bytes or JSON-able; ``cost`` is the expected cost in units.

    Without a cost, a client that has an estimator estimates it from the payload. ``task_id`` is the caller's
    idempotency key; None: the client makes one. ``deadline_s`` is in seconds from admission.
    """

    tenant: str
    payload: object
    cost: int | None = None
    task_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    deadline_s: float | None = None
    on_unknown: OnUnknown = OnUnknown.RETRY


class Validator:
    """Checks specs and turns them into submissions, before anything is sent.

    ``price(tenant, payload)`` returns the estimate and the hold of a spec without a cost.
    """

    def __init__(
        self,
        new_id: Callable[[], str],
        *,
        max_payload_bytes: int,
        price: Callable[[str, object], tuple[int, int]] | None = None,
    ) -> None:
        self._new_id = new_id
        self._price = price
        self._max_payload_bytes = max_payload_bytes
        self._tenants: set[str] = set()

    def submission(self, spec: TaskSpec) -> Submission:
        """Return the submission.

        Raises:
            InvalidTask: names the field, its value and the accepted values.
        """
        tenant = spec.tenant
        if type(tenant) is not str or tenant not in self._tenants:
            self._learn(check_tenant_id(tenant))
        task_id = spec.task_id
        named = task_id is not None
        task_id = check_task_id(task_id) if named else self._new_id()
        cost = spec.cost
        price = self._price
        if cost is None:
            if price is None:
                raise InvalidTask(
                    "cost: missing, and this client has no estimator; give a cost, or configure client.estimates",
                    field="cost",
                )
        elif type(cost) is not int or not 1 <= cost <= MAX_COST:
            check_integer(cost, field="cost", lowest=1, highest=MAX_COST)
        priority = spec.priority
        if type(priority) is not int or not 0 <= priority <= MAX_PRIORITY:
            check_integer(priority, field="priority", lowest=0, highest=MAX_PRIORITY)
        deadline_ms = 0 if spec.deadline_s is None else _milliseconds(spec.deadline_s)
        if not isinstance(spec.on_unknown, OnUnknown):
            raise InvalidTask(f"on_unknown = {ascii(spec.on_unknown)[:60]}: must be an OnUnknown", field="on_unknown")
        payload = self._payload(spec.payload)
        ref = TaskRef(tenant, task_id)
        # Sized holds change over time, but a task submitted again without a cost must be the same task.
        digest = fingerprint(payload, cost or 0, priority, deadline_ms)
        if cost is None and price is not None:
            estimate, hold = price(tenant, spec.payload)
            return Submission(ref, hold, payload, digest, priority, deadline_ms, spec.on_unknown, named, estimate)
        return Submission(ref, cost or 0, payload, digest, priority, deadline_ms, spec.on_unknown, named)

    def _learn(self, tenant: str) -> None:
        if len(self._tenants) >= _REMEMBERED_TENANTS:
            self._tenants.clear()
        self._tenants.add(tenant)

    def _payload(self, value: object) -> bytes:
        try:
            payload = encode(value)
        except ValueError as error:
            raise InvalidTask(f"payload: {error}", field="payload") from None
        if len(payload) > self._max_payload_bytes:
            raise InvalidTask(
                f"payload has {len(payload)} bytes encoded: max_payload_bytes = {self._max_payload_bytes}",
                field="payload",
                size=len(payload),
                limit=self._max_payload_bytes,
            )
        return payload


def refusal(submission: Submission, answer: Submitted) -> Rejected | None:
    """Return the error for a refusal by the store; None if the store accepted or knew the task."""
    if answer.status is SubmitStatus.ACCEPTED or answer.status is SubmitStatus.EXISTING:
        return None
    ref = submission.ref
    kind, why = _REFUSALS[answer.status]
    message = f"task {ref}: {why}".format(cost=submission.cost, limit=answer.limit)
    return kind(message, tenant=ref.tenant, task_id=ref.id, limit=answer.limit)


_REFUSALS: Final[dict[SubmitStatus, tuple[type[Rejected], str]]] = {
    SubmitStatus.UNKNOWN_TENANT: (UnknownTenant, "no such tenant; an operator registers tenants"),
    SubmitStatus.QUEUE_FULL: (QueueFull, "its tenant already has {limit} waiting tasks, its queue_limit"),
    SubmitStatus.COST_ABOVE_CEILING: (CostAboveCeiling, "cost {cost} can never be admitted: at most {limit}"),
    SubmitStatus.CONFLICT: (IdempotencyConflict, "the id already names a different task"),
    SubmitStatus.CLOSED: (AdmissionClosed, "the pool takes no new tasks"),
}


def _milliseconds(deadline_s: object) -> int:
    longest = MAX_DURATION_MS // 1000
    if isinstance(deadline_s, int | float) and not isinstance(deadline_s, bool) and 0 < deadline_s <= longest:
        return math.ceil(deadline_s * 1000)
    raise InvalidTask(
        f"deadline_s = {ascii(deadline_s)[:60]}: must be a number above 0 and at most {longest}",
        field="deadline_s",
        value=ascii(deadline_s)[:60],
    )
