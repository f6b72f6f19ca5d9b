"""The commands of observers: reading the pool, tenants, workers, events, stored keys and the server itself."""

from collections import Counter
from collections.abc import AsyncIterator

from fairlane.domain.events import Event
from fairlane.domain.policy import WorkerState
from fairlane.errors import StoreError
from fairlane.store import decode, server_check
from fairlane.store.codec import worker_record
from fairlane.store.messages import Ledger, Snapshot, TenantView, WorkerView
from fairlane.store.script_runner import ScriptRunner
from fairlane.store.server_check import ServerReport
from fairlane.store.stored import Stored
from fairlane.store.stored_reader import StoredReader

_KEYS_PER_PAGE = 1_000
_TENANTS_PER_PAGE = 1_000


class ObserverCommands(ScriptRunner):
    """Reads only, except `erase`."""

    async def snapshot(self, after_tenant: str = "", limit: int = 1000) -> Snapshot:
        """Read the pool and a page of tenants at one instant."""
        return decode.snapshot(await self._call("snapshot", after_tenant=after_tenant, limit=limit, tenant=None))

    async def tenant(self, tenant: str) -> TenantView | None:
        """Read one tenant; None if nobody registered it."""
        page = decode.snapshot(await self._call("snapshot", after_tenant="", limit=1, tenant=tenant))
        return page.tenants[0] if page.tenants else None

    async def ledger(self, tenant: str) -> Ledger | None:
        """Read a tenant's ledger of the current period; None if there is no such tenant."""
        raw = await self._call("ledger", tenant=tenant)
        return None if raw is False else decode.ledger(raw)

    async def workers(self) -> list[WorkerView]:
        """Read every incarnation that still has a record."""
        leases, records, (seconds, micros) = await self._run(
            [
                ("ZRANGE", self.keys.key("workers"), 0, -1, "WITHSCORES"),
                ("HGETALL", self.keys.key("worker")),
                ("TIME",),
            ]
        )
        now = int(seconds) * 1000 + int(micros) // 1000
        known = dict(zip(records[::2], records[1::2], strict=True))
        views = []
        for incarnation, lease in zip(leases[::2], leases[1::2], strict=True):
            if incarnation in known:
                numbers, state, name = worker_record(known[incarnation])
                left_ms = max(0, int(float(lease)) - now)
                views.append(
                    WorkerView(
                        incarnation.decode(), name, numbers["slots"], numbers["load"], WorkerState(state), left_ms
                    )
                )
        return views

    async def events(self, after: str = "0", limit: int = 1000, block_ms: int | None = None) -> list[Event]:
        """Read events after a stream id, oldest first; optionally wait for the first one."""
        if block_ms is None:
            (reply,) = await self._run([("XREAD", "COUNT", limit, "STREAMS", self.keys.events, after)])
        else:
            reply = await self._connector.block(
                ("XREAD", "COUNT", limit, "BLOCK", block_ms, "STREAMS", self.keys.events, after)
            )
        return [decode.event(entry) for entry in reply[0][1]] if reply else []

    async def tenants(self) -> AsyncIterator[TenantView]:
        """Read all tenants, page by page, in the order of their ids."""
        after, more = "", True
        while more:
            page = await self.snapshot(after, _TENANTS_PER_PAGE)
            for tenant in page.tenants:
                yield tenant
            more = page.more
            after = page.tenants[-1].id if more else ""

    async def last_event_id(self) -> str:
        """Return the stream id of the newest event, from which `events` reads on; "0" if there is none."""
        newest = await self._command("XREVRANGE", self.keys.events, "+", "-", "COUNT", 1)
        return newest[0][0].decode() if newest else "0"

    async def exists(self) -> bool:
        """Return whether a scheduler of this name has ever run on the server."""
        return bool(await self._command("EXISTS", self.keys.pool))

    # -- the server --

    async def check(self) -> None:
        """Refuse a server that Fairlane cannot use.

        Raises:
            StoreUnsuitable: naming the problem and the requirement.

        """
        await server_check.check(self._connector, self.keys)

    async def info(self, section: str) -> dict[str, str]:
        """Return a section of the server's own statistics (INFO) as text fields."""
        return server_check.parse_info(await self._command("INFO", section))

    async def server(self) -> ServerReport:
        """Read the server's kind, version, persistence, eviction policy and memory."""
        return server_check.report(
            await self.info("everything"), await self._setting("appendfsync"), await self._setting("save")
        )

    async def _setting(self, name: str) -> str | None:
        try:
            reply = await self._command("CONFIG", "GET", name)
        except StoreError:
            return None
        return reply[1].decode() if reply else None

    # -- everything that is stored --

    async def stored_pool(self) -> dict[str, int]:
        """Read the pool's numbers.

        Raises:
            ConfigError: another version of Fairlane wrote the state.

        """
        return await StoredReader(self._run, self.keys).pool()

    async def stored(self) -> Stored:
        """Read every key of the scheduler, key by key: what changes meanwhile may be read half."""
        keys = sorted({key.decode() async for page in self._pages() for key in page})
        return await StoredReader(self._run, self.keys).everything(keys)

    async def key_counts(self) -> Counter[str]:
        """Count the scheduler's keys by their kind, as `fairlane.store.keys` names it."""
        keys = {key async for page in self._pages() for key in page}
        return Counter(self.keys.kind_of(key.decode()) for key in keys)

    async def erase(self) -> None:
        """Delete every key of the scheduler. Nothing may use it any more."""
        async for page in self._pages():
            await self._command("UNLINK", *page)

    async def _pages(self) -> AsyncIterator[list[bytes]]:
        """Yield the scheduler's keys. A key that moves meanwhile may come twice."""
        cursor = b"0"
        while True:
            cursor, page = await self._command("SCAN", cursor, "MATCH", self.keys.pattern, "COUNT", _KEYS_PER_PAGE)
            if page:
                yield page
            if int(cursor) == 0:
                return
