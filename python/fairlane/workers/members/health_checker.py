"""Asks workers how they are, each on its own schedule, and takes out those that fail too often in a row."""

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
    """Checks in a row since the worker last became ready, and whether it was well before."""

    well: bool
    failures: int = 0
    successes: int = 0

    def after(self, outcome: CheckOutcome, config: HealthConfig) -> "_Streak":
        if outcome is CheckOutcome.HEALTHY:
            successes = self.successes + 1
            return _Streak(self.well or successes >= config.success_threshold, 0, successes)
        failures = self.failures + 1
        return _Streak(self.well and failures < config.failure_threshold, failures, 0)


class HealthChecker(MemberMonitor):
    """Checks the members at work while its context is entered, which it is once, and records each report with the pool.

    A worker counts as well until ``failure_threshold`` checks in a row have failed; then it is declared failed. Once
    it is ready again, it is not well before ``success_threshold`` good checks in a row. One that failed for another
    reason while it was well is well as soon as it is ready. A check that does not end is cancelled; as long as it still
    does not, no other begins, and each that is due counts as timed out.
    """

    def __init__(
        self,
        pool: WorkerGroup[Any],
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
        super().__init__(pool, patience_s=self._timeout_s, logger=logger or logging.getLogger(__name__))

    def _needs_care(self, member: Member) -> bool:
        return member.status in AT_WORK

    async def _care(self, member: Member) -> None:
        before = self._pool.report(member.id)
        streak = _Streak(well=before is None or before.well)
        jitter = self._config.jitter
        await asyncio.sleep(self._interval_s * self._rng.uniform(0, jitter))
        while True:
            began_s = self._clock.monotonic_s()
            outcome, detail = await self._check(member)
            checked_s = self._clock.monotonic_s()
            took_s = checked_s - began_s
            self._telemetry.add(HEALTH_CHECKS, 1, member.info.kind, outcome)
            self._telemetry.observe(HEALTH_DURATION, took_s, member.info.kind, outcome)
            streak, was_well = streak.after(outcome, self._config), streak.well
            self._pool.record(
                HealthReport(
                    member.id, outcome, detail, checked_s, took_s, streak.failures, streak.successes, streak.well
                )
            )
            if streak.well and not was_well:
                self._log.info("worker %s is well again", member.id)
            if streak.failures == self._config.failure_threshold:
                member.fail(f"{streak.failures} failed health checks in a row, the last one: {outcome} {detail}")
            await asyncio.sleep(self._interval_s * (1 + self._rng.uniform(-jitter, jitter)))

    async def _check(self, member: Member) -> tuple[CheckOutcome, str]:
        if not await self._quiet(member, self._timeout_s):
            return CheckOutcome.TIMEOUT, "the check before has not ended"
        return _read(await self._call(member, self._ask(member), self._timeout_s))

    async def _ask(self, member: Member) -> WorkerHealth:
        with self._telemetry.span(CHECK, member.id, member.info.kind):
            return WorkerHealth.model_validate(await member.health())


def _read(check: asyncio.Task[WorkerHealth]) -> tuple[CheckOutcome, str]:
    if not check.done():
        return CheckOutcome.TIMEOUT, "it did not answer in time"
    if check.cancelled():
        return CheckOutcome.ERROR, "the check was cancelled"
    error = check.exception()
    if error is not None:
        return CheckOutcome.ERROR, shown(error, repr)[:_DETAIL_LENGTH]
    health = check.result()
    return CheckOutcome.HEALTHY if health.healthy else CheckOutcome.UNHEALTHY, health.detail
