"""Event rows from the wire: every kind is read, and an error names a row of any other shape."""

from dataclasses import astuple

import pytest

from fairlane.domain.event_decoder import decode_event, row_fields
from fairlane.domain.events import ENDS, KINDS, EndRow, kind_of
from fairlane.errors import MalformedEvent
from tools.docs.redis_schema import render

WIRE = [
    ("pending", "acme", "t", 10, 100),
    ("enqueued", "acme", "t", 1, 10, 9, "w1", -4.5, 3),
    ("active", "acme", "t", 1),
    *[(end.value, "acme", "t", 1, 10, 0, 1000, "pending", 0) for end in sorted(ENDS)],
    ("ready", "acme", "t"),
    ("parked", "acme", "slots"),
    ("released", "acme", -5),
    ("round", 7, 1000),
    ("entered", "acme", -5),
    ("tenant", "acme", 2, 0, 0),
    ("budget", "acme", 100),
    ("period", "acme", 2),
    ("late", "acme", "t", 1, 10),
    ("removed", "acme"),
    ("capacity", 4, 2, "throttled"),
    ("worker", "w1", "worker-1", "live"),
    ("paused", 1000),
    ("resumed",),
    ("epoch", 2),
    ("clock", 60_000),
]


@pytest.mark.parametrize("wire", WIRE, ids=lambda wire: str(wire[0]))
def test_a_row_is_read_field_by_field(wire):
    (row,) = decode_event("1-0", 1, 1, "x", [wire]).rows
    values = astuple(row)
    assert (kind_of(row), type(row)) == (wire[0], KINDS[str(wire[0])])
    assert (values if isinstance(row, EndRow) else (wire[0], *values)) == wire


def test_every_kind_is_read():
    assert {wire[0] for wire in WIRE} == set(KINDS)


@pytest.mark.parametrize(
    ("wire", "problem"),
    [
        ((), "the kind of a row"),
        ("pending", "the kind of a row"),
        (7, "the kind of a row"),
        ((["pending"],), "the kind of a row"),
        (("surprise", "acme"), "the kind of a row"),
        (("active", "acme", "t"), "after the kind must come: tenant, task, fence"),
        (("active", "acme", "t", 1, 2), "after the kind must come: tenant, task, fence"),
        (("active", "acme", "t", "1"), "after the kind must come: tenant, task, fence"),
        (("active", "acme", "t", True), "after the kind must come: tenant, task, fence"),
        (("active", "acme", "t", 1.5), "after the kind must come: tenant, task, fence"),
        (("resumed", "acme"), "after the kind must come: nothing"),
        (("parked", "acme", "mood"), "'mood' must be one of slots, cost"),
        (("lost", "acme", "t", 1, 0, 0, 1000, "gone", 0), "'gone' must be one of pending"),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(wire, problem):
    with pytest.raises(MalformedEvent, match=rf"^event 9 \(settle\), row 1 .*{problem}") as refused:
        decode_event("1-0", 9, 1, "settle", [("resumed",), wire])
    assert refused.value.context == {"number": 9, "by": "settle", "row": wire}


def test_the_page_of_the_stored_keys_describes_every_row():
    lines = [line.split("|") for line in render().partition("\n## Events\n")[2].splitlines() if line.startswith("|")]
    described = {kind.strip(" `"): fields for _, kinds, fields, *_ in lines[2:] for kind in kinds.split(",")}
    assert described.keys() == KINDS.keys()
    for kind, row in KINDS.items():
        assert [field.strip(" `") for field in described[kind].split(",")] == (row_fields(row) or ["none"])
