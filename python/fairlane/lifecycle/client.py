"""The client of one scheduler: submits tasks, waits for them, reads them, cancels them."""

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, IdGenerator, Rng, system_rng
from fairlane.config import ClientConfig, EstimateConfig
from fairlane.domain.limits import check_task_id, check_tenant_id
from fairlane.domain.task import OnUnknown, TaskRef, TaskState, TaskView
from fairlane.errors import FairlaneError, ResultTimeout, StoreUnavailable, TaskLost
from fairlane.lifecycle.collector import Collector
from fairlane.lifecycle.ending import USAGE_UNKNOWN
from fairlane.lifecycle.estimate import ChatEstimator, Estimator
from fairlane.lifecycle.handle import TaskHandle, Wait, outcomes
from fairlane.lifecycle.outbox import Outbox
from fairlane.lifecycle.records import read_tasks
from fairlane.lifecycle.sizing import Coverage, Holds
from fairlane.lifecycle.submission import DEFAULT_PRIORITY, TaskSpec, Validator
from fairlane.lifecycle.submitter import SubmitAnswer, Submitter
from fairlane.store.messages import CancelStatus
from fairlane.store.store import Store


class Client:
    """Submits tasks to one scheduler. An async context manager. Owns its background collector, not the store.

    Every await can be cancelled. A request that has not been sent is then not sent; one that has been sent completes,
    and its answer is logged.

    ``estimator`` estimates the cost of tasks that are submitted without one. Without an ``estimator`` the client uses
    a `ChatEstimator` if the configuration has a section ``estimates``, and otherwise refuses tasks without a cost.
    """

    def __init__(
        self,
        store: Store,
        config: ClientConfig | None = None,
        *,
        estimator: Estimator | None = None,
        clock: Clock = SYSTEM_CLOCK,
        ids: IdGenerator = RANDOM_IDS,
        rng: Rng | None = None,
    ) -> None:
        config = config or ClientConfig()
        self.id = ids.new_id()
        """The random id under which the store lists this client's ended tasks."""
        self._store = store
        self._holds = _holds(estimator, config.estimates)
        price = None if self._holds is None else self._holds.price
        validator = Validator(ids.new_id, max_payload_bytes=config.max_payload_bytes, price=price)
        self._collector = Collector(
            store,
            self,
            self.id,
            heartbeat_s=config.heartbeat_ms / 1000,
            clock=clock,
            rng=rng or system_rng(),
            ended=self._learn,
        )
        self._submitter = Submitter(store, self.id, self._collector, validator, batch=config.batch)
        self._gets: Outbox[TaskRef, TaskView | TaskLost | None] = Outbox(
            "get", lambda refs: read_tasks(store, refs), batch=config.batch
        )
        self._cancels = Outbox("cancel", store.cancel, batch=config.batch)
        self._collecting: asyncio.Task[None] | None = None
        self._failure: FairlaneError | None = None

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
        """Finish the requests that have been sent, and stop. Callers that still wait get StoreUnavailable."""
        for sending in (self._submitter, self._gets, self._cancels):
            await sending.drain()
        collecting, self._collecting = self._collecting, None
        if collecting is not None:
            collecting.cancel()
            await asyncio.gather(collecting, return_exceptions=True)

    def _start_over(self) -> None:
        """Look for the ends of all open tasks again: the server has restarted, perhaps without its data."""
        self._collector.start_over()

    def _fail(self, error: FairlaneError) -> None:
        """End all waits with this error, also later ones: the server is gone for good."""
        self._failure = error
        if self._collecting is not None:
            self._collecting.cancel()

    async def submit(
        self,
        tenant: str,
        payload: object,
        *,
        cost: int | None = None,
        task_id: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        deadline_s: float | None = None,
        on_unknown: OnUnknown = OnUnknown.RETRY,
    ) -> TaskHandle:
        """Submit one task and return its handle. Submits that run at the same time share a round trip.

        ``payload`` is bytes or JSON-able. ``cost`` is the expected cost in units; without it the client's estimator
        provides one. ``task_id`` is an idempotency key: the same id with the same task returns the handle of that
        task, also if another client submitted it. ``priority`` is 0 to 255 within the tenant, lower first.
        ``deadline_s`` is in seconds from admission. ``on_unknown`` says whether to repeat an attempt whose outcome is
        not known.

        Raises:
            Rejected: one of its kinds; nothing was written.
            StoreUnavailable: has the ``task_id`` in its context. If ``outcome_known`` is false, submit again under
                that id: this is safe.
        """
        self._check_open()
        return await self._submitter.submit(TaskSpec(tenant, payload, cost, task_id, priority, deadline_s, on_unknown))

    async def submit_many(self, specs: Iterable[TaskSpec]) -> list[SubmitAnswer]:
        """Submit many tasks; return, in their order, a handle or an error for each. Raises none of these errors.

        After the first StoreUnavailable the remaining tasks are not sent.
        """
        self._check_open()
        return await self._submitter.submit_many(specs)

    async def get(self, tenant: str, task_id: str) -> TaskView | None:
        """Return a task as it is now; None if the store does not know it, or knows it no longer.

        Raises:
            InvalidTask: the tenant or the id has a form that no task can have.
            TaskLost: the task's record in the store is damaged.
            StoreUnavailable: the store did not answer.
        """
        [view] = await self._gets.put([TaskRef(check_tenant_id(tenant), check_task_id(task_id))])
        if isinstance(view, TaskLost):
            raise view
        return view

    async def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Cancel a task: at once if it waits, through its worker if it runs; it then ends a little later.

        Raises:
            InvalidTask: the tenant or the id has a form that no task can have.
            StoreUnavailable: ``outcome_known`` says whether the cancel may have taken effect. Repeating it is safe.
        """
        [status] = await self._cancels.put([TaskRef(check_tenant_id(tenant), check_task_id(task_id))])
        return status

    async def wait_many(self, handles: Sequence[TaskHandle], timeout_s: float | None = None) -> list[object]:
        """Wait for all tasks; return, in their order, each result or the TaskLost that says why there is none.

        Raises:
            ResultTimeout: some have not ended within ``timeout_s``; the handles of the others keep their results.
            StoreUnavailable: the client was closed.
        """
        await self.wait_for(handles, timeout_s)
        return outcomes(handles)

    async def wait_for(self, handles: Sequence[TaskHandle], timeout_s: float | None) -> None:
        """Return when all handles have ended.

        Raises:
            ResultTimeout: some have not ended within ``timeout_s``.
            StoreUnavailable: the client was closed.
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
                raise self._failure or _stopped(collecting)
            if wait.left:
                raise ResultTimeout(f"{wait.left} of {len(handles)} tasks have not ended in {timeout_s} s")
        finally:
            if wait.left:
                for handle in unended:
                    handle.unwatch(wait)

    def coverage(self, tenant: str | None = None) -> Coverage:
        """Report how many tasks without a given cost stayed within their hold: of one tenant, or of all.

        Counts only tasks of this client.
        """
        return Coverage(0, 0) if self._holds is None else self._holds.coverage(tenant)

    def _learn(self, estimate: int, view: TaskView) -> None:
        if self._holds is not None and view.state is TaskState.COMPLETED:
            actual = None if view.error_code == USAGE_UNKNOWN else view.actual
            self._holds.settled(view.ref.tenant, estimate=estimate, hold=view.cost, actual=actual)

    def _check_open(self) -> asyncio.Task[None]:
        if self._collecting is None:
            raise StoreUnavailable("the client is not open")
        return self._collecting


def _holds(estimator: Estimator | None, config: EstimateConfig | None) -> Holds | None:
    if estimator is None and config is None:
        return None
    config = config or EstimateConfig()
    return Holds(estimator or ChatEstimator(config), config)


def _stopped(collecting: asyncio.Task[None]) -> BaseException:
    """Return why results are no longer collected."""
    error = None if collecting.cancelled() else collecting.exception()
    return error or StoreUnavailable("the client was closed")
