"""The compiled module as Python sees it: known values, errors, and a stub that matches the module."""

import ast
import inspect
import math
from importlib.resources import files

import pytest

from fairlane import _core


def public_names(node: ast.Module | ast.ClassDef) -> set[str]:
    defined = (item for item in node.body if isinstance(item, ast.FunctionDef | ast.ClassDef))
    return {item.name for item in defined if not item.name.startswith("_")}


@pytest.fixture(scope="module")
def stub() -> ast.Module:
    return ast.parse((files("fairlane") / "_core.pyi").read_text(encoding="utf-8"))


def test_stub_and_module_have_the_same_names(stub):
    assert public_names(stub) == {name for name in dir(_core) if not name.startswith("_")}


def test_stub_and_module_have_the_same_members(stub):
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            members = {name for name in vars(getattr(_core, node.name)) if not name.startswith("_")}
            assert public_names(node) == members, node.name


def test_stub_and_module_have_the_same_parameters(stub):
    owners = [(_core, stub), *((getattr(_core, n.name), n) for n in stub.body if isinstance(n, ast.ClassDef))]
    for owner, node in owners:
        for item in node.body:
            if not isinstance(item, ast.FunctionDef) or item.decorator_list or item.name == "__new__":
                continue
            found = inspect.signature(getattr(owner, item.name)).parameters.values()
            assert [p.name for p in found] == [arg.arg for arg in item.args.args], item.name
            optional = [p for p in found if p.default is not inspect.Parameter.empty]
            assert len(optional) == len(item.args.defaults), item.name


def test_build_is_identified():
    assert _core.build_profile() in ("release", "debug")
    assert _core.version().count(".") == 2


@pytest.fixture
def pool() -> _core.Scheduler:
    scheduler = _core.Scheduler(quantum=10, capacity=8)
    scheduler.put_tenant(0, weight=1)
    scheduler.put_tenant(1, weight=2, slot_ceiling=2)
    for task in range(8):
        scheduler.submit(task % 2, task, cost=10)
    return scheduler


def test_scheduler_decides_by_weight_and_parks_at_a_ceiling(pool):
    placed, rejected, more = pool.dispatch(limit=5, places=5)
    assert placed == [
        (0, 0, 1, 10, -10, 0),
        (1, 1, 2, 10, -10, 0),
        (1, 3, 3, 10, -20, 0),
        (0, 2, 4, 10, -20, 0),
        (0, 4, 5, 10, -30, 0),
    ]
    assert (rejected, more) == ([], False)
    parked = pool.tenant(1)
    assert (parked.place, parked.parked_by, parked.virtual_time) == ("parked", "slots", 10)
    assert (pool.pool().slots, pool.pool().cost, pool.pool().live) == (5, 50, 8)
    pool.settle(1, actual=10)
    assert pool.tenant(1).place == "calendar"
    assert pool.task(1) is None


def test_equal_operations_give_equal_states(pool):
    other = _core.Scheduler(10, 8)
    other.put_tenant(0, 1)
    assert other.tenant(0) == _core.Scheduler.tenant(other, 0)
    assert other.tenant(0) != pool.tenant(0)
    assert "deficit: 0.0" in repr(other.tenant(0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda pool: pool.submit(0, 9, 0), "cost is 0; it must be from 1 to 1099511627776"),
        (lambda pool: pool.submit(0, 9, 2**80), f"cost is {2**80}; it must be from -2^63 to 2^63-1"),
        (lambda pool: pool.submit(0, 9, 1, 256), "priority is 256; it must be from 0 to 255"),
        (lambda pool: pool.submit(-1, 9, 1), "tenant is -1; it must be from 0 to 2^32-1"),
        (lambda pool: pool.submit(7, 9, 1), "tenant 7 does not exist"),
        (lambda pool: pool.submit(0, 3, 1), "task 3 exists and has not ended"),
        (lambda pool: pool.settle(3, 1), "task 3 is pending; it must be in_flight"),
        (lambda pool: pool.resume(99), "task 99 does not exist or has ended"),
        (lambda pool: pool.put_tenant(0, 0), "weight is 0; it must be from 1 to 1000000"),
        (lambda pool: pool.dispatch(-1, 1), "limit is -1; it must be from 0 to 2^64-1"),
    ],
)
def test_scheduler_refusals_name_argument_and_value(pool, call, message):
    before = pool.pool(), pool.tenant(0)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared below
        call(pool)
    assert str(refused.value).startswith(message)
    assert (pool.pool(), pool.tenant(0)) == before


