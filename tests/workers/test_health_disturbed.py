"""The health checker among checks that hang, ignore their cancellation, or outlive their worker."""

import asyncio

import pytest

from fairlane.telemetry.names import CHECK
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.health_report import CheckOutcome
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_checked import EVERY_SECOND, ILL, checker, ready, reports
from tests.support.worker_members import ScriptedMember, hang, ignore_cancellation, take
from tests.support.worker_telemetry import Recording

# -- what cannot disturb it ----------------------------------------------------------------------------------


@virtual_time
async def test_a_stuck_check_delays_no_other() -> None:
    stuck, other = ScriptedMember("stuck", checks=[hang]), ScriptedMember("other")
    group = await ready(stuck, other)
    async with checker(group, EVERY_SECOND.model_copy(update={"timeout_ms": 60_000})):
        await asyncio.sleep(3.5)
    assert other.checked_s == [0, 1, 2, 3]
    assert stuck.checked_s == [0]


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
async def test_a_check_that_ends_late_is_followed_by_one_with_all_its_time() -> None:
    end = asyncio.Event()
    member = ScriptedMember(checks=[ignore_cancellation(end), take(0.45)])
    group = await ready(member)
    async with checker(group):
        asyncio.get_running_loop().call_later(1.75, end.set)
        await asyncio.sleep(2.4)
    assert member.checked_s == [0, 1.75]
    report = group.report("w")
    assert report is not None
    assert (report.outcome, report.took_s) == (CheckOutcome.HEALTHY, pytest.approx(0.7))


@virtual_time
async def test_a_check_of_a_former_life_that_still_hangs_counts_against_the_new_one() -> None:
    end = asyncio.Event()
    member = ScriptedMember(checks=[ignore_cancellation(end), None])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(0.1)
        member.fail("broken")
        await member.start()
        await asyncio.sleep(0.75)
        report = group.report("w")
        assert report is not None
        assert (report.outcome, report.failures) == (CheckOutcome.TIMEOUT, 1)
        end.set()
        await asyncio.sleep(1)
    assert len(member.checked_s) == 2


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
async def test_at_its_end_no_task_of_its_own_is_left() -> None:
    group = await ready(ScriptedMember("between", checks=[None]), ScriptedMember("asking", checks=[hang]))
    async with checker(group):
        await asyncio.sleep(0.25)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual_time
async def test_its_end_waits_for_a_check_that_cleans_up(caplog: pytest.LogCaptureFixture) -> None:
    cleaned_s: list[float] = []

    async def clean_up() -> None:
        try:
            await hang()
        finally:
            await asyncio.sleep(0.25)
            cleaned_s.append(now_s())

    group = await ready(ScriptedMember(checks=[clean_up]))
    async with checker(group):
        await asyncio.sleep(0.125)
    assert (cleaned_s, now_s()) == ([0.375], 0.375)
    assert caplog.text == ""


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
async def test_with_nothing_injected_it_uses_the_systems_own() -> None:
    group = await ready(ScriptedMember())
    async with HealthChecker(group, EVERY_SECOND):
        await settle()
        assert group.report("w") is not None


@virtual_time
async def test_a_check_whose_error_cannot_be_shown_is_an_error_like_any_other() -> None:
    class Unspeakable(Exception):
        def __repr__(self) -> str:
            raise RuntimeError("no words")

        __str__ = __repr__

    member = ScriptedMember(checks=[Unspeakable(), None])
    group = await ready(member)
    seen = reports(group)
    async with checker(group):
        await asyncio.sleep(1.5)
    assert [(report.outcome, report.detail) for report in seen] == [
        (CheckOutcome.ERROR, "Unspeakable"),
        (CheckOutcome.HEALTHY, ""),
    ]
