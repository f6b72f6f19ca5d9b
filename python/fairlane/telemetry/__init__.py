"""Fairlane's metrics and spans for OpenTelemetry: their names, and a recorder. Does nothing without an SDK."""

from fairlane.telemetry.recorder import Telemetry

__all__ = ["Telemetry"]
