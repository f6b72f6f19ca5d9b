"""What a pool tells, as lines; and work that stays until its gate opens."""

import asyncio
from typing import Any

from fairlane.pool.events import PoolEvent
from fairlane.pool.pool import Pool
from fairlane.pool.task import Task
from tests.support.pool_workers import ScriptedWorker


def listen(pool: Pool[Any]) -> list[str]:
    heard: list[str] = []

    def hear(event: PoolEvent) -> None:
        change = "" if event.before is None and event.after is None else f" {event.before}>{event.after}"
        heard.append(f"{event.kind} {event.member.id}{change}")

    pool.subscribe(hear)
    return heard


def busy(worker: ScriptedWorker, gate: asyncio.Event) -> "asyncio.Task[bool]":
    async def wait(_: None) -> bool:
        return await gate.wait()

    return asyncio.ensure_future(worker.execute(Task(wait, task_id="t", created_s=0), None))
