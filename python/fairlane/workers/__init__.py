"""Groups of workers: health checks, restarts, and which worker gets the next task. Loads neither Ray nor Redis.

The public names are those of ``__init__.pyi``. They are loaded on first use, so that a part of the package, such as a
worker's process, loads only what it needs.
"""

from fairlane.lazy import lazily

__getattr__, __dir__ = lazily(__name__)
