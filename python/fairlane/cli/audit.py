"""``fairlane audit``: whether all that a scheduler has stored holds together."""

import typer

from fairlane.audit import inspect
from fairlane.cli.formatting import one_line
from fairlane.lifecycle.connect import opened
from fairlane.store.connection import Endpoint


async def report(endpoint: Endpoint, name: str) -> int:
    """Print what does not hold, one line each, and return 1; or that everything does, and return 0.

    Raises:
        ConfigError: no scheduler of this name has ever run there.
        StoreError: the server cannot be asked.
    """
    async with opened(endpoint, name) as store:
        findings = await inspect(store)
    for violation in findings.violations:
        typer.echo(one_line(str(violation)))
    size = f"{findings.tasks} tasks, {findings.tenants} tenants"
    if not findings.violations:
        typer.echo(f"{size}: sound")
        return 0
    if not findings.at_rest:
        typer.echo("fairlane: something moved during each reading; audit a scheduler at rest to be sure", err=True)
    typer.echo(f"{size}: {len(findings.violations)} violations")
    return 1
