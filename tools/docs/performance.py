"""Renders docs/performance.md: what a task costs the server by the committed budget, and other queues beside it.

Run as ``python -m tools.docs.performance > docs/performance.md``.
"""

import sys
from typing import Final

from tools.docs import peers
from tools.instructions.budget import ABOVE, BELOW, Budget
from tools.instructions.table import table

_PAGE: Final = """\
# What a task costs the server

Generated from `tools/instructions/budget.json` and `tools/docs/peers.json` by `python -m tools.docs.performance`; do
not edit.

The server is one thread that all tenants share, so what it does per task bounds a scheduler's throughput.
`make instructions` counts that and compares it with a committed budget. The counts do not depend on how busy the
machine is, as times do. `python -m bench throughput` measures times.

## The load

Time is virtual. All tenants are alike, and at least two tasks of each wait. Two workers have 256 slots each. A task's
estimate is 1,000 units and its actual cost 700; the quantum is 1,000. Events are on, and their stream is at its limit.
One cycle is

1. `submit` of a batch,
2. `turn` by each worker: it settles what it ran, and starts as many of the next tasks,
3. `collect` by the client.

Both workers share a batch of 64. In batches of 1 the workers work in turn: one task, a call for each step. The
dispatcher gives the workers their first tasks; it is not counted, because busy workers serve themselves.

The last row is a round trip while nothing waits: `submit` places the task at once, by a plan that the dispatcher makes
for every 25 tasks; the worker takes it and settles it (both under `turn`); the client collects it.

The counts leave out what does not belong to these calls: the server's timers, waits for bells, heartbeats, and the
expiry of ended tasks after `pool.retention_ms`.

## Instructions

Machine instructions of the embedded server's own binary, from reading a request to writing its reply. callgrind, a
tool of valgrind, counts them. The server's hash seed is fixed. The figures are of Valkey {server}.

{instructions}

Repeated, a sum over the commands (column "all") differs by about 1 %. A single command's count says less: Lua
collects its garbage step by step, in whichever script runs just then, and a change to one command can move that work to
another. So the budget limits the sum.

## The hops of a task

While nothing waits, a task makes four round trips to the server, one after the other. The last row above has what they
cost there.

1. `submit`, by the client: the task is admitted, and placed with the worker that the plan names. The worker's bell
   rings.
2. `start`, by the worker: it takes the task (counted under `turn`).
3. `turn`, by the worker, after the provider's call: the task is settled. The client's bell rings.
4. `collect`, by the client: it reads its stream of ends.

A bell is a blocking pop on a connection of its own, so a wake-up adds half a round trip and the time until the
sleeper's process runs. The dispatcher makes a plan for up to 32 tasks, beside their way.

Where tasks wait, a busy worker's `turn` settles what has ended and brings the next tasks, and the client collects many
ends at once. The dispatcher has a part in it only while workers have free slots: it places a batch, and wakes them.

## Calls

Commands that the server runs, in scripts and out, by `INFO commandstats`. The script call itself is one of them.

{calls}

With few tenants a batch costs less, because a call loads and writes each of its tenants once.

## Bytes

Requests and replies together, by `INFO stats`.

{bytes}

## The budget

Calls and bytes have a budget for each command, instructions one for all commands together. A measure may exceed its
budget by {above}. A measure more than {below} below its budget fails as well: the budget must follow, or a later
change could lose again, unseen, what was gained. [CONTRIBUTING.md](../CONTRIBUTING.md#check) says how to accept a new
budget.

{peers}"""


def render() -> str:
    """Return the page."""
    budget = Budget.read()
    tables = {kind: "\n".join(table(budget.costs, kind)) for kind in ("instructions", "calls", "bytes")}
    return _PAGE.format(
        server=budget.server, above=f"{100 * ABOVE:g} %", below=f"{100 * BELOW:g} %", peers=peers.render(), **tables
    )


if __name__ == "__main__":
    sys.stdout.write(render())
