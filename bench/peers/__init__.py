"""The same work on other queues, side by side with Fairlane: ``python -m bench peers``."""
