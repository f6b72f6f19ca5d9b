"""The rules of an audit, and their violations."""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """A rule that must hold between any two script calls."""

    STRUCTURE = "structure"
    """A task is in exactly one state, and in exactly the structures that belong to it."""
    COUNTER = "counter"
    """A counter equals the sum over what it counts, and is not negative."""
    CALENDAR = "calendar"
    """A tenant is where its `place` says, at the rank that its virtual time or its next task implies."""
    OWNERSHIP = "ownership"
    """A key has an owner or a TTL."""
    LEDGER = "ledger"
    """The stored amounts are the sums over the events, and no handover exceeded its budget."""
    ORDER = "order"
    """The events show no gap and no move outside the tables of `fairlane.domain`."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule. ``subject``: the key, field, task or event that breaks it."""

    rule: Rule
    subject: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}: {self.found}; expected {self.expected}"
