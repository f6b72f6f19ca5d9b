"""Computes every metric of a load scenario from its evidence. The arithmetic itself is the native core's."""

from bench.measures.load import measure
from bench.measures.observation import CallSpan, Observation

__all__ = ["CallSpan", "Observation", "measure"]
