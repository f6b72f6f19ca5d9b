"""Checks a scheduler from the outside, by what is stored: what must hold whatever happened."""

from fairlane.audit.invariants import check_invariants
from fairlane.audit.violation import Rule, Violation

__all__ = ["Rule", "Violation", "check_invariants"]
