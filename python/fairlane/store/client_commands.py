"""The commands of clients: submitting, cancelling and reading tasks, and collecting their ends."""

from collections.abc import Sequence

from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.store import decode
from fairlane.store.codec import task_view
from fairlane.store.connection import Command
from fairlane.store.messages import CancelStatus, Collected, Submission, SubmitStatus, Submitted
from fairlane.store.prelude import VIEW_FIELDS
from fairlane.store.script_runner import ScriptRunner

_STATUSES = {status.value.encode(): status for status in SubmitStatus}


class ClientCommands(ScriptRunner):
    """Submits, cancels, reads and collects tasks."""

    async def submit(self, batch: Sequence[Submission], client: str) -> list[Submitted]:
        """Admit up to 256 tasks. A known id with the same fingerprint finds its task."""
        return [
            Submitted(_STATUSES[status], TaskState(state.decode()) if state else None, limit)
            for status, state, limit in await self._call("submit", client=client, items=batch)
        ]

    async def cancel(self, refs: Sequence[TaskRef]) -> list[CancelStatus]:
        """Cancel tasks: waiting ones at once, running ones through their worker."""
        answers = await self._call("cancel", items=refs)
        return [CancelStatus(answer.decode()) for answer in answers]

    async def get(self, refs: Sequence[TaskRef]) -> list[TaskView | None]:
        """Read tasks; None for each that is unknown or past its retention."""
        if not refs:
            return []
        commands: list[Command] = [
            ("HMGET", self.keys.key("task", ref.tenant, ref.id), *VIEW_FIELDS) for ref in refs
        ]
        replies = await self._run(commands)
        return [task_view(ref, raw) for ref, raw in zip(refs, replies, strict=True)]

    async def collect(self, client: str, cursor: int, limit: int = 256) -> Collected:
        """Return up to ``limit`` ended tasks above the cursor, and acknowledge all up to the cursor."""
        return decode.collected(cursor, await self._call("collect", client=client, cursor=cursor, limit=limit))
