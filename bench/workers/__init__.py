"""The worker layer by itself: strategies against each other, and workers that fail. Needs neither server nor Ray."""
