"""Strategies by name and by place, and what is said about a name that cannot be used."""

import pytest

from fairlane.clock import Rng, system_rng
from fairlane.domain.strategy_name import StrategyName, strategy_name_problem, strategy_place
from fairlane.workers import (
    Candidate,
    Strategy,
    WorkerError,
    WorkerErrorCode,
    make_strategy,
    register_strategy,
    strategy_names,
)
from tests.support.worker_errors import fails

HERE = __name__


class First:
    """Always the same worker."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.only: str | None = None

    def put(self, candidate: Candidate) -> None:
        self.only = self.only or candidate.id

    def remove(self, worker_id: str) -> None:
        self.only = None

    def choose(self, avoid: object = (), tasks: int = 1) -> str | None:
        return self.only

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        pass


NOT_A_FACTORY = 3


def makes_a_number(_: Rng) -> int:
    return 3


def raises(_: Rng) -> Strategy:
    raise RuntimeError("no luck")


def raises_a_plain_error(_: Rng) -> Strategy:
    raise WorkerError(WorkerErrorCode.INVALID_CONFIGURATION, "said plainly")


def refusal(name: str) -> str:
    with fails(WorkerErrorCode.INVALID_CONFIGURATION) as caught:
        make_strategy(name, system_rng(1))
    return caught.value.message


@pytest.mark.parametrize("name", [*StrategyName, *map(str, StrategyName)])
def test_a_name_makes_a_strategy_of_its_own_each_time(name: str) -> None:
    one, two = make_strategy(name, system_rng(1)), make_strategy(name, system_rng(1))
    one.put(Candidate("a", 1))
    assert one.choose() == "a"
    assert two.choose() is None


def test_a_registered_strategy_has_its_name_and_the_source_of_chance() -> None:
    rng = system_rng(1)
    register_strategy("test-registry-first", First)
    made = make_strategy("test-registry-first", rng)
    assert isinstance(made, First)
    assert made.rng is rng
    assert "test-registry-first" in strategy_names()
    assert "test-registry-first" in refusal("unknown")


@pytest.mark.parametrize("name", ["least-busy", "test-registry-taken"])
def test_a_name_is_given_once(name: str) -> None:
    if name not in strategy_names():
        register_strategy(name, First)
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, f"strategy = '{name}': is already registered") as caught:
        register_strategy(name, First)
    assert caught.value.context == {"strategy": name}


@pytest.mark.parametrize("name", ["", "Mine", "a b", "1a", "a:b", "a_b", "x" * 65, "a\n", "ä", 5, None, []])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(WorkerError, match=r"strategy = .*: must be 1 to 64 lower-case letters"):
        register_strategy(name, First)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["", "lottery", "Least-Busy", "least_busy", "a:", ":a", "a:b:c", "a b:c", "../a:b", 5, []]
)
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    text = refusal(name)
    assert text.startswith(f"strategy = {name!r}: must be one of ")
    assert all(each in text for each in (*strategy_names(), "package.module:attribute"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no_such_module_at_all:First", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        (f"{HERE}:missing", "AttributeError: module .* has no attribute 'missing'"),
        (f"{HERE}:NOT_A_FACTORY", "TypeError: 'int' object is not callable"),
        (f"{HERE}:makes_a_number", "returned an object of type int without put, remove, choose, undo"),
        (f"{HERE}:raises", "RuntimeError: no luck"),
    ],
)
def test_a_place_without_a_strategy_is_refused_with_the_reason(name: str, problem: str) -> None:
    with fails(WorkerErrorCode.INVALID_CONFIGURATION, problem) as caught:
        make_strategy(name, system_rng(1))
    assert caught.value.context == {"strategy": name}


def test_a_plain_error_of_a_factory_is_left_as_it_is() -> None:
    assert refusal(f"{HERE}:raises_a_plain_error") == "said plainly"


def test_a_place_is_a_module_and_one_attribute() -> None:
    assert strategy_place("a.b_1:C") == ("a.b_1", "C")
    assert strategy_place("round-robin") is None


def test_what_another_process_knows() -> None:
    assert strategy_name_problem("round-robin") is None
    assert strategy_name_problem("a.b:c") is None
    problem = strategy_name_problem("mine")
    assert problem is not None
    assert all(name in problem for name in StrategyName)
