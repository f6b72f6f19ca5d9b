"""A group's events as lines; and work that runs until its gate opens."""

import asyncio
from typing import Any

from fairlane.workers.executor.task import Task
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from tests.support.worker_workers import ScriptedWorker


def listen(group: WorkerGroup[Any]) -> list[str]:
    heard: list[str] = []

    def hear(event: MemberEvent) -> None:
        change = "" if event.before is None and event.after is None else f" {event.before}>{event.after}"
        heard.append(f"{event.kind} {event.member.id}{change}")

    group.subscribe(hear)
    return heard


def busy(worker: ScriptedWorker, gate: asyncio.Event) -> "asyncio.Task[bool]":
    async def wait(_: None) -> bool:
        return await gate.wait()

    return asyncio.ensure_future(worker.execute(Task(wait, task_id="t", created_s=0), None))
