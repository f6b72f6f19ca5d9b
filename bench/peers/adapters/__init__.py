"""One small adapter for each queue, to run in the queue's own environment: they import no other part of the bench."""
