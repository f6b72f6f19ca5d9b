"""What an audit finds."""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """What must hold between two script calls."""

    STRUCTURE = "structure"
    """A task is in exactly one state, and in exactly the structures that belong to it."""
    COUNTER = "counter"
    """A counter equals the sum over what it counts, and is not negative."""
    CALENDAR = "calendar"
    """A tenant stands where its place says, at the round its deficit and head imply."""
    OWNERSHIP = "ownership"
    """A key has an owner or a TTL."""
    LEDGER = "ledger"
    """What the events say was spent is what is stored, and no handover passed its budget."""
    ORDER = "order"
    """The events show no gap and no move outside the tables of `fairlane.domain`."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that does not hold. ``subject`` is what it is about: a key, a field, a task, an event."""

    rule: Rule
    subject: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}: {self.found}; expected {self.expected}"
