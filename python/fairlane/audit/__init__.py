"""Checks a scheduler from the outside, by what is stored: what must hold whatever happened."""

from fairlane.audit.invariants import Findings, check_invariants, inspect
from fairlane.audit.violation import Rule, Violation

__all__ = ["Findings", "Rule", "Violation", "check_invariants", "inspect"]
