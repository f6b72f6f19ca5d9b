"""The store: one method per Lua command, typed in and out. Decides nothing; the scripts do."""

from collections.abc import Mapping, Sequence

from fairlane.config import ControllerConfig, PoolConfig, TenantConfig
from fairlane.domain.events import Event
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_SLOTS, MAX_TASK_ID, check_integer, id_problem
from fairlane.domain.policy import CapacityReason, StopReason, WorkerState
from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.errors import ConfigError, LeaseLost
from fairlane.store import decode, doctor, refusals, scripts
from fairlane.store.codec import task_view, unpack
from fairlane.store.connection import Command
from fairlane.store.heart import decode_beat
from fairlane.store.messages import (
    Adaptation,
    Beat,
    CancelStatus,
    Collected,
    Dispatched,
    Ledger,
    Recovered,
    Return,
    Settlement,
    Snapshot,
    Started,
    Submission,
    SubmitStatus,
    Submitted,
    TenantView,
    Throttle,
    WorkerView,
    Write,
)
from fairlane.store.script_runner import Calls
from fairlane.store.settings import pool_settings, tenant_settings

_TENANTS_PER_CALL = 500


class Store(Calls):
    """One scheduler's state on one server. Connects on first use; safe for concurrent calls on one event loop.

    Every method raises StoreUnavailable when the server cannot be reached in time (saying whether the command may
    have run) and StoreUnsuitable when it refuses this client. Each may be repeated.
    """

    # -- operators --

    async def check(self) -> None:
        """Refuse a server that Fairlane cannot use.

        Raises:
            StoreUnsuitable: naming what is wrong and what is needed.

        """
        await doctor.check(self._connector, self.keys)

    async def put_pool(self, config: PoolConfig) -> None:
        """Create the pool or change its settings.

        Raises:
            ConfigError: policy and quantum cannot change while tasks are waiting or running; another version of
                Fairlane wrote the state; or no setting can be what one is.

        """
        settings = pool_settings(config)
        refusal = await self._call("put_pool", settings=settings)
        if refusal:
            raise refusals.pool_refused(self.keys, refusal, settings)

    async def put_tenants(self, tenants: Mapping[str, TenantConfig]) -> int:
        """Register tenants or change their limits, with immediate effect; return how many are new.

        Raises:
            ConfigError: no limit can be what one is. Of its 500 tenants none is written.

        """
        settings = {tenant: tenant_settings(config) for tenant, config in tenants.items()}
        items = list(settings.items())
        fresh = 0
        for first in range(0, len(items), _TENANTS_PER_CALL):
            answer = await self._call("put_tenants", items=items[first : first + _TENANTS_PER_CALL])
            if not isinstance(answer, int):
                raise refusals.tenant_refused(answer, settings)
            fresh += answer
        return fresh

    async def change_tenant(self, tenant: str, read: TenantConfig | None, wanted: TenantConfig) -> bool:
        """Give a tenant other limits if its limits still are what was ``read``; None: nobody had registered it.

        False: somebody else has changed it since. Read again.

        Raises:
            ConfigError: no limit can be what one is.

        """
        before, after = [] if read is None else tenant_settings(read), tenant_settings(wanted)
        answer = await self._call("change_tenant", tenant=tenant, read=before, wanted=after)
        if not isinstance(answer, int):
            raise refusals.tenant_refused(answer, {tenant: after})
        return bool(answer)

    async def remove_tenant(self, tenant: str) -> bool:
        """Forget a tenant without tasks; False if there is none.

        Raises:
            ConfigError: it still has tasks.

        """
        answer = (await self._call("remove_tenant", tenant=tenant)).decode()
        if answer == "busy":
            raise ConfigError(f"tenant {tenant}: still has tasks; cancel or await them first", tenant=tenant)
        return bool(answer == "removed")

    async def ledger(self, tenant: str) -> Ledger | None:
        """Read a tenant's ledger of the current period; None if there is no such tenant."""
        raw = await self._call("ledger", tenant=tenant)
        return None if raw is False else decode.ledger(raw)

    async def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add to a tenant's budget of this period, once per ``key``; return the budget with all that was added.

        Raises:
            ConfigError: unknown tenant, or it has no budget.
        """
        check_integer(units, field="units", lowest=1, highest=MAX_COST, error=ConfigError)
        problem = id_problem(key, longest=MAX_TASK_ID)
        if problem is not None:
            raise ConfigError(f"key = {ascii(key)[:60]}: {problem}", field="key")
        answer = await self._call("top_up", tenant=tenant, units=units, key=key)
        if isinstance(answer, bytes):
            raise ConfigError(f"tenant {tenant}: {answer.decode().replace('_', ' ')}", field="tenant")
        return int(answer)

    async def set_capacity(self, slots: int) -> int:
        """Set the capacity and return what is in force: never above the hard limit."""
        check_integer(slots, field="slots", lowest=1, highest=MAX_SLOTS, error=ConfigError)
        return int(await self._call("set_capacity", slots=slots))

    async def pause(self, duration_ms: int) -> None:
        """Start nothing anywhere in the pool for so long."""
        check_integer(duration_ms, field="duration_ms", lowest=1, highest=MAX_DURATION_MS, error=ConfigError)
        await self._call("pause", duration_ms=duration_ms)

    async def resume(self) -> None:
        """End a pause now."""
        await self._call("pause", duration_ms=0)

    async def admit(self, open: bool) -> None:  # noqa: A002 - reads as the command does
        """Open or close admission; a closed pool finishes what it has."""
        await self._call("admit", closed=0 if open else 1)

    async def adapt(self, config: ControllerConfig) -> Adaptation:
        """Take one tick of the controller."""
        before, after, reason, next_ms = await self._call(
            "adapt",
            period_ms=config.period_ms,
            cooldown_ms=config.cooldown_ms,
            clean_ticks=config.clean_ticks,
            minimum_slots=config.minimum_slots,
        )
        return Adaptation(before, after, CapacityReason(reason.decode()), next_ms)

    # -- clients --

    async def submit(self, batch: Sequence[Submission], client: str) -> list[Submitted]:
        """Admit tasks (at most 256 at a time); a known id with the same fingerprint finds its task."""
        return [
            Submitted(_STATUSES[status], TaskState(state.decode()) if state else None, limit)
            for status, state, limit in await self._call("submit", client=client, items=batch)
        ]

    async def cancel(self, refs: Sequence[TaskRef]) -> list[CancelStatus]:
        """Cancel tasks: at once while they wait, through their worker once they run."""
        answers = await self._call("cancel", items=refs)
        return [CancelStatus(answer.decode()) for answer in answers]

    async def get(self, refs: Sequence[TaskRef]) -> list[TaskView | None]:
        """Read tasks; None for one that is unknown or past its retention."""
        if not refs:
            return []
        commands: list[Command] = [
            ("HMGET", self.keys.key("task", ref.tenant, ref.id), *scripts.VIEW_FIELDS) for ref in refs
        ]
        replies = await self._run(commands)
        return [task_view(ref, raw) for ref, raw in zip(refs, replies, strict=True)]

    async def collect(self, client: str, cursor: int, limit: int = 256) -> Collected:
        """Return ended tasks above the cursor, which acknowledges all up to it."""
        return decode.collected(cursor, await self._call("collect", client=client, cursor=cursor, limit=limit))

    # -- dispatcher --

    async def dispatch(self, plan: Sequence[tuple[str, int]], limit: int) -> Dispatched:
        """Place up to ``limit`` tasks with the planned incarnations, in that order of preference."""
        placed, stop, runnable, wake_ms, fleet, *free = await self._call("dispatch", limit=limit, items=plan)
        return Dispatched(
            placed=placed,
            stop=_STOPS[stop],
            runnable=runnable,
            wake_ms=None if wake_ms is False else wake_ms,
            free={incarnation.decode(): slots for incarnation, slots in free},
            fleet=fleet,
        )

    async def workers(self) -> list[WorkerView]:
        """Read every incarnation that is not forgotten."""
        (leases,) = await self._run([("ZRANGE", self.keys.key("workers"), 0, -1, "WITHSCORES")])
        ids = [item.decode() for item in leases[::2]]
        if not ids:
            return []
        commands: list[Command] = [("HMGET", self.keys.key("worker", i), "name", "slots", "load", "state") for i in ids]
        *raws, (seconds, micros) = await self._run([*commands, ("TIME",)])
        now = int(seconds) * 1000 + int(micros) // 1000
        return [
            WorkerView(i, raw[0].decode(), int(raw[1]), int(raw[2]), WorkerState(raw[3].decode()),
                       max(0, int(float(lease)) - now))
            for i, raw, lease in zip(ids, raws, leases[1::2], strict=True)
            if raw[0]
        ]  # fmt: skip

    # -- workers --

    async def register(self, name: str, incarnation: str, slots: int) -> int:
        """Begin a life; return the lease in ms. An older incarnation of the name is lost from now on.

        Raises:
            LeaseLost: this very incarnation is lost already.

        """
        lease_ms = int(await self._call("register", name=name, incarnation=incarnation, slots=slots))
        if lease_ms == 0:
            raise LeaseLost(f"worker {name}: incarnation {incarnation} is lost", incarnation=incarnation)
        return lease_ms

    async def drain(self, incarnation: str) -> bool:
        """Get nothing new from now on; False if the incarnation is not alive."""
        return bool(await self._call("drain", incarnation=incarnation))

    async def start(self, incarnation: str, cursor: int, limit: int = 256) -> Started:
        """Take what was handed over above the cursor: the highest fence received so far."""
        return decode.started(await self._call("start", incarnation=incarnation, cursor=cursor, limit=limit))

    async def settle(self, incarnation: str, settlements: Sequence[Settlement]) -> list[Write]:
        """End attempts that ran."""
        return decode.writes(await self._call("settle", incarnation=incarnation, items=settlements))

    async def settle_and_start(
        self, incarnation: str, settlements: Sequence[Settlement], cursor: int, limit: int = 256
    ) -> tuple[list[Write], Started]:
        """Settle, then start, in one round trip."""
        settled, started = await self._run(
            [
                self._script("settle", incarnation=incarnation, items=settlements),
                self._script("start", incarnation=incarnation, cursor=cursor, limit=limit),
            ]
        )
        return decode.writes(unpack(settled)), decode.started(unpack(started))

    async def throttle(self, incarnation: str, throttles: Sequence[Throttle]) -> list[Write]:
        """End attempts that the provider did not take; nothing is charged or counted."""
        return decode.writes(await self._call("throttle", incarnation=incarnation, items=throttles))

    async def release(self, incarnation: str, returns: Sequence[Return]) -> list[Write]:
        """Hand attempts back; no attempt is counted, and nothing charged but what calls that were broken off used."""
        return decode.writes(await self._call("release", incarnation=incarnation, items=returns))

    async def heartbeat(self, incarnation: str) -> Beat:
        """Renew the lease."""
        return decode_beat(await self._raw("heartbeat", incarnation=incarnation))

    async def evict(self, incarnation: str) -> Recovered:
        """End an incarnation now and take back some of its tasks; call again while ``more``."""
        return decode.recovered(await self._call("evict", incarnation=incarnation))

    async def reap(self) -> Recovered:
        """End incarnations whose lease ran out and take back some of their tasks; call again while ``more``."""
        return decode.recovered(await self._call("reap"))

    # -- observers --

    async def snapshot(self, after_tenant: str = "", limit: int = 1000) -> Snapshot:
        """Read the pool and a page of tenants at one instant."""
        return decode.snapshot(await self._call("snapshot", after_tenant=after_tenant, limit=limit, tenant=None))

    async def tenant(self, tenant: str) -> TenantView | None:
        """Read one tenant; None if nobody registered it."""
        page = decode.snapshot(await self._call("snapshot", after_tenant="", limit=1, tenant=tenant))
        return page.tenants[0] if page.tenants else None

    async def events(self, after: str = "0", limit: int = 1000, block_ms: int | None = None) -> list[Event]:
        """Read events after a stream id, oldest first; optionally wait for the first one."""
        if block_ms is None:
            (reply,) = await self._run([("XREAD", "COUNT", limit, "STREAMS", self.keys.events, after)])
        else:
            reply = await self._connector.block(
                ("XREAD", "COUNT", limit, "BLOCK", block_ms, "STREAMS", self.keys.events, after)
            )
        return [decode.event(entry) for entry in reply[0][1]] if reply else []


_STATUSES = {status.value.encode(): status for status in SubmitStatus}
_STOPS = {stop.value.encode(): stop for stop in StopReason}
