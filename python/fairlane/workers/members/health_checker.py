"""Checks each worker's health on a schedule, and fails workers after too many failed checks in a row."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from fairlane.clock import SYSTEM_CLOCK, Clock, Rng, system_rng
from fairlane.config.workers import HealthConfig
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import CHECK, HEALTH_CHECKS, HEALTH_DURATION
from fairlane.workers.errors import invalid, shown
from fairlane.workers.members.abstract_member import AT_WORK
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_report import CheckOutcome, HealthReport
from fairlane.workers.members.member import Member, WorkerHealth
from fairlane.workers.members.monitor import MemberMonitor

_DETAIL_LENGTH = 500


@dataclass(frozen=True, slots=True)
class _Streak:
    """Consecutive checks since the worker last became ready."""

    healthy: bool
    failures: int = 0
    successes: int = 0

    def after(self, outcome: CheckOutcome, config: HealthConfig) -> "_Streak":
        if outcome is CheckOutcome.HEALTHY:
            successes = self.successes + 1
            return _Streak(self.healthy or successes >= config.success_threshold, 0, successes)
        failures = self.failures + 1
        return _Streak(self.healthy and failures < config.failure_threshold, failures, 0)


class HealthChecker(MemberMonitor):
    """Checks the members at work, and records each report with the group. Async context manager; use it once.

    A worker is healthy until ``failure_threshold`` checks in a row have failed; then the checker fails it. After its
    restart it is unhealthy until ``success_threshold`` checks in a row were good. A worker that failed for another
    reason while healthy is healthy again as soon as it is ready. A check that times out is cancelled. Until it has
    really ended no other check begins, and each one that is due counts as a timeout.
    """

    def __init__(
        self,
        group: WorkerGroup[Any],
        config: HealthConfig,
        *,
        clock: Clock = SYSTEM_CLOCK,
        rng: Rng | None = None,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """Raises WorkerError: invalid_configuration."""
        if not isinstance(config, HealthConfig):
            raise invalid("config", config, "a HealthConfig")
        self._config = config
        self._interval_s = config.interval_ms / 1000
        self._timeout_s = config.timeout_ms / 1000
        self._clock = clock
        self._rng = rng or system_rng()
        self._telemetry = telemetry or Telemetry()
        super().__init__(group, cancel_wait_s=self._timeout_s, logger=logger or logging.getLogger(__name__))

    def _should_monitor(self, member: Member) -> bool:
        return member.status in AT_WORK

    async def _monitor(self, member: Member) -> None:
        before = self._group.report(member.id)
        streak = _Streak(healthy=before is None or before.healthy)
        jitter = self._config.jitter
        await asyncio.sleep(self._interval_s * self._rng.uniform(0, jitter))
        while True:
            began_s = self._clock.monotonic_s()
            outcome, detail = await self._check(member)
            checked_s = self._clock.monotonic_s()
            took_s = checked_s - began_s
            self._telemetry.add(HEALTH_CHECKS, 1, member.info.kind, outcome)
            self._telemetry.observe(HEALTH_DURATION, took_s, member.info.kind, outcome)
            streak, was_healthy = streak.after(outcome, self._config), streak.healthy
            self._group.record(
                HealthReport(
                    member.id, outcome, detail, checked_s, took_s, streak.failures, streak.successes, streak.healthy
                )
            )
            if streak.healthy and not was_healthy:
                self._log.info("worker %s is healthy again", member.id)
            if streak.failures == self._config.failure_threshold:
                member.fail(f"{streak.failures} health checks in a row failed; last one: {outcome} {detail}")
            await asyncio.sleep(self._interval_s * (1 + self._rng.uniform(-jitter, jitter)))

    async def _check(self, member: Member) -> tuple[CheckOutcome, str]:
        if not await self._call_ended(member, self._timeout_s):
            return CheckOutcome.TIMEOUT, "the previous check has not ended"
        return _outcome(await self._call(member, self._query(member), self._timeout_s))

    async def _query(self, member: Member) -> WorkerHealth:
        with self._telemetry.span(CHECK, member.id, member.info.kind):
            return WorkerHealth.model_validate(await member.health())


def _outcome(check: asyncio.Task[WorkerHealth]) -> tuple[CheckOutcome, str]:
    if not check.done():
        return CheckOutcome.TIMEOUT, "no answer in time"
    if check.cancelled():
        return CheckOutcome.ERROR, "the check was cancelled"
    error = check.exception()
    if error is not None:
        return CheckOutcome.ERROR, shown(error, repr)[:_DETAIL_LENGTH]
    health = check.result()
    return CheckOutcome.HEALTHY if health.healthy else CheckOutcome.UNHEALTHY, health.detail
