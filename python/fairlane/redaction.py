"""Removes passwords and keys from texts, also from texts that were cut off within a URL."""

import re
from typing import Final

_PASSWORD: Final = re.compile(r"(://[^/\s:@]{0,100}:)\S{1,500}(?=@)")
_CUT_PASSWORD: Final = re.compile(r"(://[^/\s:@\[]{0,100}:)(?!\*\*\*@|\d{1,5}(?:[^\w@%-]|$))\S+")
"""What follows the colon is neither a hidden password nor a port, and its @ may have been cut off."""
_QUERY: Final = re.compile(r"([?&]password=)[^&\s'\"]+")
_KEY: Final = re.compile(r"\b(sk-)[\w-]{8,}")


def without_secrets(text: str) -> str:
    """Return ``text`` with ``***`` for each password of a URL and each key that begins with ``sk-``."""
    if "://" in text:
        text = _CUT_PASSWORD.sub(r"\1***", _PASSWORD.sub(r"\1***", text))
    if "password=" in text:
        text = _QUERY.sub(r"\1***", text)
    return _KEY.sub(r"\1***", text) if "sk-" in text else text
