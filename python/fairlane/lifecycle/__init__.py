"""A task's way: client, dispatch, execute, recover. Plain classes; a Ray actor or a test runs them alike."""
