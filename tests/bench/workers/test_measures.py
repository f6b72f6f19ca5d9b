"""Figures about workers, from journals whose figures can be counted by hand."""

import pytest

from bench.workers.journal import Answer, Entry, Journal, Moment
from bench.workers.measure_health import health, outage
from bench.workers.measure_strategies import furthest, share, trial
from bench.workers.metrics import Bystander
from bench.workers.scenario import Contest, ContestName, Entrant, WorkerSpec
from bench.workers.scenarios import HEALTH
from fairlane.workers import CheckOutcome, HealthReport

WORKERS = (
    WorkerSpec(id="x", capacity=2, weight=2, takes_ms=1, slowed_ms=9),
    WorkerSpec(id="y", capacity=3, weight=1, takes_ms=1),
)


def contest(slows_after: int | None = None) -> Contest:
    return Contest(
        name=ContestName.SLOWDOWN,
        workers=WORKERS,
        callers=1,
        entrants=(Entrant(strategy="s"),),
        slows_after=slows_after,
    )


class Story:
    """A journal written by hand: each entry a millisecond after the one before."""

    def __init__(self) -> None:
        self.journal = Journal()

    def add(self, moment: Moment, worker: str, task: str = "", report: HealthReport | None = None) -> None:
        self.journal.entries.append(Entry(len(self.journal.entries) / 1000, moment, worker, task, report))

    def begun(self, worker: str, *tasks: str) -> None:
        for each in tasks:
            self.add(Moment.BEGUN, worker, each)

    def done(self, worker: str, *tasks: str) -> None:
        for each in tasks:
            self.add(Moment.DONE, worker, each)

    def report(self, worker: str, outcome: CheckOutcome, *, well: bool, successes: int = 0) -> None:
        self.add(Moment.REPORT, worker, report=HealthReport(worker, outcome, "", 0.0, 0.0, 0, successes, well))


class TestTrial:
    def story(self) -> Story:
        story = Story()
        story.begun("x", "1", "2")
        story.begun("y", "3")
        story.done("x", "1")
        story.begun("x", "4")
        story.done("x", "2", "4")
        story.done("y", "3")
        return story

    def test_everything_counted(self):
        answers = [Answer(str(number), ("x",), right=number != 4) for number in range(1, 5)]
        found = trial(contest(2), "s", 7, self.story().journal, answers, 12.34)
        assert (found.contest, found.strategy, found.seed, found.choices) == ("slowdown", "s", 7, "aaba")
        assert (found.tasks, found.completed, found.attempts, found.makespan_ms) == (4, 3, 4, 12.3)
        assert (found.slowing, found.slows_after) == ("x", 2)
        x, y = found.workers
        assert (x.tasks, x.share, x.peak, x.longest_run, x.share_before, x.share_after) == (3, 0.75, 2, 2, 1.0, 0.5)
        assert (y.tasks, y.share, y.peak, y.longest_run, y.share_before, y.share_after) == (1, 0.25, 1, 1, 0.0, 0.5)
        # Before: x executes for 1 + 2 ms; from then on until its last task begins for 1 + 2 ms more, and y for 2 ms.
        assert (x.load_before, x.load_after, y.load_before, y.load_after) == (1.0, 0.6, 0.0, 0.4)
        assert (found.worker("y"), found.worker("z"), found.worker(None)) == (y, None, None)

    def test_without_a_slowdown_there_is_no_before(self):
        found = trial(contest(), "s", 7, self.story().journal, [], 1.0)
        assert {each.share_before for each in found.workers} == {each.load_after for each in found.workers} == {None}

    def test_nothing_chosen(self):
        found = trial(contest(), "s", 7, Journal(), [], 1.0)
        for each in found.workers:
            assert (each.share, each.peak, each.longest_run, each.furthest) == (0, 0, 0, 0)

    def test_shares(self):
        assert share(["x", "y", "x", "x"], "x") == 0.75
        assert share([], "x") == 0

    @pytest.mark.parametrize(
        ("chosen", "distance"), [("xyxy", 0.5), ("xxyy", 1.0), ("yyyy", 2.0), ("xxxxyyyy", 2.0), ("", 0.0)]
    )
    def test_furthest_from_its_share(self, chosen, distance):
        assert furthest([*chosen], "x", 0.5) == distance


ILL, STUCK = HEALTH.ill, HEALTH.stuck
_, _, THIRD, FOURTH = (each.id for each in HEALTH.workers)


