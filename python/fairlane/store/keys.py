"""The key schema: every key and every hash field that Fairlane stores. No other module builds a key.

One hash tag per scheduler, so that each script touches one slot. ``docs/redis-schema.md`` and the Lua prelude are
generated from this module.
"""

import re
from dataclasses import dataclass
from typing import Final

ROOT: Final = "fl"


@dataclass(frozen=True, slots=True)
class KeySpec:
    """One kind of key. ``pattern`` is what follows the scheduler's prefix; ``<...>`` are its parameters."""

    name: str
    pattern: str
    type: str
    holds: str
    owner: str


KEYS: Final = (
    KeySpec("pool", "pool", "hash", "the pool's limits, counters, virtual time and clock", "the scheduler"),
    KeySpec("tenants", "tenants", "zset", "every registered tenant, score 0", "the scheduler"),
    KeySpec(
        "tenant",
        "tenant",
        "hash",
        "by tenant: weight, virtual time, counters and the head of its queue",
        "the scheduler",
    ),
    KeySpec(
        "limits", "limits", "hash", "by tenant that has limits: these, its ledger and its windows", "the scheduler"
    ),
    KeySpec(
        "pending",
        "pending:<tenant>",
        "zset",
        "waiting tasks behind the head, as cost (8 bytes) and id; score = priority·2^44 + arrival",
        "tenants",
    ),
    KeySpec(
        "calendar",
        "calendar",
        "zset",
        "runnable tenants as arrival (8 bytes) and id, by virtual time (or by head, in strict order)",
        "the scheduler",
    ),
    KeySpec("parked", "parked", "hash", "tenants stopped by a limit of their own, and the limit", "the scheduler"),
    KeySpec(
        "timers",
        "timers",
        "zset",
        "timers by server ms: `deadline:<tenant>:<id>`, `ready:<tenant>:<id>`, `window:<tenant>`, `budget:<tenant>`",
        "their tasks and tenants",
    ),
    KeySpec(
        "task",
        "task:<tenant>:<id>",
        "string",
        "one task's record: a header, then its payload or its result",
        "its state; a TTL once it has ended",
    ),
    KeySpec(
        "flight",
        "flight",
        "hash",
        "by `tenant:id`, what is in flight: the attempt, and once it is active the task's header",
        "the scheduler",
    ),
    KeySpec(
        "usage",
        "usage:<tenant>:<id>",
        "hash",
        "by fence, the usage that was booked after the attempt had ended; 0: it may still be booked",
        "its task",
    ),
    KeySpec(
        "tombstone",
        "tombstone:<tenant>:<id>",
        "string",
        "arrival (8 bytes), fingerprint (32) and state of a task whose record is gone",
        "TTL",
    ),
    KeySpec("workers", "workers", "zset", "incarnations by lease expiry (server ms); 0 once lost", "the scheduler"),
    KeySpec("names", "names", "hash", "worker name to its newest incarnation", "workers"),
    KeySpec("worker", "worker", "hash", "by incarnation: slots, load, state and name", "workers"),
    KeySpec(
        "handed",
        "handed:<incarnation>",
        "zset",
        "the tasks that it was handed and has not started, as `tenant:id` by fence",
        "workers",
    ),
    KeySpec(
        "cancelling",
        "cancelling:<incarnation>",
        "zset",
        "the tasks that it should stop, as `tenant:id` by fence",
        "workers",
    ),
    KeySpec("done", "done:<client>", "stream", "the ends that this client waits for", "TTL"),
    KeySpec("top_up", "top_up:<tenant>:<registered>:<key>", "string", "units added under this key", "TTL"),
    KeySpec(
        "window",
        "window:<owner>",
        "list",
        "stamps of sliding windows, oldest first: server ms, starts and spend; owner `*` is the pool",
        "tenants",
    ),
    KeySpec("bell", "bell:<sleeper>", "list", "one element: the sleeper should look at the state", "TTL"),
    KeySpec("events", "events", "stream", "one entry per script call that changed something", "bounded length"),
)

EXPIRING: Final = frozenset(spec.name for spec in KEYS if spec.owner == "TTL")
"""The kinds of keys that always have a TTL. The record of a task gets one when the task ends."""

