"""What Fairlane tells OpenTelemetry: the names, and how they are recorded. Without an SDK all of it does nothing."""

from fairlane.telemetry.recorder import Telemetry

__all__ = ["Telemetry"]
