"""Computes every metric of a fairness scenario from its evidence. The arithmetic itself is the native core's."""

from bench.fairness.measures.measure import measure
from bench.fairness.measures.observation import Observation

__all__ = ["Observation", "measure"]
