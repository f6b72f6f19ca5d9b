"""The commands of clients: submitting, cancelling and reading tasks, and collecting their ends."""

import struct
from collections.abc import Sequence

from fairlane.domain.task import TaskRef, TaskView
from fairlane.store.connection import Command
from fairlane.store.messages import CancelStatus, Collected, Submission, SubmitStatus, Submitted
from fairlane.store.script_runner import ScriptRunner
from fairlane.store.task_codec import STATES, arrival, ends, registered_at, task_view

_STATUSES = {status.value.encode(): status for status in SubmitStatus}


class ClientCommands(ScriptRunner):
    """Submits, cancels, reads and collects tasks."""

    async def submit(self, batch: Sequence[Submission], client: str) -> list[Submitted]:
        """Admit up to 256 tasks. A known id with the same fingerprint finds its task."""
        return [
            Submitted(_STATUSES[status], STATES[state] if state else None, limit)
            for status, state, limit in await self._call("submit", client=client, items=batch)
        ]

    async def cancel(self, refs: Sequence[TaskRef]) -> list[CancelStatus]:
        """Cancel tasks: waiting ones at once, running ones through their worker."""
        answers = await self._call("cancel", items=refs)
        return [CancelStatus(answer.decode()) for answer in answers]

    async def get(self, refs: Sequence[TaskRef]) -> list[TaskView | None]:
        """Read tasks; None for each that is unknown, past its retention, or a former tenant's of the same id."""
        if not refs:
            return []
        tenants = list(dict.fromkeys(ref.tenant for ref in refs))
        records, entries, known = await self._run(
            [
                ("MGET", *(self.keys.key("task", ref.tenant, ref.id) for ref in refs)),
                ("HMGET", self.keys.key("flight"), *map(str, refs)),
                ("HMGET", self.keys.key("tenant"), *tenants),
            ]
        )
        registered = {tenant: registered_at(raw) for tenant, raw in zip(tenants, known, strict=True) if raw}
        return [
            task_view(ref, raw, entry) if raw and arrival(raw) > registered.get(ref.tenant, 0) else None
            for ref, raw, entry in zip(refs, records, entries, strict=True)
        ]

    async def collect(self, client: str, cursor: str, limit: int = 16) -> Collected:
        """Return the ended tasks of up to ``limit`` calls above the cursor, "0" at first, and forget those up to it.

        A task whose record is gone is left out.
        """
        key = self.keys.key("done", client)
        commands: list[Command] = [("XREAD", "COUNT", limit + 1, "STREAMS", key, cursor)]
        if cursor != "0":
            moment, _, number = cursor.partition("-")
            commands.insert(0, ("XTRIM", key, "MINID", f"{moment}-{int(number) + 1}"))
        *_, reply = await self._run(commands)
        if not reply:
            return Collected(cursor, (), more=False)
        entries = reply[0][1][:limit]
        found = dict(end for _, (_, data) in entries for end in ends(data))
        large = [ref for ref, raw in found.items() if not raw]
        if large:
            (records,) = await self._run([("MGET", *(self.keys.key("task", ref.tenant, ref.id) for ref in large))])
            found |= dict(zip(large, records, strict=True))
        views, damaged = [], []
        for ref, raw in found.items():
            try:
                if raw:
                    views.append(task_view(ref, raw))
            except (struct.error, IndexError, ValueError):
                damaged.append(ref)
        return Collected(entries[-1][0].decode(), tuple(views), len(reply[0][1]) > limit, tuple(damaged))
