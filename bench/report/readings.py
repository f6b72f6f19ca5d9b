"""How to read the figures, for somebody who did not write the scheduler: per claim, and a glossary."""

from collections.abc import Iterable

from bench.results import Metrics, ScenarioResult

_CLAIMS = {
    "baseline": "This one shows the problem and is meant to look bad. The noisy tenant has the most urgent priority "
    "and submits more than the pool can do. Once its tasks fill the pool, the others start nothing: what they get, "
    "they get in the first moments, before the window. Inside it look at their starts, and at the half seconds in "
    "which they waited and started nothing. Whatever the following scenarios improve is measured against this.",
    "fair": "Interactive and standard keep level per weight. Noisy stays below them because it may hold only one slot, "
    "and one slot cannot do more; that is its ideal share too. So Jain's index cannot reach 1 here (perfect slots "
    "would give 0.908): look at the shares, which should match their ideals, and at `contention`.",
    "contention": "No tenant has ceilings of its own, so only the order of service decides. The lines of service per "
    "weight should lie on top of each other, and the gap between any two should stay within the bound, which does "
    "not grow with time. The two occupancies say that fairness is not bought with idle slots.",
    "adaptive": "The provider takes two calls at once instead of four between 1.5 s and 2.7 s. The capacity should "
    "drop at the first look after that and climb back by single slots. Throttled attempts are expected: what counts is "
    "that their tasks come back, complete, and leave nothing held.",
    "single-worker": "The same as `fair` on one worker. The figures should differ from it by no more than chance.",
    "budget-naive": "Only the race is naive, and its result is wrong on purpose: every contender read the same 200 "
    "before any of them wrote. The load beside it went through the product, so its figures match those of "
    "`budget-atomic`.",
    "budget-atomic": "All tasks are waiting before the pool may start any. Under the window the speed is the window's: "
    "four start at once, and four more each second. The first four need not wait, so 24 tasks need five full "
    "intervals and not six, and end in a little over 5 s: 4.7 tasks per second. Without the window the pool's four "
    "slots decide. The urgent tasks were submitted last and must be handed over and start first; only a worker that "
    "asks late for an urgent task that it has can let another worker's start come before. In the race two of "
    "four find the budget used up and are told so.",
    "throttle-requeue": "A third worker, played by the driver, is slow on purpose: it already has a task when the "
    "pause begins and asks for it only then. It has to wait like everybody else. The throttled task was ahead of "
    "all that waits, so it must be the first to be handed over again.",
    "race-budget": "The naive side shows the failure, so its result is wrong on purpose. On the repaired side every "
    "contender asks for a decision of its own at the same instant; which two win is chance, that it is two is not.",
    "race-controller": "The naive side shows the failure, so its result is wrong on purpose. On the repaired side "
    "exactly one of the controllers may have given a slot back.",
    "race-handoff": "The naive side shows the failure, so its result is wrong on purpose: the task is in no queue, and "
    "its slot stays taken. On the repaired side a kill finds a dispatcher either before or after its one step.",
    "pool-strategies": "Each contest gives every strategy the same tasks and a crew of its own, side by side. Where a "
    "slot is always free, only the strategy decides; the letters show its choices. Where slots bind, round robin fills "
    "up the slow worker and waits for it. A worker that slows down keeps its part of the load under plain "
    "least-busy; under the one with moving averages it should drop. `weighted` keeps the weights from wherever its "
    "seed lets it begin. `weighted-random` keeps them only roughly over 300 choices: what counts is that its seed "
    "repeats them.",
    "pool-health": "The times depend on the machine and on the short intervals chosen here; the checks are counts. The "
    "ill worker and the one whose check hangs keep what runs on them, so those tasks can only be completed elsewhere, "
    "in a second attempt.",
    "throughput": "Absolute speeds depend on the machine and on what else it does: a speed is the median of all turns, "
    "beside the fastest, which was disturbed least, and the checks are ratios within this run and counts. From 100 "
    "tenants to 10,000 the speed must stay, and that is checked. Three tenants cost less, and that is not promised to "
    "anybody else: a batch of some sixty tasks then reads and writes the records of three tenants instead of one for "
    "nearly each of its tasks (see the calls of `hmget` and `hset`). The loads hold a queue only for as long as they "
    "last; what a standing queue costs is timed call by call, without workers. There, 1,000 tasks of 10,000 tenants "
    "are one for every tenth tenant, which is served and has nothing more; with 100,000 it has a next task to look "
    "up, which costs a little.",
}

_GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "jain",
        "**Jain's index** is (Σx)² / (n·Σx²) over the tenants' service per weight: 1 means that everybody got exactly "
        "the share its weight stands for, 1/n that one tenant got everything. It is given only if enough started and "
        "every tenant had work waiting nearly all the time, because a tenant without work cannot be treated unfairly.",
    ),
    (
        "tenants",
        "**Service** is the actual cost of the attempts that started inside the observation window and completed; "
        "*per weight* divides it by the tenant's weight. The **ideal share** is what a perfect scheduler would give: "
        "as much per weight for everybody as the slots allow, but nobody more than its own slots can do in the "
        "cycle time that was measured (not given if a tenant starts nothing, or if the capacity changes). A "
        "**starvation window** is half a second in which a tenant waited and started nothing.",
    ),
    (
        "service_gap",
        "The **service gap** is the largest difference in service per weight that built up between two tenants over "
        "any stretch of time in which both had work that could run. The bound follows from the quantum, the largest "
        "costs and the errors of the estimates alone; it does not grow with time.",
    ),
    (
        "reserved_occupancy",
        "**Reserved occupancy** is the share of the pool's slot-time that was handed out, **provider occupancy** the "
        "share in which the provider was really working, by its own clock marks. The difference is what handing over, "
        "starting and settling cost.",
    ),
    (
        "controller_events",
        "The **capacity** is halved when the provider throttled since the last look, and comes back by one slot after "
        "four looks without a throttle; two changes are at least the cool-down apart. A throttled task keeps its "
        "place in the queue and counts as neither a failure nor as spent.",
    ),
    (
        "bursts",
        "**Admitted** is the sum of the estimates of all tasks let through, **in the ledger** what the ledger says is "
        "held or spent; both are shares of the budget. More admitted than the budget means money spent that nobody "
        "allowed, less in the ledger than admitted means that nobody will notice. **From a start to the first beyond "
        "the limit** is the shortest time in which one start more than the window allows took place.",
    ),
    (
        "naive",
        "The **naive** side reads, decides, and then writes; a barrier stands where any delay could stand. The "
        "**repaired** side makes the same decision inside one script, so the second contender sees the first one's "
        "change.",
    ),
    (
        "pool_trials",
        "A **choice** is an attempt that begins. The **longest run** is the most choices in a row that fell on one "
        "worker, **furthest from its weight's share** the largest distance of its count from what its weight says, at "
        "any moment. The **load** is the time that workers spent in executing. **Makespan** is the time from the first "
        "assignment to the last result; slots **bind** when a worker's are all taken.",
    ),
    (
        "pool_health",
        "A worker is **taken out** when its checks have failed so often in a row as the failure threshold says: it "
        "counts as failed, what it executes is tried elsewhere, and the supervisor starts it anew. It is **back** "
        "when enough checks in a row were good. A check that gives no answer in its time counts as failed, and as "
        "failed again for each further one that is due while it still hangs.",
    ),
    (
        "loads",
        "**Tasks per second** run from the first submit to the last result in the client's hands; the kinds of load "
        "take turns, and **against 100 tenants** is the median over the turns of the ratio to the load of 100 "
        "tenants without limits in the same turn. **Calls per task** are the server commands that scripts and clients "
        "execute over a task's whole life: in the median turn, and in the one with the **most**, which is what the "
        "check looks at. The server's CPU per task bounds what one server can do.",
    ),
    (
        "backlogs",
        "**Tasks waiting** is a queue that keeps its length: what a call hands over is submitted anew before the next "
        "one. Queues of all lengths take turns, and **against the shortest queue** is the median over the turns of the "
        "ratio to its call in the same turn. **Bytes per pending task** are all that the server allocates for it, its "
        "entry in the event stream included.",
    ),
    (
        "drained",
        "**What a load leaves behind** is looked at once its results were collected and their retention has passed: "
        "the number of keys must be what it was, and next to nothing of the memory may be kept.",
    ),
)


def reading(scenario: ScenarioResult) -> str | None:
    """Return how to read one scenario's outcome; None for one that is unknown here."""
    return _CLAIMS.get(scenario.name)


def glossary(metrics: Iterable[Metrics]) -> list[str]:
    """Return what a reader needs to know about the figures that appear."""
    shown = list(metrics)
    return [text for name, text in _GLOSSARY if any(getattr(each, name) for each in shown)]
