"""What a check comes to."""

from pydantic import JsonValue

from bench.results import Check


def verdict(name: str, passed: bool, observed: JsonValue, expected: str) -> Check:
    """Make a check, with numbers rounded to what a reader can use."""
    shown = round(observed, 4) if isinstance(observed, float) else observed
    return Check(name=name, passed=passed, observed=shown, expected=expected)
