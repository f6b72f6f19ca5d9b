"""One comparison: environments, rounds of turns, figures and verdicts. Knows no terminal."""

import asyncio
import logging
import platform
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from bench import environment as facts
from bench.peers.environments import Environment, NotAvailable, prepare
from bench.peers.figures import figures
from bench.peers.goals import delivery, goals
from bench.peers.results import Failure, PeerResults, Skipped
from bench.peers.roster import FAIRLANE, REFERENCE, Peer
from bench.peers.tables import skip_line
from bench.peers.turn import Size, Turn, take_turn
from bench.shared.platform import Progress
from fairlane.clock import SYSTEM_CLOCK
from fairlane.embedded.guard import Guard
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import FairlaneError
from fairlane.store.connection import Endpoint

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to compare Fairlane with, and how often."""

    peers: Sequence[Peer]
    rounds: int
    size: Size
    cache: Path
    """Where environments are made and kept."""


async def compare(plan: Plan, log: BinaryIO, progress: Progress, say: Callable[[str], None]) -> PeerResults:
    """Run the comparison. A queue that cannot be had is skipped; one that fails takes no further turn."""
    began_s, started_at = SYSTEM_CLOCK.monotonic_s(), datetime.now(UTC).isoformat(timespec="seconds")
    with Guard.start() as guard, EmbeddedServer(guard=guard) as server:
        described = await facts.describe(Endpoint(server.address.url))
    environments, skipped = await _environments(plan, progress, say)
    turns: defaultdict[str, dict[int, Turn]] = defaultdict(dict)
    failed: dict[str, Failure] = {}
    for number in range(plan.rounds):
        for each in environments if number % 2 == 0 else reversed(environments):
            peer = each.peer
            if peer.key in failed:
                continue

            def step(what: str, number: int = number, name: str = peer.name) -> None:
                progress(f"round {number + 1} of {plan.rounds}, {name}: {what}")

            try:
                turns[peer.key][number] = await take_turn(each, plan.size, _rotated(peer.tenants, number), log, step)
            except (FairlaneError, OSError) as error:
                _LOG.exception("%s", peer.name)
                failed[peer.key] = Failure(name=peer.name, reason=str(error))
                say(f"{peer.name} failed: {error}")
    ended = {
        each.peer.key: figures(each.peer, turns[each.peer.key], turns.get(REFERENCE, {}))
        for each in environments
        if turns.get(each.peer.key) and each.peer.key not in failed
    }
    return PeerResults(
        started_at=started_at,
        duration_s=round(SYSTEM_CLOCK.monotonic_s() - began_s, 1),
        rounds=plan.rounds,
        machine=_machine(),
        environment=described,
        tools=_tools(),
        peers=list(ended.values()),
        failed=list(failed.values()),
        skipped=skipped,
        delivery=delivery(list(ended.values()), list(failed.values())),
        goals=goals(ended.get(FAIRLANE.key), ended.get(REFERENCE)),
    )


async def _environments(
    plan: Plan, progress: Progress, say: Callable[[str], None]
) -> tuple[list[Environment], list[Skipped]]:
    found, skipped = [], []
    for peer in (FAIRLANE, *plan.peers):
        progress(f"installing {peer.name}")
        try:
            found.append(await asyncio.to_thread(prepare, peer, plan.cache))
        except NotAvailable as error:
            skipped.append(Skipped(name=peer.name, reason=str(error)))
            say(skip_line(peer.name, str(error)))
    return found, skipped


def _rotated(values: tuple[int, ...], by: int) -> tuple[int, ...]:
    """Begin with another value in every round."""
    by %= len(values)
    return values[by:] + values[:by]


def _machine() -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, Linux {platform.release()}"


def _tools() -> dict[str, str]:
    node = shutil.which("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False) if node else None  # noqa: S603
    return {"Python": platform.python_version(), "Node": version.stdout.strip() if version else "not installed"}
