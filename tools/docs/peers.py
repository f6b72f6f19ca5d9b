"""Renders the part of docs/performance.md on other queues, from the results of one committed comparison."""

from pathlib import Path
from typing import Final

from bench.peers.results import PeerResults
from bench.peers.tables import left_out, sections

_RESULTS: Final = Path(__file__).with_name("peers.json")
_SECTION: Final = """\
## Beside other queues

`python -m bench peers` gives the same tasks to other queues and to Fairlane, in turns, on the same server binary. It
takes about a quarter of an hour, and nothing else should run meanwhile:

    python -m bench peers

Each queue gets its pinned packages in an environment of its own below `.bench-peers/`, made at the first run; npm, pip
and their registries are needed for that. A queue that cannot be had is left out with a line that says why, and
`--alone` measures only Fairlane. The page and the figures land in `bench-results/` as `peers.md` and `peers.json`.

The command exits with 0 if and only if delivery was exact everywhere. With `--require-goals` a missed goal fails too:

    python -m bench peers --require-goals

Times depend on the machine and on what else it does, ratios within a run much less. Of one run on {machine}, on {date},
in {rounds} rounds, while others used the machine as well:

{figures}

{left_out}

The goals of that run, which compare Fairlane with BullMQ:

{goals}

Fairlane does more for a task than the others do. What each queue's documentation says:

{abilities}

### How they are compared

{method}

{settings}

After a change of the core, run `python -m bench peers` again, copy `bench-results/peers.json` to
`tools/docs/peers.json`, and run `make docs`.
"""


def render() -> str:
    """Return the part."""
    results = PeerResults.model_validate_json(_RESULTS.read_bytes())
    parts = {heading: "\n\n".join(blocks) for heading, blocks in sections(results).items()}
    return _SECTION.format(
        machine=f"{results.environment.cpus} CPUs ({results.machine})",
        date=results.started_at[:10],
        rounds=results.rounds,
        figures=parts["Figures"],
        left_out=left_out(results) or "No queue was left out.",
        goals=parts["Goals"],
        abilities=parts["What each can do"],
        method=parts["Method"],
        settings=parts["Settings and versions"],
    )
