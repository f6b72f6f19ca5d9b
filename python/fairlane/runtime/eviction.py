"""Takes a worker's ended lives out of the store, so that its tasks need not wait for the end of a lease."""

import asyncio
import logging
from typing import Final

from fairlane.clock import Rng
from fairlane.domain.policy import WorkerState
from fairlane.errors import StoreError
from fairlane.lifecycle.backoff import Backoff
from fairlane.runtime.worker_member import WorkerMember
from fairlane.store.store import Store
from fairlane.workers.members.status import WorkerStatus

_ENDED: Final = frozenset({WorkerStatus.FAILED, WorkerStatus.STOPPED})
"""None of its processes is of use, and no other is being made."""

_log = logging.getLogger(__name__)


async def evict_lives(store: Store, member: WorkerMember, incarnation: str | None, rng: Rng) -> None:
    """End this incarnation, and all others of a worker that has ended; go on until the store has answered.

    A process that ended before its member knew it may have registered all the same. No later life is hit: what the
    store knew while the member had ended came before whatever is made next.
    """
    backoff = Backoff(rng)
    if incarnation is not None:
        await _evict(store, member.id, incarnation, backoff)
    while member.status in _ENDED:
        try:
            views = await store.workers()
        except StoreError as error:
            await _wait_out(member.id, error, backoff)
            continue
        if member.status in _ENDED:
            for view in views:
                if view.name == member.worker_name and view.state is not WorkerState.LOST:
                    await _evict(store, member.id, view.incarnation, backoff)
        return


async def _evict(store: Store, worker_id: str, incarnation: str, backoff: Backoff) -> None:
    tasks, more = 0, True
    while more:
        try:
            recovered = await store.evict(incarnation)
        except StoreError as error:
            await _wait_out(worker_id, error, backoff)
            continue
        backoff.reset()
        tasks, more = tasks + recovered.tasks, recovered.more
    _log.info("worker %s: %d tasks of incarnation %s taken back", worker_id, tasks, incarnation)


async def _wait_out(worker_id: str, error: StoreError, backoff: Backoff) -> None:
    _log.warning("worker %s: %s", worker_id, error)
    await asyncio.sleep(backoff.next_s())
