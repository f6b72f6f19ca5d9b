"""Counts what the server does for one task, and holds the counts to a committed budget: ``make instructions``."""
