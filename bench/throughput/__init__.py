"""What a decision costs: throughput, round trips, single calls of the store, queues, and what a load leaves."""