class TestOutage:
    def story(self, *, comes_back: bool = True) -> Story:
        story = Story()
        story.add(Moment.LIVES, ILL)
        story.begun(ILL, "1", "2", "3")
        story.done(ILL, "1")
        story.report(ILL, CheckOutcome.UNHEALTHY, well=True)
        story.add(Moment.TROUBLE, ILL)
        for well in (True, True, False):
            story.add(Moment.CHECK, ILL)
            story.report(ILL, CheckOutcome.UNHEALTHY, well=well)
        story.begun(ILL, "4")
        story.add(Moment.FAILED, ILL)
        story.begun(THIRD, "2", "3")
        story.done(THIRD, "2")
        story.add(Moment.RELIEF, ILL)
        story.add(Moment.LIVES, ILL)
        story.report(ILL, CheckOutcome.HEALTHY, well=False, successes=1)
        if comes_back:
            story.report(ILL, CheckOutcome.HEALTHY, well=True, successes=2)
            story.begun(ILL, "5")
            story.done(ILL, "5")
            story.done(THIRD, "4")
        return story

    def test_everything_counted(self):
        found = outage(self.story().journal, ILL, "ill")
        assert (found.worker, found.how) == (ILL, "ill")
        assert (found.failed_checks, found.checks_begun) == ({"unhealthy": 3}, 3)
        assert (found.out_after_ms, found.back_after_ms) == (8.0, 3.0)
        assert (found.running, found.moved) == (3, 2)
        assert (found.restarts, found.good_checks, found.early, found.tasks_after) == (1, 2, 0, 1)

    def test_a_worker_that_is_taken_out_a_check_too_late(self):
        story = Story()
        story.add(Moment.TROUBLE, ILL)
        for well in (True, True, False, False):
            story.report(ILL, CheckOutcome.UNHEALTHY, well=well)
        story.add(Moment.FAILED, ILL)
        story.report(ILL, CheckOutcome.UNHEALTHY, well=False)
        assert outage(story.journal, ILL, "ill").failed_checks == {"unhealthy": 4}

    def test_failed_checks_by_how_they_ended(self):
        story = Story()
        story.report(STUCK, CheckOutcome.ERROR, well=True)
        story.add(Moment.TROUBLE, STUCK)
        for outcome in (CheckOutcome.TIMEOUT, CheckOutcome.ERROR, CheckOutcome.HEALTHY, CheckOutcome.TIMEOUT):
            story.report(STUCK, outcome, well=True)
            story.report(ILL, CheckOutcome.UNHEALTHY, well=True)
        story.add(Moment.FAILED, STUCK)
        assert outage(story.journal, STUCK, "stuck").failed_checks == {"error": 1, "timeout": 2}

    def test_a_task_given_to_the_worker_too_early(self):
        story = self.story(comes_back=False)
        story.begun(ILL, "6")
        assert outage(story.journal, ILL, "ill").early == 1

    def test_a_worker_that_does_not_come_back(self):
        found = outage(self.story(comes_back=False).journal, ILL, "ill")
        assert (found.good_checks, found.back_after_ms, found.tasks_after, found.restarts) == (None, None, 0, 1)

    def test_a_worker_that_is_not_taken_out(self):
        story = Story()
        story.add(Moment.TROUBLE, ILL)
        story.report(ILL, CheckOutcome.HEALTHY, well=True)
        found = outage(story.journal, ILL, "ill")
        assert (found.out_after_ms, found.failed_checks, found.running, found.restarts) == (None, {}, 0, 0)

    def test_a_worker_without_an_outage(self):
        with pytest.raises(ValueError, match="nothing happened to x"):
            outage(Journal(), "x", "ill")


class TestHealth:
    def test_answers_attempts_and_the_checks_of_the_others(self):
        story = Story()
        story.add(Moment.CHECK, THIRD)
        story.add(Moment.TROUBLE, ILL)
        story.add(Moment.TROUBLE, STUCK)
        for _ in range(HEALTH.health.interval_ms - 1):
            story.add(Moment.CHECK, THIRD)
        story.add(Moment.RELIEF, STUCK)
        story.add(Moment.CHECK, FOURTH)
        story.done(THIRD, "1", "2")
        story.done(FOURTH, "2")
        answers = [
            Answer("1", ("a",), right=True),
            Answer("2", ("a", "b"), right=True),
            Answer("3", ("a", "b"), right=False, error="lost"),
        ]
        found = health(HEALTH, story.journal, answers)
        assert (found.tasks, found.completed, found.errors) == (3, 2, ["lost"])
        assert (found.attempts, found.done_again) == ({"1": 1, "2": 2}, ["2"])
        assert found.bystanders == [
            Bystander(worker=THIRD, checks=HEALTH.health.interval_ms - 1, expected=1.0, usual=20.0),
            Bystander(worker=FOURTH, checks=0, expected=1.0, usual=0.0),
        ]
        assert [each.how for each in found.outages] == ["ill", "stuck"]

    def test_a_check_that_never_hung(self):
        story = Story()
        story.add(Moment.TROUBLE, ILL)
        with pytest.raises(ValueError, match=f"nothing happened to {STUCK}"):
            health(HEALTH, story.journal, [])
