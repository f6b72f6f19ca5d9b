"""Hand-overs: dispatchers that are killed, between two steps and around one."""
