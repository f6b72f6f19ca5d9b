"""Where work is executed: on this loop and in threads, in a process of its own, behind whatever carries frames."""
