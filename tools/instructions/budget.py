"""The budget: what a task may cost. A cost may exceed it by 5 %, and must not fall below it by more than 15 %.

Far below, the budget would let a later change take back unseen what this one has saved.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tools.instructions.measure import Costs

PATH: Final = Path(__file__).with_name("budget.json")
ABOVE: Final = 0.05
BELOW: Final = 0.15
_DIGITS: Final = {"instructions": 0, "calls": 3, "bytes": 1}
_ACCEPT: Final = "python -m tools.instructions --write"


@dataclass(frozen=True, slots=True)
class Budget:
    """``server``: the version of the binary whose instructions were counted, and the kind of machine."""

    server: str
    costs: Costs

    @classmethod
    def read(cls, path: Path = PATH) -> "Budget":
        """Return the committed budget."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path = PATH) -> None:
        """Make this the budget."""
        rounded = {
            load: {
                command: {kind: round(count, _DIGITS[kind]) for kind, count in counts.items()}
                for command, counts in commands.items()
            }
            for load, commands in self.costs.items()
        }
        path.write_text(json.dumps(asdict(Budget(self.server, rounded)), indent=1) + "\n", encoding="utf-8")


def measures(costs: Costs, *, instructions: bool) -> dict[str, float]:
    """Return what is compared: calls and bytes of each command, and instructions of all of them together.

    The collection of Lua's garbage is charged to the script during which it happens to run. A change to one command
    moves it to another, so the instructions of a single command are no measure.
    """
    found = {}
    for load, commands in costs.items():
        if instructions:
            found[f"instructions per task, {load}"] = sum(counts["instructions"] for counts in commands.values())
        for command, counts in commands.items():
            for kind in ("calls", "bytes"):
                found[f"{kind} of {command} per task, {load}"] = counts[kind]
    return found


def problems(found: Mapping[str, float], budget: Mapping[str, float]) -> Iterator[str]:
    """Yield a line for every measure that does not keep to its budget, or has none, or was not taken."""
    for name in {**budget, **found}:
        if name not in budget or name not in found:
            missing = "budget" if name not in budget else "measurement"
            yield f"{name}: there is no {missing}; if that is meant, run {_ACCEPT}"
            continue
        value, limit = found[name], budget[name]
        shown = f"{name}: {_shown(value)} against a budget of {_shown(limit)} ({value / limit - 1:+.1%})"
        if value > limit * (1 + ABOVE):
            yield f"{shown}; at most {ABOVE:.0%} more is allowed. Find what costs more, or accept it with {_ACCEPT}"
        elif value < limit * (1 - BELOW):
            yield f"{shown}; keep the gain: lower the budget with {_ACCEPT}"


def _shown(value: float) -> str:
    return f"{round(value, 0 if value >= 1000 else 3):,.10g}"
