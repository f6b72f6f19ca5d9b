"""The workers as a pool: who among them gets the next task. Loads neither Ray nor Redis."""

from fairlane.pool.strategies import LeastBusy, RoundRobin, Strategy

__all__ = ["LeastBusy", "RoundRobin", "Strategy"]
