"""The caller's side: submit tasks, wait for them, ask for them, cancel them."""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from types import TracebackType
from typing import Final, Self

from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, IdGenerator, Rng, system_rng
from fairlane.config import ClientConfig
from fairlane.domain.limits import check_task_id, check_tenant_id
from fairlane.domain.task import OnUnknown, TaskRef, TaskView
from fairlane.errors import InvalidTask, Rejected, ResultTimeout, StoreUnavailable
from fairlane.lifecycle.collector import Collector
from fairlane.lifecycle.handle import TaskHandle, Wait, outcomes
from fairlane.lifecycle.outbox import Outbox
from fairlane.lifecycle.submission import DEFAULT_PRIORITY, TaskSpec, Validator, refusal
from fairlane.store.messages import CancelStatus, Submission, SubmitStatus
from fairlane.store.store import Store

_AHEAD: Final = 2
"""Chunks of `submit_many` prepared or in flight while the next one is prepared."""

SubmitAnswer = TaskHandle | Rejected | StoreUnavailable
"""What `submit_many` says of one task. StoreUnavailable: it was not sent, or nobody knows whether it was accepted."""


class Client:
    """Submits to one scheduler. Owns its background collector, not the store.

    Every await may be cancelled: what has not been sent is not sent; what has been sent goes on and its answer is
    logged.
    """

    def __init__(
        self,
        store: Store,
        config: ClientConfig | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        ids: IdGenerator = RANDOM_IDS,
        rng: Rng | None = None,
    ) -> None:
        config = config or ClientConfig()
        self.id = ids.new_id()
        """Who the store tells of ended tasks; a fresh one for each client."""
        self._store = store
        self._batch = config.batch
        self._validator = Validator(ids.new_id, max_payload_bytes=config.max_payload_bytes)
        self._collector = Collector(
            store, self.id, heartbeat_s=config.heartbeat_ms / 1000, clock=clock, rng=rng or system_rng()
        )
        self._submits = Outbox("submit", self._submit, batch=config.batch, lanes=_AHEAD)
        self._gets = Outbox("get", store.get, batch=config.batch)
        self._cancels = Outbox("cancel", store.cancel, batch=config.batch)
        self._collecting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Start collecting results on the running loop."""
        if self._collecting is None:
            self._collecting = asyncio.create_task(self._collector.run())

    async def close(self) -> None:
        """Finish what has been sent and stop. Who still waits for a result gets StoreUnavailable."""
        for outbox in (self._submits, self._gets, self._cancels):
            await outbox.drain()
        collecting, self._collecting = self._collecting, None
        if collecting is not None:
            collecting.cancel()
            await asyncio.gather(collecting, return_exceptions=True)

    async def submit(
        self,
        tenant: str,
        payload: object,
        *,
        cost: int,
        task_id: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        deadline_s: float | None = None,
        on_unknown: OnUnknown = OnUnknown.RETRY,
    ) -> TaskHandle:
        """Submit one task; concurrent submits share a call.

        The same ``task_id`` with the same task returns that task, whoever submitted it first.

        Raises:
            Rejected: one of its kinds; nothing was written.
            StoreUnavailable: with ``task_id`` in its context; if its outcome is not known, submitting again
                under that id is safe.
        """
        self._check_open()
        spec = TaskSpec(tenant, payload, cost, task_id, priority, deadline_s, on_unknown)
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
        self._check_open()
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

    async def get(self, tenant: str, task_id: str) -> TaskView | None:
        """Return a task as it is now, None if the store does not know it (any more).

        Raises:
            InvalidTask: an id that no task can have.
            StoreUnavailable: the store cannot be asked.
        """
        [view] = await self._gets.put([TaskRef(check_tenant_id(tenant), check_task_id(task_id))])
        return view

    async def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Ask for a task's end. A task that runs is stopped through its worker; its end then follows.

        Raises:
            InvalidTask: an id that no task can have.
            StoreUnavailable: says whether the cancel may have been done; repeating it is safe.
        """
        [status] = await self._cancels.put([TaskRef(check_tenant_id(tenant), check_task_id(task_id))])
        return status

    async def wait_many(self, handles: Sequence[TaskHandle], timeout_s: float | None = None) -> list[object]:
        """Wait for all and return, in their order, each result or the TaskLost that says why there is none.

        Raises:
            ResultTimeout: not all have ended within ``timeout_s``; those that have keep their result.
        """
        await self.wait_for(handles, timeout_s)
        return outcomes(handles)

    async def wait_for(self, handles: Sequence[TaskHandle], timeout_s: float | None) -> None:
        """Return when all handles have ended.

        Raises:
            ResultTimeout: not within ``timeout_s``.
            StoreUnavailable: the client is closed.
        """
        unended = [handle for handle in handles if not handle.ended]
        if not unended:
            return
        collecting = self._check_open()
        wait = Wait(len(unended))
        for handle in unended:
            handle.watch(wait)
            if handle.foreign:
                self._collector.ask_for(handle)
        try:
            await asyncio.wait((wait.done, collecting), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if wait.left and collecting.done():
                raise _stopped(collecting)
            if wait.left:
                raise ResultTimeout(f"{wait.left} of {len(handles)} tasks have not ended in {timeout_s} s")
        finally:
            if wait.left:
                for handle in unended:
                    handle.unwatch(wait)

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
            handle = known or TaskHandle(self, submission.ref)
            handles.append(handle)
            collector.add(handle)
        try:
            replies = await self._store.submit(submissions, self.id)
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

    def _check_open(self) -> asyncio.Task[None]:
        if self._collecting is None:
            raise StoreUnavailable("the client is not open")
        return self._collecting


def _stopped(collecting: asyncio.Task[None]) -> BaseException:
    """Return why results are no longer collected."""
    error = None if collecting.cancelled() else collecting.exception()
    return error or StoreUnavailable("the client was closed")


def _unavailable(submission: Submission, error: StoreUnavailable) -> StoreUnavailable:
    ref = submission.ref
    return StoreUnavailable(
        f"task {ref}: {error.message}",
        outcome_known=error.outcome_known,
        tenant=ref.tenant,
        task_id=ref.id,
    )
