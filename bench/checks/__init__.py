"""The promises of a single scenario, by name, with their parameters.

Each check judges what was measured. A metric that is absent or null fails its check: no check passes for want of
evidence. What compares scenarios with each other is in ``bench.claims``.
"""
