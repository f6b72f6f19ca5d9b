"""The health checker: who is asked when, what is made of the answers, and what cannot disturb it."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from fairlane.telemetry.names import CHECK, HEALTH_CHECKS, HEALTH_DURATION
from fairlane.workers.members.events import MemberEvent
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.health_report import CheckOutcome, HealthReport
from fairlane.workers.members.status import WorkerStatus
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time
from tests.support.worker_checked import EVERY_SECOND, ILL, checker, ready, reports
from tests.support.worker_members import ScriptedMember, answer, hang, take
from tests.support.worker_telemetry import Recording

# -- when ----------------------------------------------------------------------------------------------------


@virtual_time
async def test_a_worker_is_checked_at_once_and_then_an_interval_after_the_end_of_each_check() -> None:
    member = ScriptedMember(checks=[take(0.25)])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(3)
    assert member.checked_s == [0, 1.25, 2.5]
    assert group.report("w") == HealthReport("w", CheckOutcome.HEALTHY, "", 2.75, 0.25, 0, 3, healthy=True)


@virtual_time
async def test_the_age_of_a_report_grows() -> None:
    group = await ready(ScriptedMember())
    async with checker(group):
        await asyncio.sleep(0.75)
        report = group.report("w")
    assert report is not None
    assert report.age_s(VirtualClock()) == 0.75


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


@virtual_time
async def test_the_same_seed_checks_at_the_same_times() -> None:
    times = []
    for _ in range(2):
        member = ScriptedMember()
        group = await ready(member)
        began_s = now_s()
        async with checker(group, EVERY_SECOND.model_copy(update={"jitter": 0.5}), seed=7):
            await asyncio.sleep(20)
        times.append([round(checked_s - began_s, 6) for checked_s in member.checked_s])
    assert times[0] == times[1]


@pytest.mark.parametrize("status", [WorkerStatus.CREATED, WorkerStatus.STOPPED, WorkerStatus.FAILED])
@virtual_time
async def test_who_is_not_at_work_is_not_asked(status: WorkerStatus) -> None:
    member = ScriptedMember()
    if status is not WorkerStatus.CREATED:
        await member.start()
    if status is WorkerStatus.STOPPED:
        await member.stop()
    elif status is WorkerStatus.FAILED:
        member.fail("broken")
    group = WorkerGroup([member])
    async with checker(group):
        await asyncio.sleep(5)
        assert (member.status, member.checked_s, group.report("w")) == (status, [], None)
        await member.start()
        await settle()
        assert member.checked_s == [5]


@virtual_time
async def test_a_draining_worker_is_checked_until_it_stops() -> None:
    member = ScriptedMember()
    group = await ready(member)
    async with checker(group):
        await member.drain()
        await asyncio.sleep(1.5)
        assert member.checked_s == [0, 1]
        await member.stop()
        await asyncio.sleep(5)
    assert member.checked_s == [0, 1]


@virtual_time
async def test_who_comes_is_checked_and_who_goes_is_not() -> None:
    group: WorkerGroup[ScriptedMember] = WorkerGroup()
    member = ScriptedMember()
    await member.start()
    async with checker(group):
        await asyncio.sleep(2)
        group.add(member)
        await asyncio.sleep(1.5)
        assert member.checked_s == [2, 3]
        await group.remove("w")
        await member.start()
        await asyncio.sleep(5)
    assert member.checked_s == [2, 3]


@virtual_time
async def test_after_its_end_nobody_is_asked() -> None:
    member = ScriptedMember(checks=[take(0.1)])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(0.05)
    await member.stop()
    await member.start()
    await asyncio.sleep(5)
    assert member.checked_s == [0]
    assert group.report("w") is None


# -- what is made of the answers -----------------------------------------------------------------------------


async def nonsense() -> object:
    return "fine"


@pytest.mark.parametrize(
    ("step", "outcome", "detail"),
    [
        (None, CheckOutcome.HEALTHY, ""),
        (ILL, CheckOutcome.UNHEALTHY, "no disk"),
        (ValueError("x" * 1_000), CheckOutcome.ERROR, "ValueError('xxx"),
        (nonsense, CheckOutcome.ERROR, "WorkerHealth"),
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
    names = {CheckOutcome.TIMEOUT: {"CancelledError"}, CheckOutcome.ERROR: {"ValueError", "ValidationError"}}
    [(name, attributes, problem, _)] = recording.spans()
    assert (name, attributes) == (CHECK.name, {"worker.id": "w", "kind": "scripted"})
    assert problem in names.get(outcome, {None})


@virtual_time
async def test_a_check_that_was_cancelled_from_within_is_an_error() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    member = ScriptedMember(checks=[give_up, None])
    group = await ready(member)
    seen = reports(group)
    async with checker(group):
        await asyncio.sleep(1.5)
    assert [report.outcome for report in seen] == [CheckOutcome.ERROR, CheckOutcome.HEALTHY]
    assert seen[0].detail == "the check was cancelled"


@virtual_time
async def test_so_many_failures_in_a_row_and_it_is_taken_out(caplog: pytest.LogCaptureFixture) -> None:
    member = ScriptedMember(checks=[ILL, ILL, None, ILL, ValueError("lost"), hang])
    group = await ready(member)
    seen = reports(group)
    async with checker(group):
        await asyncio.sleep(5.25)
        assert member.status is WorkerStatus.READY
        await asyncio.sleep(10)
    assert [(report.failures, report.successes, report.healthy) for report in seen] == [
        (1, 0, True),
        (2, 0, True),
        (0, 1, True),
        (1, 0, True),
        (2, 0, True),
        (3, 0, False),
    ]
    assert member.status is WorkerStatus.FAILED
    assert "3 health checks in a row failed; last one: timeout" in caplog.text


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
async def test_a_restarted_worker_that_is_still_ill_fails_again_after_as_many_checks() -> None:
    member = ScriptedMember(checks=[ILL])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(3)
        await member.start()
        await asyncio.sleep(1.5)
        assert member.status is WorkerStatus.READY
        await asyncio.sleep(1)
        assert member.status is WorkerStatus.FAILED
    assert member.checked_s == [0, 1, 2, 3, 4, 5]


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


@virtual_time
async def test_who_is_added_anew_begins_anew() -> None:
    member = ScriptedMember(checks=[ILL, ILL, ILL, None])
    group = await ready(member)
    async with checker(group):
        await asyncio.sleep(2.5)
        await group.remove("w")
        group.add(member)
        assert group.report("w") is None
        await member.start()
        assert group.accepts_tasks(member.id)
        await settle()
        report = group.report("w")
        assert report is not None
        assert (report.successes, report.healthy) == (1, True)


@given(
    outcomes=st.lists(st.booleans(), max_size=40),
    failure_threshold=st.integers(1, 4),
    success_threshold=st.integers(1, 4),
)
def test_by_any_answers_it_is_well_exactly_as_the_thresholds_say(
    outcomes: list[bool], failure_threshold: int, success_threshold: int
) -> None:
    """The rule, told once more the slow way: the last run of equal outcomes that was long enough decides."""
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

    assert run() == list(_wellness(outcomes, failure_threshold, success_threshold))


def _wellness(outcomes: list[bool], failure_threshold: int, success_threshold: int) -> Iterator[bool]:
    well, run = True, 0
    for number, good in enumerate(outcomes):
        run = run + 1 if number and outcomes[number - 1] is good else 1
        if run == (success_threshold if good else failure_threshold):
            well = good
            run = run if good else 0
        yield well
