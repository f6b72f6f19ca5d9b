"""The private Valkey server of one machine, and the guard process that outlives its owner.

Owns processes, sockets and directories. Knows neither the Redis client nor Ray: one raw PING finds out whether the
server is ready, and to the guard, Ray's processes are processes with a given environment variable.
"""
