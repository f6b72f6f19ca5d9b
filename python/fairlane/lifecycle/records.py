"""Reads tasks from the store so that a damaged record costs only its own reader an answer."""

import logging
from collections.abc import Sequence

from fairlane.domain.task import TaskRef, TaskView
from fairlane.errors import StoreError, TaskLost
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


async def read_tasks(store: Store, refs: Sequence[TaskRef]) -> list[TaskView | TaskLost | None]:
    """Read tasks; None for each that the store does not know, a TaskLost for each whose record cannot be read.

    Raises:
        StoreError: the store did not answer.
    """
    try:
        return list(await store.get(refs))
    except StoreError:
        raise
    except Exception as error:  # a damaged record can break its decoding in any way
        if len(refs) > 1:
            half = len(refs) // 2
            return await read_tasks(store, refs[:half]) + await read_tasks(store, refs[half:])
        [ref] = refs
        text = f"task {ref}: its record in the store is damaged and cannot be read: {type(error).__name__}: {error}"
        _log.error("%s", text)
        return [TaskLost(text, tenant=ref.tenant, task_id=ref.id)]
