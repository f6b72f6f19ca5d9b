"""Checks from the stored state alone that a scheduler's invariants hold."""

from fairlane.audit.invariants import Findings, check_invariants, inspect
from fairlane.audit.violation import Rule, Violation

__all__ = ["Findings", "Rule", "Violation", "check_invariants", "inspect"]
