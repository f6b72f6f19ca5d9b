"""Values and enums that all layers share: tenants, tasks, attempts and events.

Knows no Redis, no Ray, no configuration.
"""
