"""How a client's submissions reach the store, and how each is answered."""

import asyncio
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

from fairlane.errors import InvalidTask, Rejected, StoreUnavailable
from fairlane.lifecycle.collector import Collector
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.outbox import Outbox
from fairlane.lifecycle.submission import TaskSpec, Validator, refusal
from fairlane.store.messages import Submission, SubmitStatus
from fairlane.store.store import Store

if TYPE_CHECKING:
    from fairlane.lifecycle.client import Client

_AHEAD: Final = 2
"""Chunks of `submit_many` prepared or in flight while the next one is prepared."""

SubmitAnswer = TaskHandle | Rejected | StoreUnavailable
"""What `submit_many` says of one task. StoreUnavailable: it was not sent, or nobody knows whether it was accepted."""


class Submitter:
    """Checks specs, sends them in batches, and opens the handles of what was accepted."""

    def __init__(
        self, client: "Client", store: Store, collector: Collector, validator: Validator, *, batch: int
    ) -> None:
        self._client = client
        self._store = store
        self._collector = collector
        self._validator = validator
        self._batch = batch
        self._submits = Outbox("submit", self._submit, batch=batch, lanes=_AHEAD)

    async def drain(self) -> None:
        """Return when nothing is queued or in flight."""
        await self._submits.drain()

    async def submit(self, spec: TaskSpec) -> TaskHandle:
        """Submit one task; see `Client.submit`.

        Raises:
            Rejected: one of its kinds.
            StoreUnavailable: with the task in its context.
        """
        submission = self._validator.submission(spec)
        try:
            [answer] = await self._submits.put([submission])
        except StoreUnavailable as error:
            raise _unavailable(submission, error) from error
        if isinstance(answer, Rejected):
            raise answer
        return answer

    async def submit_many(self, specs: Iterable[TaskSpec]) -> list[SubmitAnswer]:
        """Submit many tasks, and return one answer per task in their order; none is raised.

        After the store was unavailable once, the rest is not sent.
        """
        answers: list[SubmitAnswer] = []
        ahead: deque[asyncio.Task[list[SubmitAnswer]]] = deque()
        remaining = iter(specs)
        failures: list[StoreUnavailable] = []
        try:
            while chunk := list(islice(remaining, self._batch)):
                ahead.append(asyncio.create_task(self._submit_chunk(chunk, failures)))
                if len(ahead) > _AHEAD:
                    answers += await ahead[0]
                    ahead.popleft()
            while ahead:
                answers += await ahead[0]
                ahead.popleft()
        finally:
            for chunk_task in ahead:
                chunk_task.cancel()
        return answers

    async def _submit_chunk(self, specs: list[TaskSpec], failures: list[StoreUnavailable]) -> list[SubmitAnswer]:
        """Answer each spec. ``failures`` is shared by the chunks of one call: after the first, nothing is sent."""
        submissions: list[Submission] = []
        invalid: dict[int, InvalidTask] = {}
        for index, spec in enumerate(specs):
            try:
                submissions.append(self._validator.submission(spec))
            except InvalidTask as error:
                invalid[index] = error
        answers: list[SubmitAnswer] = []
        if failures:
            unsent = StoreUnavailable(f"not sent: {failures[0].message}")
            answers += [_unavailable(submission, unsent) for submission in submissions]
        elif submissions:
            try:
                answers += await self._submits.put(submissions)
            except StoreUnavailable as error:
                failures.append(error)
                answers += [_unavailable(submission, error) for submission in submissions]
        for index, refused in invalid.items():
            answers.insert(index, refused)
        return answers

    async def _submit(self, submissions: list[Submission]) -> list[TaskHandle | Rejected]:
        """Send one batch. Its handles are open before it is sent: an end may overtake the reply."""
        collector = self._collector
        handles: list[TaskHandle] = []
        for submission in submissions:
            known = collector.known(submission.ref) if submission.named_by_caller else None
            handle = known or TaskHandle(self._client, submission.ref, submission.estimate or None)
            handles.append(handle)
            collector.add(handle)
        try:
            replies = await self._store.submit(submissions, self._client.id)
        except BaseException:
            for handle in handles:
                if not handle.admitted:
                    collector.remove(handle)
            raise
        answers: list[TaskHandle | Rejected] = list(handles)
        for index, reply in enumerate(replies):
            handle = handles[index]
            if reply.status is SubmitStatus.ACCEPTED:
                handle.admitted = True
            elif (refused := refusal(submissions[index], reply)) is not None:
                answers[index] = refused
                if not handle.admitted:
                    collector.remove(handle)
            else:
                handle.foreign = handle.foreign or not handle.admitted
                handle.admitted = True
                if not handle.ended:
                    collector.add(handle)
        return answers


def _unavailable(submission: Submission, error: StoreUnavailable) -> StoreUnavailable:
    ref = submission.ref
    return StoreUnavailable(
        f"task {ref}: {error.message}",
        outcome_known=error.outcome_known,
        tenant=ref.tenant,
        task_id=ref.id,
    )
