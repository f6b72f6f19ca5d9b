"""Payloads are JSON or bytes, in one canonical form, and never executable."""

import pickle

import pytest

from fairlane.lifecycle.payload import decode, encode, fingerprint


@pytest.mark.parametrize(
    "value", [None, True, 0, -1.5, 2**70, "", "ü\u2028😀", [], [1, [2]], {}, {"a": {"b": [None]}}, b"", b"\x00\xff{}"]
)
def test_a_payload_survives_encoding_and_decoding(value: object) -> None:
    assert decode(encode(value)) == value


def test_equal_objects_have_equal_bytes() -> None:
    assert encode({"a": 1, "b": [1, 2]}) == encode({"b": [1, 2], "a": 1})


def test_bytes_and_the_text_of_the_same_letters_differ() -> None:
    assert encode("abc") != encode(b"abc")
    assert decode(encode(bytearray(b"abc"))) == b"abc"
    assert decode(encode(memoryview(b"abc"))) == b"abc"


def _endless() -> list[object]:
    endless: list[object] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1, 2}, object(), {"x": b"inside"}, _endless(), "\ud800", {(1, 2): 3}]
)
def test_a_payload_that_is_neither_json_nor_bytes_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="neither bytes nor JSON"):
        encode(value)


@pytest.mark.parametrize(
    "data", [b"", b"x", b"j", b"j{", b"j\xff", b"j[1]2", b"j" + b"[" * 100_000, pickle.dumps({"a": 1})]
)
def test_bytes_that_were_not_encoded_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|format"):
        decode(data)


def test_the_fingerprint_distinguishes_every_part() -> None:
    base = (b"jnull", 10, 100, 0)
    changed = [(b"j1", 10, 100, 0), (b"jnull", 11, 100, 0), (b"jnull", 10, 99, 0), (b"jnull", 10, 100, 1)]
    assert fingerprint(*base) == fingerprint(*base)
    assert len({fingerprint(*base), *(fingerprint(*each) for each in changed)}) == 5
    assert fingerprint(b"jnull", 1, 11, 0) != fingerprint(b"jnull", 11, 1, 0)
