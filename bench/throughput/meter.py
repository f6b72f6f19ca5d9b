"""Readings of the server's own counters."""

from dataclasses import dataclass

from fairlane.store.store import Store

_OURS = frozenset({"info", "xread", "scan", "xrevrange", "config|resetstat"})
"""Commands of the benchmark's own readings; they belong to no task."""
_CARRIERS = frozenset({"fcall", "function|load", "evalsha", "script|load"})
"""Commands that only carry others."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one moment: calls and microseconds by command, and the server's CPU seconds."""

    calls: dict[str, int]
    micros: dict[str, int]
    cpu_s: float

    def since(self, before: "Reading") -> "Reading":
        """Return what was added; commands without new calls are left out."""
        calls = {name: count - before.calls.get(name, 0) for name, count in self.calls.items()}
        calls = {name: count for name, count in calls.items() if count and name not in _OURS}
        return Reading(
            calls,
            {name: self.micros[name] - before.micros.get(name, 0) for name in calls},
            self.cpu_s - before.cpu_s,
        )

    @property
    def work_calls(self) -> int:
        """Commands executed, by scripts and clients alike, without those that only carry scripts."""
        return sum(count for name, count in self.calls.items() if name not in _CARRIERS)


async def read(store: Store) -> Reading:
    """Read the counters now."""
    stats = await store.info("commandstats")
    cpu = await store.info("cpu")
    calls, micros = {}, {}
    for field, values in stats.items():
        name = field.removeprefix("cmdstat_")
        numbers = dict(pair.split("=", 1) for pair in values.split(","))
        calls[name], micros[name] = int(numbers["calls"]), int(numbers["usec"])
    return Reading(calls, micros, float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"]))


async def data_bytes(store: Store) -> int:
    """Return the size of the server's data set."""
    return int((await store.info("memory"))["used_memory_dataset"])


async def memory_bytes(store: Store) -> int:
    """Return the memory that the server has allocated: its data set and its indexes."""
    return int((await store.info("memory"))["used_memory"])


async def pending_frees(store: Store) -> int:
    """Return how many removed values the server has yet to free in the background."""
    return int((await store.info("memory"))["lazyfree_pending_objects"])


async def count_keys(store: Store) -> int:
    """Count the keys of the store's scheduler, without its bells.

    A bell is one element with a TTL, at most one for each sleeper; whether it has been heard yet is chance.
    """
    counts = await store.key_counts()
    return counts.total() - counts["bell"]
