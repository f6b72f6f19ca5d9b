"""The figures of a strategy in a contest, from the journal of its workers."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from bench.workers.journal import Answer, Entry, Journal, Moment, errors_of
from bench.workers.metrics import Trial, TrialWorker
from bench.workers.scenario import Contest, WorkerSpec

_FIRST_LETTER = ord("a")
_BLOCK = 25
"""Choices per point of a line."""


def trial(
    contest: Contest, strategy: str, seed: int, journal: Journal, answers: Sequence[Answer], makespan_ms: float
) -> Trial:
    """Compute the figures."""
    begun = [each for each in journal.entries if each.moment is Moment.BEGUN]
    letters = {each.id: chr(_FIRST_LETTER + place) for place, each in enumerate(contest.workers)}
    slowing = next((each.id for each in contest.workers if each.slowed_ms is not None), None)
    return Trial(
        contest=contest.name.value,
        strategy=strategy,
        seed=seed,
        tasks=len(answers),
        completed=sum(each.right for each in answers),
        errors=errors_of(answers),
        attempts=len(begun),
        makespan_ms=round(makespan_ms, 1),
        slowing=slowing,
        slows_after=contest.slows_after,
        slowing_load=[] if slowing is None else _load_by_block(journal, slowing, [each.at_s for each in begun]),
        workers=[_worker(contest, each, journal, begun) for each in contest.workers],
        choices="".join(letters[each.worker] for each in begun),
    )


def _worker(contest: Contest, spec: WorkerSpec, journal: Journal, begun: Sequence[Entry]) -> TrialWorker:
    chosen = [each.worker for each in begun]
    before = after = load_before = load_after = None
    turn = contest.slows_after
    if turn is not None and turn < len(begun):
        first_s, turn_s, last_s = (begun[place].at_s for place in (0, turn, -1))
        before, after = share(chosen[:turn], spec.id), share(chosen[turn:], spec.id)
        load_before = load_share(journal.entries, spec.id, first_s, turn_s)
        load_after = load_share(journal.entries, spec.id, turn_s, last_s)
    return TrialWorker(
        id=spec.id,
        capacity=spec.capacity,
        weight=spec.weight,
        tasks=chosen.count(spec.id),
        share=share(chosen, spec.id),
        peak=_peak(journal, spec.id),
        longest_run=max((len(list(run)) for worker, run in groupby(chosen) if worker == spec.id), default=0),
        furthest=furthest(chosen, spec.id, spec.weight / sum(each.weight for each in contest.workers)),
        share_before=before,
        share_after=after,
        load_before=load_before,
        load_after=load_after,
    )


def _load_by_block(journal: Journal, worker: str, begun_s: Sequence[float]) -> list[tuple[int, float]]:
    """Return the worker's load share in each block of choices, at the number of choices at its end."""
    ends = range(_BLOCK, len(begun_s) + 1, _BLOCK)
    return [
        (end, round(load_share(journal.entries, worker, begun_s[end - _BLOCK], begun_s[end - 1]), 4)) for end in ends
    ]


def share(chosen: Sequence[str], worker: str) -> float:
    """Return a worker's part of the choices; 0 of none."""
    return chosen.count(worker) / len(chosen) if chosen else 0.0


def furthest(chosen: Sequence[str], worker: str, part: float) -> float:
    """Return the largest distance of a worker's count from its part of the choices so far, over all moments."""
    count, largest = 0, 0.0
    for number, each in enumerate(chosen, start=1):
        count += each == worker
        largest = max(largest, abs(count - part * number))
    return round(largest, 2)


def load_share(entries: Sequence[Entry], worker: str, from_s: float, until_s: float) -> float:
    """Return a worker's part of the time that all workers spent in executing between two moments; 0 of none.

    A task that two workers execute one after the other counts for each.
    """
    began: dict[tuple[str, str], float] = {}
    spent: Counter[str] = Counter()
    for each in entries:
        if each.moment is Moment.BEGUN:
            began[each.worker, each.task] = each.at_s
        elif each.moment is Moment.DONE:
            spent[each.worker] += _overlap_us(began.pop((each.worker, each.task)), each.at_s, from_s, until_s)
    for (busy, _), at_s in began.items():
        spent[busy] += _overlap_us(at_s, until_s, from_s, until_s)
    total = spent.total()
    return spent[worker] / total if total else 0.0


def _overlap_us(began_s: float, ended_s: float, from_s: float, until_s: float) -> int:
    return max(0, round((min(ended_s, until_s) - max(began_s, from_s)) * 1e6))


def _peak(journal: Journal, worker: str) -> int:
    """Return the most tasks that the worker executed at once."""
    running = peak = 0
    for each in journal.entries:
        if each.worker == worker:
            running += (each.moment is Moment.BEGUN) - (each.moment is Moment.DONE)
            peak = max(peak, running)
    return peak
