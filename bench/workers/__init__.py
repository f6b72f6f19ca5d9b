"""The worker layer alone: strategies against each other, and workers that fail. Needs neither server nor Ray."""
