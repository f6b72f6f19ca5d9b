"""Strategies choose the worker that gets the next task. None of them blocks, and each costs O(log workers) or less."""

from fairlane.workers.strategies.base import Candidate, Strategy
from fairlane.workers.strategies.registry import make_strategy, register_strategy, strategy_names

__all__ = ["Candidate", "Strategy", "make_strategy", "register_strategy", "strategy_names"]
