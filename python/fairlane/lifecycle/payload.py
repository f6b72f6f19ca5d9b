"""The encoding of payloads and results: JSON or bytes, distinguished by one tag byte. Never pickle.

JSON is canonical (sorted keys, no spaces), so that equal payloads have equal fingerprints.
"""

import hashlib
import json
from typing import Final

_JSON: Final = b"j"
_RAW: Final = b"b"
_JSON_TAG: Final = _JSON[0]
_RAW_TAG: Final = _RAW[0]

_encode_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_decode_json = json.JSONDecoder().decode


def encode(value: object) -> bytes:
    """Return ``value`` as bytes.

    Raises:
        ValueError: ``value`` is neither bytes nor JSON (NaN and infinity are not JSON).
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return _RAW + bytes(value)
    try:
        return _JSON + _encode_json(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"neither bytes nor JSON: {error}") from None
    except Exception as error:  # raised by the object itself, such as a dict's own `items`
        raise ValueError(f"neither bytes nor JSON: reading it raised {type(error).__name__}") from None


def decode(data: bytes) -> object:
    """Return the encoded value.

    Raises:
        ValueError: `encode` did not write ``data``.
    """
    tag = data[0] if data else None
    if tag == _JSON_TAG:
        try:
            decoded: object = _decode_json(str(data, "utf-8")[1:])
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not valid JSON: {error}") from None
        return decoded
    if tag == _RAW_TAG:
        return data[1:]
    raise ValueError("unknown payload format")


def fingerprint(payload: bytes, cost: int, priority: int, deadline_ms: int) -> bytes:
    """Return the SHA-256 digest of what makes two submissions under one id the same task."""
    return hashlib.sha256(b"%d:%d:%d:%b" % (cost, priority, deadline_ms, payload)).digest()