def test_measures_know_textbook_values():
    assert _core.percentile([15, 20, 35, 40, 50], 40) == 20
    assert _core.percentiles([3, 1, 2], [0, 50, 100]) == [1, 2, 3]
    assert _core.jain([1, 1, 0, 0]) == 0.5
    assert _core.ideal_shares([1, 1, 2], [1, 10, 100], 13) == [1, 4, 8]
    assert _core.peak_overlap([(0, 5), (4, 9), (5, 6)]) == (2, 4)
    assert _core.peak_overlap([(0, 5), (4, 9)], [3, 4]) == (7, 4)
    assert _core.fullest_window([0, 5, 10], 5) == (1, 0)
    assert _core.fullest_window([0, 5, 10], 6) == (2, 5)
    assert _core.occupancy([(0, 5)], capacity=2, start=0, end=10) == 0.25


def test_no_data_is_none():
    assert _core.percentile([], 50) is None
    assert _core.percentiles([], [50]) is None
    assert _core.jain([]) is None
    assert _core.jain([0, 0]) is None
    assert _core.ideal_shares([], [], 1) is None
    assert _core.peak_overlap([]) is None
    assert _core.fullest_window([], 1) is None
    assert _core.occupancy([], 1, 5, 5) is None
    assert _core.service_gap([]) is None
    assert _core.RunningQuantile().percentile(50) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "call",
    [
        lambda bad: _core.percentile([1, bad], 50),
        lambda bad: _core.percentile([1], bad),
        lambda bad: _core.jain([1, bad]),
        lambda bad: _core.ideal_shares([bad], [1], 1),
        lambda bad: _core.ideal_shares([1], [bad], 1),
        lambda bad: _core.ideal_shares([1], [1], bad),
        lambda bad: _core.peak_overlap([(0, bad)]),
        lambda bad: _core.fullest_window([bad], 1),
        lambda bad: _core.fullest_window([1], bad),
        lambda bad: _core.occupancy([(0, 1)], 1, 0, bad),
        lambda bad: _core.occupancy([(0, 1)], 1, 0, 1, [bad]),
        _core.RunningQuantile,
        lambda bad: _core.RunningQuantile().add(bad),
    ],
)
def test_measures_refuse_nan_and_infinity(call, bad):
    with pytest.raises(ValueError, match=r"(NaN|inf).*; it must be a"):
        call(bad)


def test_running_quantile_stays_within_its_error():
    running = _core.RunningQuantile(0.02)
    values = [1.013**n for n in range(1000)]
    for value in values:
        running.add(value)
    for q in (1, 50, 99, 99.9):
        assert running.percentile(q) == pytest.approx(_core.percentile(values, q), rel=0.0201)
    assert (running.count, running.relative_error) == (1000, 0.02)


HISTORY = [
    ("weight", 0, 1),
    ("weight", 1, 2),
    ("backlogged", 0, 0),
    ("backlogged", 1, -3.5),
    ("dispatched", 0, 1, 6, 0),
    ("settled", 0, 1, 20, 0),
    ("dispatched", 1, 2, 2, 0),
    ("parked", 1),
    ("idle", 0),
    ("reversed", 1, 2, 1),
]


def test_service_gap_reports_its_pair_and_interval():
    largest, closest = _core.service_gap(HISTORY)
    assert (largest.pair, largest.from_index, largest.to_index) == ((0, 1), 3, 5)
    assert (largest.gap, largest.bound) == (20, (6 + 14 + 1) / 1 + (4 + 1) / 2)
    assert largest.holds
    assert closest == largest


@pytest.mark.parametrize(
    "change", [("weight", 0), ("tired", 0, 1), ("kept", 0, 77), ("idle", 5), ("parked", 0), ("weight", 0, 0), ()]
)
def test_service_gap_names_a_change_that_does_not_fit(change):
    with pytest.raises(ValueError, match=r"^changes\[10\] is "):
        _core.service_gap([*HISTORY, change])
