"""What every worker promises about work that is out of the ordinary."""

from collections.abc import Callable
from typing import Any

import pytest

from fairlane.pool.abstract_worker import AbstractWorker
from fairlane.pool.task import Task
from tests.pool import test_worker_contract as contract
from tests.support.pool_work import AsyncTripler, Tripler, double, double_in_thread

worker = contract.worker
ready = contract.ready


@pytest.mark.parametrize("kind", [Tripler, AsyncTripler])
@pytest.mark.parametrize("work", [double, double_in_thread])
async def test_a_task_that_executes_in_its_own_way_does_so_everywhere(
    ready: AbstractWorker, kind: type[Task[int, int]], work: Callable[[int], Any]
) -> None:
    assert await ready.execute(kind(work, task_id="t", created_s=0), 14) == 42
