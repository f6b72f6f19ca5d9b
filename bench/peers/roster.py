"""The queues that stand beside Fairlane: their pinned versions, how their workers start, and what each can do."""

from dataclasses import dataclass
from typing import Final

ADAPTERS: Final = "bench.peers.adapters"
REFERENCE: Final = "bullmq"
"""The key of the queue that all others are compared with."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a queue's documentation says of it, in a few words; a dash: nothing of the kind is documented."""

    fairness: str = "–"
    ceilings: str = "–"
    budgets: str = "–"
    fences: str = "–"
    results: str
    source: str
    """The page that says so."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A queue, as it is measured."""

    key: str
    """The name of its adapter and of its environment."""
    name: str
    packages: tuple[str, ...] = ()
    """Pinned, for pip or, with ``node``, for npm. Without any, it runs in the bench's own environment."""
    node: bool = False
    worker: str = ""
    """The command of one worker. Its first word is a program of the environment, or ``node``; then come scripts."""
    workers: int = 2
    """Processes to start. All queues have two workers."""
    workers_first: bool = False
    """Its workers start before anything waits, and its client pauses them; those of the others start later."""
    tenants: tuple[int, ...] = (3,)
    """The loads that it gets."""
    share: int = 1
    """Its load is the usual one divided by this, since it is slow."""
    settings: str
    """The settings that matter."""
    cannot: str = ""
    """Why it cannot run on this server; empty: it can."""
    abilities: Abilities


FAIRLANE: Final = Peer(
    key="fairlane",
    name="Fairlane",
    worker=f"python -m {ADAPTERS}.fairlane",
    workers=1,
    workers_first=True,
    tenants=(3, 100, 10_000),
    settings="two workers of 256 slots; `submit_many`, `wait_many`",
    abilities=Abilities(
        fairness="by weight and cost",
        ceilings="slots and cost, of each tenant and of the pool",
        budgets="held and charged; windows (RPM, TPM)",
        fences="yes",
        results="one end for each task; calls at least once",
        source="docs/fairness.md, docs/budgets.md, ARCHITECTURE.md",
    ),
)

PEERS: Final = (
    Peer(
        key="bullmq",
        name="BullMQ",
        packages=("bullmq@6.7.0", "ioredis@5.11.1"),
        node=True,
        worker="node bullmq_worker.mjs",
        settings="concurrency 256; `addBulk` of 1,000; completed jobs are removed; results by `QueueEvents`",
        abilities=Abilities(
            fairness="only in BullMQ Pro: round robin over groups",
            ceilings="of a queue (global concurrency, rate limit); of a group only in Pro",
            fences="lock token of each job",
            results="at least once",
            source="https://docs.bullmq.io",
        ),
    ),
    Peer(
        key="chasquimq",
        name="ChasquiMQ",
        packages=("chasquimq==1.3.0",),
        settings="–",
        cannot="its XADD uses the option IDMP of Redis 8.6, which Valkey refuses "
        "(ERR Invalid stream ID specified as stream command argument)",
        abilities=Abilities(results="at least once", source="https://github.com/jotarios/chasquimq"),
    ),
    Peer(
        key="streaq",
        name="streaQ",
        packages=("streaq==7.2.0", "coredis==6.9.0", "uvloop==0.23.0"),
        worker=f"streaq run {ADAPTERS}.streaq:worker",
        share=5,
        settings="concurrency 256; uvloop; `enqueue_many` of 1,000; the newest results are polled every 2 ms or, under "
        "load, every 20 ms",
        abilities=Abilities(
            results="at least once",
            source="https://streaq.readthedocs.io",
        ),
    ),
    Peer(
        key="taskiq",
        name="taskiq",
        packages=("taskiq==0.13.0", "taskiq-redis==1.2.4", "redis==8.1.0", "hiredis==3.5.0", "uvloop==0.23.0"),
        worker="taskiq worker --workers 1 --max-async-tasks 256 --no-parse --log-level WARNING "
        f"{ADAPTERS}.taskiq:broker",
        share=5,
        settings="`RedisStreamBroker`; 256 tasks at once; uvloop; results are polled every 2 ms, 200 at once",
        abilities=Abilities(
            results="at least once with `RedisStreamBroker`",
            source="https://taskiq-python.github.io",
        ),
    ),
    Peer(
        key="arq",
        name="arq",
        packages=("arq==0.28.0", "redis==5.3.1", "hiredis==3.5.0", "uvloop==0.23.0"),
        worker=f"arq --custom-log-dict {ADAPTERS}.arq.LOGGING {ADAPTERS}.arq.WorkerSettings",
        share=5,
        settings="`max_jobs` 256; uvloop; jobs polled every 5 ms, results every 2 ms, 200 at once",
        abilities=Abilities(
            results="at least once",
            source="https://arq-docs.helpmanual.io",
        ),
    ),
    Peer(
        key="dramatiq",
        name="Dramatiq",
        packages=("dramatiq==2.2.1", "redis==8.1.0", "hiredis==3.5.0"),
        worker=f"dramatiq --processes 1 --threads 8 {ADAPTERS}.dramatiq",
        share=5,
        settings="8 threads; groups; results by a blocking read",
        abilities=Abilities(
            ceilings="rate limiters by any key, taken by a task that runs already",
            results="at least once",
            source="https://dramatiq.io",
        ),
    ),
    Peer(
        key="celery",
        name="Celery",
        packages=("celery[redis]==5.7.0", "kombu[redis]==5.7.0", "packaging==26.3"),
        worker=f"celery -A {ADAPTERS}.celery worker --pool prefork --concurrency 1 --without-gossip --without-mingle "
        "--without-heartbeat --loglevel WARNING",
        share=5,
        settings="one prefork process; prefetch 64; no gossip, mingle, heartbeat; results by publish and subscribe",
        abilities=Abilities(
            ceilings="a rate limit of a task type, for each worker",
            results="at most once; at least once with `acks_late`",
            source="https://docs.celeryq.dev",
        ),
    ),
)
