"""Values and enums every layer shares: what a tenant, a task, an attempt and an event are.

Knows no Redis, no Ray, no configuration.
"""