POOL_SETTINGS: Final = (
    "schema", "policy", "quantum", "hard_limit", "cost_ceiling", "max_attempts", "max_recoveries",
    "lease", "throttle_scope", "default_pause", "retention", "idempotency", "event_limit", "event_bytes",
    "starts_limit", "starts_interval", "spend_limit", "spend_interval", "resume_ramp",
)  # fmt: skip
POOL_STATE: Final = (
    "capacity", "closed", "paused_until", "slots", "cost", "virtual_time", "rebased", "heaviest", "epoch", "fence",
    "sequence", "live", "runnable", "events", "now", "grace_until", "throttles", "throttles_seen", "successes",
    "clean_ticks", "ticked_at", "changed_at", "fleet", "starts_count", "spend_sum", "lead", "trim_at", "ramp_from",
    "ramp_until", "active", "offset", "event_size",
)  # fmt: skip
"""`now`: the pool's latest time. It is the server's plus `offset`, which is 0 until the server's clock is set back.
`event_size`: the bytes of an event, on average over the latest."""
TENANT_SETTINGS: Final = (
    "weight", "slot_ceiling", "cost_ceiling", "queue_limit", "budget", "budget_period", "budget_anchor",
    "budget_rejects", "starts_limit", "starts_interval", "spend_limit", "spend_interval",
)  # fmt: skip
"""`budget` is -1 without one; the other limits are 0."""
TENANT_NUMBERS: Final = (
    "limited", "weight", "queue_limit", "base", "served", "charged", "owed", "arrival", "rebased", "epoch", "ratio",
    "slots", "cost", "queued", "waiting", "spent", "overrun", "spent_total", "registered", "head_score", "head_cost",
)  # fmt: skip
"""A tenant's virtual time is `base + served / weight`. `limited`: 1 if it has an entry in `limits`. `registered` is the
pool's sequence when the tenant was registered: tasks and top-ups with a lower one belong to a former tenant of the same
id. `head_...`: the task to serve next."""
TENANT_TEXTS: Final = ("place", "head_id")
"""`place`: '' (idle), `calendar`, or the limit that parked it; `head_id` is '' while nothing waits."""
WINDOWS: Final = (
    "starts_limit", "starts_interval", "spend_limit", "spend_interval", "starts_count", "spend_sum", "lead", "trim_at",
)  # fmt: skip
LIMIT_NUMBERS: Final = (
    *WINDOWS, "slot_ceiling", "cost_ceiling", "budget", "budget_period", "budget_anchor", "budget_rejects", "late",
    "top_up", "period", "period_end", "held_before", "spent_before",
)  # fmt: skip
NO_LIMITS: Final = dict.fromkeys(LIMIT_NUMBERS, 0) | {"budget": -1, "period": 1}
"""The numbers of a tenant without limits, which has no entry in `limits`."""
TENANT_VIEW: Final = tuple(dict.fromkeys((*TENANT_SETTINGS, *TENANT_NUMBERS, *LIMIT_NUMBERS, "place")))
"""What `snapshot` reads of a tenant."""
TASK_NUMBERS: Final = (
    "ended", "cost", "score", "priority", "submitted", "deadline", "keep", "unknown", "booked", "failures",
    "recoveries", "throttles", "ready_at", "fence", "started", "actual", "lost", "floor",
)  # fmt: skip
"""`fence`, `started` and `actual` are those of the latest attempt that has ended; `lost` is the fence of the latest
whose worker was lost before it reported its usage; `floor` is the pool's latest fence when the task was admitted.
`unknown`: 1 if the task must not be repeated when its outcome is unknown; `keep`: 1 if its caller named it; `booked`: 1
if it has a key `usage`."""
TASK_TEXTS: Final = ("client", "worker", "state", "fingerprint", "code")
"""`worker`: of the latest attempt that has ended; `state`: `pending`, or how the task ended."""
ATTEMPT_NUMBERS: Final = ("active", "fence", "charge", "period", "windows", "cancel", "started")
WORKER_NUMBERS: Final = ("slots", "load", "alone", "last", "share")
"""`alone`: the fence of the attempt that runs alone on the worker, or 0. `last`: the highest fence that it started.
`share`: it takes no task of its own accord that would make its load larger than this; 0: it takes any."""
WORKER_TEXTS: Final = ("state", "name")

TEXT: Final = frozenset({"policy", "throttle_scope"})
"""The pool's settings that are text."""
REALS: Final = frozenset({"virtual_time", "rebased", "base", "offset", "event_size"})
"""Parts that are doubles; the other numbers are integers."""

POOL_OWNER: Final = "*"
"""The owner of the pool's own windows."""
STAMP: Final = ("at", "starts", "spend")
"""The entry that one call of `start` adds to an owner's windows, as MessagePack values one after the other."""
WINDOW_BITS: Final = {"starts": 1, "spend": 2}
POOL_BITS: Final = 4
"""An attempt's `windows` tells in which windows it took a place: these bits for its tenant's windows, and the same bits
times POOL_BITS for the pool's."""

SCHEMA_VERSION: Final = 6
BELL_TTL_MS: Final = 600_000


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one scheduler."""

    name: str

    @property
    def prefix(self) -> str:
        """The beginning of every key of this scheduler."""
        return f"{ROOT}:{{{self.name}}}:"

    @property
    def pattern(self) -> str:
        """What SCAN looks for: every key of this scheduler."""
        return re.sub(r"([*?\[\]\\])", r"\\\1", self.prefix) + "*"

    @property
    def pool(self) -> str:
        """The key that every script declares; the others share its slot."""
        return f"{self.prefix}pool"

    @property
    def events(self) -> str:
        """The event stream."""
        return f"{self.prefix}events"

    def key(self, kind: str, *parts: str) -> str:
        """Return the key of a kind named in KEYS, with its parameters."""
        return self.prefix + ":".join((kind, *parts))

    def kind_of(self, key: str) -> str:
        """Return the name in KEYS of this scheduler's key."""
        return key.removeprefix(self.prefix).partition(":")[0]

    def bell(self, sleeper: str) -> str:
        """The list a sleeper blocks on."""
        return self.key("bell", sleeper)


DISPATCHER_BELL: Final = "dispatcher"


def worker_bell(incarnation: str) -> str:
    """Name the sleeper that is a worker."""
    return f"worker:{incarnation}"


def client_bell(client: str) -> str:
    """Name the sleeper that is a client."""
    return f"client:{client}"
