"""Sends a client's submissions to the store in batches, and turns each reply into a handle or an error."""

import asyncio
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from fairlane.errors import InvalidTask, Rejected, StoreUnavailable
from fairlane.lifecycle.collector import Collector
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.outbox import Outbox
from fairlane.lifecycle.submission import TaskSpec, Validator, refusal
from fairlane.store.messages import Submission, SubmitStatus
from fairlane.store.store import Store

_AHEAD: Final = 2
"""Chunks of `submit_many` prepared or in flight while the next one is prepared."""

SubmitAnswer = TaskHandle | Rejected | StoreUnavailable
"""The answer of `submit_many` for one task.

StoreUnavailable: the task was not sent, or it is not known whether the store accepted it (``outcome_known``).
"""


class Submitter:
    """Checks specs, sends them in batches, and returns the handles of the tasks that the store accepts."""

    def __init__(self, store: Store, client_id: str, collector: Collector, validator: Validator, *, batch: int) -> None:
        self._store = store
        self._client_id = client_id
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
        """Answer each spec. The chunks of one call share ``failures``: after the first failure nothing is sent."""
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
        collector = self._collector
        handles = [collector.open(submission) for submission in submissions]
        try:
            replies = await self._store.submit(submissions, self._client_id)
        except BaseException:
            for handle in handles:
                collector.give_up(handle)
            raise
        answers: list[TaskHandle | Rejected] = []
        for submission, handle, reply in zip(submissions, handles, replies, strict=True):
            refused = refusal(submission, reply)
            if refused is None:
                collector.admit(handle, existing=reply.status is SubmitStatus.EXISTING)
                answers.append(handle)
            else:
                collector.give_up(handle)
                answers.append(refused)
        return answers


def _unavailable(submission: Submission, error: StoreUnavailable) -> StoreUnavailable:
    ref = submission.ref
    return StoreUnavailable(
        f"task {ref}: {error.message}",
        outcome_known=error.outcome_known,
        tenant=ref.tenant,
        task_id=ref.id,
    )
