"""Checks Fairlane's promises on a real server and real Ray processes. Run ``python -m bench`` from the root.

The library does not know that it is being measured: everything here comes from the event stream, from results and
from snapshots.
"""
