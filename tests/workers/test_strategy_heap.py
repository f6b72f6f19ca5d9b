"""The queue that strategies keep their workers in, against a sorted list."""

import pytest
from hypothesis import given, strategies as st

from fairlane.workers.strategies.heap import AddressableHeap

NAMES = st.sampled_from("abcdef")
SHARES = st.sampled_from([0.0, 0.5, 1.0])


@given(
    steps=st.lists(
        st.tuples(st.just("put"), NAMES, SHARES, st.integers(0, 3)) | st.tuples(st.just("discard"), NAMES), max_size=200
    ),
    avoid=st.sets(NAMES, max_size=3),
)
def test_the_first_is_the_smallest_of_those_that_are_in(steps: list[tuple[str, ...]], avoid: set[str]) -> None:
    heap = AddressableHeap()
    keys: dict[str, tuple[object, ...]] = {}
    for step, name, *key in steps:
        getattr(heap, step)(name, *key)
        if step == "put":
            keys[name] = (*key, name)
        else:
            keys.pop(name, None)
        assert heap.first() == min(keys, key=keys.__getitem__, default=None)
        left = {each: key for each, key in keys.items() if each not in avoid}
        assert heap.first(avoid) == min(left, key=left.__getitem__, default=None)


@pytest.mark.parametrize("moved", ["up", "down"])
def test_what_is_moved_often_stays_in_order(moved: str) -> None:
    heap = AddressableHeap()
    for name in "abc":
        heap.put(name, 0.0, 0)
    heap.put("gone", 0.0, 5_000)
    heap.discard("gone")
    for n in range(1, 2_000):
        for name in "cba":
            heap.put(name, 0.0, n if moved == "up" else -n)
        heap.put("b", 0.5, n)
    order = []
    while (first := heap.first(order)) is not None:
        order.append(first)
    assert order == ["a", "c", "b"]
