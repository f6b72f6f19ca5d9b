"""The cost of a decision: throughput, round trips, single calls of the store, queues, and traces of a load."""
