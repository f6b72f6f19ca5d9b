"""The health checker: its schedule, its verdicts, and checks that hang or ignore their cancellation."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from fairlane.telemetry.names import CHECK, HEALTH_CHECKS, HEALTH_DURATION
from fairlane.workers import CheckOutcome, HealthChecker, HealthReport, MemberEvent, WorkerGroup, WorkerStatus
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_checked import EVERY_SECOND, ILL, checker, ready, reports
from tests.support.worker_members import ScriptedMember, answer, hang, ignore_cancellation, take
from tests.support.worker_telemetry import Recording
from tests.support.worker_work import Unspeakable


@virtual_time
async def test_a_worker_is_checked_at_once_and_then_an_interval_after_the_end_of_each_check() -> None:
    member = ScriptedMember(checks=[take(0.25)])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(3)
    assert member.checked_s == [0, 1.25, 2.5]
    report = group.report("w")
    assert report == HealthReport("w", CheckOutcome.HEALTHY, "", 2.75, 0.25, 0, 3, healthy=True)
    assert report.age_s(VirtualClock()) == 0.25


@virtual_time
async def test_a_worker_is_checked_only_while_it_is_at_work() -> None:
    member = ScriptedMember()
    group = WorkerGroup([member])
    async with checker(group):
        await asyncio.sleep(5)
        await member.start()
        await asyncio.sleep(0.5)
        await member.drain()
        await asyncio.sleep(1)
        assert member.checked_s == [5, 6]
        await member.stop()
        await asyncio.sleep(5)
        assert member.checked_s == [5, 6]


@virtual_time
async def test_jitter_spreads_the_first_checks_and_all_intervals() -> None:
    members = [ScriptedMember(f"w{number}") for number in range(50)]
    group = await ready(*members)
    async with checker(group, EVERY_SECOND.model_copy(update={"jitter": 0.2})):
        await asyncio.sleep(10)
    firsts = {member.checked_s[0] for member in members}
    assert len(firsts) > 40
    assert all(0 <= first <= 0.2 for first in firsts)
    intervals = [
        after - before
        for member in members
        for before, after in zip(member.checked_s, member.checked_s[1:], strict=False)
    ]
    assert min(intervals) == pytest.approx(0.8, abs=0.02)
    assert max(intervals) == pytest.approx(1.2, abs=0.02)


async def nonsense() -> object:
    return "fine"


async def give_up() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("step", "outcome", "detail"),
    [
        (None, CheckOutcome.HEALTHY, ""),
        (ILL, CheckOutcome.UNHEALTHY, "no disk"),
        (ValueError("x" * 1_000), CheckOutcome.ERROR, "ValueError('xxx"),
        (nonsense, CheckOutcome.ERROR, "WorkerHealth"),
        (Unspeakable(), CheckOutcome.ERROR, "Unspeakable"),
        (give_up, CheckOutcome.ERROR, "the check was cancelled"),
        (hang, CheckOutcome.TIMEOUT, "no answer in time"),
    ],
)
@virtual_time
async def test_each_outcome_is_reported_and_counted(step: object, outcome: CheckOutcome, detail: str) -> None:
    recording = Recording()
    group = await ready(ScriptedMember(checks=[step]))  # type: ignore[list-item]
    async with HealthChecker(group, EVERY_SECOND, clock=VirtualClock(), telemetry=recording.telemetry):
        await asyncio.sleep(0.75)
        report = group.report("w")
    assert report is not None
    assert report.outcome is outcome
    assert detail in report.detail
    assert len(report.detail) <= 500
    assert report.took_s == (0.5 if outcome is CheckOutcome.TIMEOUT else 0)
    assert recording.values(HEALTH_CHECKS) == {("scripted", outcome): 1}
    assert recording.values(HEALTH_DURATION) == {("scripted", outcome): 1}
    names = {
        CheckOutcome.TIMEOUT: {"CancelledError"},
        CheckOutcome.ERROR: {"ValueError", "ValidationError", "Unspeakable", "CancelledError"},
    }
    [(name, attributes, problem, _)] = recording.spans()
    assert (name, attributes) == (CHECK.name, {"worker.id": "w", "kind": "scripted"})
    assert problem in names.get(outcome, {None})


@virtual_time
async def test_the_report_is_there_before_the_worker_fails() -> None:
    group = await ready(ScriptedMember(checks=[ILL]))
    at_failure: list[HealthReport | None] = []

    def see(event: MemberEvent) -> None:
        if event.after is WorkerStatus.FAILED:
            at_failure.append(group.report("w"))

    group.subscribe(see)
    async with checker(group):
        await asyncio.sleep(2.5)
    [report] = at_failure
    assert report is not None
    assert not report.healthy


@virtual_time
async def test_after_a_restart_it_is_well_only_after_enough_good_checks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    member = ScriptedMember(checks=[ILL, ILL, ILL, None, ILL, ILL, None, None])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(2.5)
        assert member.status is WorkerStatus.FAILED
        await member.start()
        former = group.report("w")
        assert former is not None
        assert (former.healthy, group.accepts_tasks(member.id)) == (False, False)
        known: list[tuple[int, int, bool, bool]] = []
        for _ in range(5):
            await settle()
            report = group.report("w")
            assert report is not None
            known.append((report.failures, report.successes, report.healthy, group.accepts_tasks(member.id)))
            await asyncio.sleep(1)
    assert known == [
        (0, 1, False, False),
        (1, 0, False, False),
        (2, 0, False, False),
        (0, 1, False, False),
        (0, 2, True, True),
    ]
    assert "worker w is healthy again" in caplog.text


@virtual_time
async def test_one_that_failed_for_another_reason_gets_tasks_at_once_and_has_no_report_yet() -> None:
    member = ScriptedMember(checks=[None, ILL, ILL])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(2.5)
        member.fail("killed")
        assert group.report("w") is not None
        await member.start()
        assert (group.report("w"), group.accepts_tasks(member.id)) == (None, True)
        await settle()
        report = group.report("w")
        assert report is not None
        assert (report.failures, report.healthy, group.accepts_tasks(member.id)) == (1, True, True)


@given(
    outcomes=st.lists(st.booleans(), max_size=40),
    failure_threshold=st.integers(1, 4),
    success_threshold=st.integers(1, 4),
)
def test_by_any_answers_it_is_well_exactly_as_the_thresholds_say(
    outcomes: list[bool], failure_threshold: int, success_threshold: int
) -> None:
    """An independent statement of the rule: the last streak that reached its threshold decides."""
    config = EVERY_SECOND.model_copy(
        update={"failure_threshold": failure_threshold, "success_threshold": success_threshold}
    )

    @virtual_time
    async def run() -> list[bool]:
        member = ScriptedMember(checks=[*(answer(healthy=good) for good in outcomes), None])
        group = await ready(member)
        seen = reports(group)
        async with checker(group, config):
            while len(seen) < len(outcomes):
                if member.status is WorkerStatus.FAILED:
                    await member.start()
                await asyncio.sleep(1)
        return [report.healthy for report in seen[: len(outcomes)]]

    assert run() == list(_expected_health(outcomes, failure_threshold, success_threshold))


def _expected_health(outcomes: list[bool], failure_threshold: int, success_threshold: int) -> Iterator[bool]:
    well, run = True, 0
    for number, good in enumerate(outcomes):
        run = run + 1 if number and outcomes[number - 1] is good else 1
        if run == (success_threshold if good else failure_threshold):
            well = good
            run = run if good else 0
        yield well


@virtual_time
async def test_a_check_that_ignores_its_cancellation_is_never_doubled_and_counts_each_time() -> None:
    end = asyncio.Event()
    member = ScriptedMember(checks=[ignore_cancellation(end), None])
    group = await ready(member)
    seen = reports(group)
    async with checker(group, EVERY_SECOND.model_copy(update={"failure_threshold": 9})):
        await asyncio.sleep(4.25)
        assert member.checked_s == [0]
        assert [(report.outcome, report.failures) for report in seen] == [
            (CheckOutcome.TIMEOUT, 1),
            (CheckOutcome.TIMEOUT, 2),
            (CheckOutcome.TIMEOUT, 3),
        ]
        assert seen[2].detail == "the previous check has not ended"
        end.set()
        await asyncio.sleep(1)
    assert member.checked_s == [0, 4.5]
    assert seen[-1].outcome is CheckOutcome.HEALTHY


@virtual_time
async def test_a_check_under_way_ends_with_the_life_of_its_worker_and_is_not_held_against_the_next() -> None:
    ended: list[float] = []

    async def until_cancelled() -> None:
        try:
            await hang()
        finally:
            ended.append(now_s())

    member = ScriptedMember(checks=[until_cancelled, None])
    group = await ready(member)
    seen = reports(group)
    async with checker(group):
        await asyncio.sleep(0.25)
        member.fail("broken")
        await member.start()
        await settle()
        assert ended == [0.25]
        assert [(report.outcome, report.checked_s) for report in seen] == [(CheckOutcome.HEALTHY, 0.25)]


@virtual_time
async def test_what_a_check_raises_after_it_was_let_go_goes_nowhere() -> None:
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    end = asyncio.Event()

    async def fail_late() -> None:
        try:
            await hang()
        except asyncio.CancelledError:
            await end.wait()
            raise ValueError("late") from None

    member = ScriptedMember(checks=[fail_late, None])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(1)
        end.set()
        await asyncio.sleep(1)
        report = group.report("w")
    assert report is not None
    assert report.outcome is CheckOutcome.HEALTHY
    assert problems == []


@virtual_time
async def test_its_end_waits_for_a_stubborn_check_no_longer_than_a_check_may_take(
    caplog: pytest.LogCaptureFixture,
) -> None:
    end = asyncio.Event()
    stubborn, obedient = ScriptedMember("stubborn", checks=[ignore_cancellation(end)]), ScriptedMember(checks=[hang])
    group = await ready(stubborn, obedient)
    async with checker(group):
        await asyncio.sleep(0.1)
    assert now_s() == pytest.approx(0.6)
    assert "abandoned calls that ignore their cancellation: HealthChecker of stubborn" in caplog.text
    assert "HealthChecker of w" not in caplog.text
    end.set()
    await settle()


@virtual_time
async def test_a_worker_that_cannot_even_be_failed_is_reported_in_the_log_and_disturbs_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(ScriptedMember):
        def fail(self, reason: str) -> None:
            raise RuntimeError("cannot fail")

    broken, other = Broken("broken", checks=[ILL]), ScriptedMember("other")
    group = await ready(broken, other)
    async with checker(group):
        await asyncio.sleep(4.5)
    assert "HealthChecker of broken failed" in caplog.text
    assert "cannot fail" in caplog.text
    assert other.checked_s == [0, 1, 2, 3, 4]


@virtual_time
async def test_checks_belong_to_no_trace_that_a_worker_became_ready_in() -> None:
    recording = Recording()
    member = ScriptedMember()
    group = WorkerGroup([member])
    async with HealthChecker(group, EVERY_SECOND, clock=VirtualClock(), telemetry=recording.telemetry):
        with recording.tracers.get_tracer("test").start_as_current_span("somebody's"):
            await member.start()
        await settle()
    assert [(name, has_parent) for name, _, _, has_parent in recording.spans()] == [
        ("somebody's", False),
        (CHECK.name, False),
    ]


@virtual_time
async def test_its_end_waits_for_a_check_that_cleans_up(caplog: pytest.LogCaptureFixture) -> None:
    async def clean_up() -> None:
        try:
            await hang()
        finally:
            await asyncio.sleep(0.25)

    group = await ready(ScriptedMember(checks=[clean_up]))
    async with checker(group):
        await asyncio.sleep(0.125)
    assert (now_s(), caplog.text) == (0.375, "")
