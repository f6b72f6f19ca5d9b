"""Shared by all kinds of scenario: schedulers and workers to drive, the event stream, checks, tables and charts."""
