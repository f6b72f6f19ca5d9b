"""A throttled task: it goes back to its place and costs nothing, and the pool pauses."""
