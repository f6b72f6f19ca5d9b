"""``fairlane audit``: checks that everything a scheduler has stored is consistent."""

import typer

from fairlane.audit import inspect
from fairlane.cli.formatting import one_line
from fairlane.lifecycle.connect import opened
from fairlane.store.connection import Endpoint


async def report(endpoint: Endpoint, name: str) -> int:
    """Print one line for each violation and return 1; without any, say so and return 0.

    Raises:
        ConfigError: no scheduler with this name has ever run there.
        StoreError: the server did not answer.
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
        typer.echo("fairlane: the state changed during every reading; audit again when nothing runs", err=True)
    count = len(findings.violations)
    typer.echo(f"{size}: {count} violation{'s' if count > 1 else ''}")
    return 1
