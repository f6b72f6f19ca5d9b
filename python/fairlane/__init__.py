"""Fairlane: fair, budget-aware dispatch for LLM work.

The public names are those of ``__init__.pyi``. They are loaded on first use, so that ``import fairlane`` loads neither
Ray nor Redis.
"""

from fairlane.lazy import lazily

__getattr__, __dir__ = lazily(__name__)
