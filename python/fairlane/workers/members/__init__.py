"""The members of a group: their life, health and restarts."""
