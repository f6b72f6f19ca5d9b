"""What a worker and its process tell each other, from both sides."""

import asyncio

import pytest
from hypothesis import given, strategies as st

from fairlane.workers.transports.exchange import Exchange
from fairlane.workers.transports.frames import Answer, AnswerKind, Call, Cancel, Message, Ping, Ready, Unpacker, pack

MESSAGES = [Ready(), Call(1, b"x" * 300), Cancel(1), Ping(2), Answer(1, AnswerKind.RAISED, b"", "trace"), Call(3, b"")]


@given(st.lists(st.sampled_from(MESSAGES)), st.integers(1, 1_000))
def test_frames_are_put_together_from_any_pieces(messages: list[Message], size: int) -> None:
    stream = b"".join(map(pack, messages))
    unpacker = Unpacker()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [message for piece in pieces for message in unpacker.feed(piece)] == messages


async def test_what_comes_too_late_from_a_process_is_dropped() -> None:
    written: list[bytes] = []
    exchange = Exchange(written.append)
    exchange.feed(pack(Ready()))
    await exchange.ready
    number, answer = exchange.call(b"")
    exchange.cancel(number)
    assert b"".join(written) == pack(Call(number, b"")) + pack(Cancel(number))
    exchange.finish("it has ended")
    exchange.cancel(number)
    assert len(written) == 2
    exchange.feed(pack(Ready()) + pack(Answer(number, AnswerKind.VALUE)))
    with pytest.raises(ChildProcessError, match="it has ended"):
        await answer


async def test_an_answer_to_somebody_who_has_left_is_dropped() -> None:
    exchange = Exchange(lambda _: None)
    ping = asyncio.create_task(exchange.ping())
    await asyncio.sleep(0)
    ping.cancel()
    await asyncio.wait({ping})
    exchange.feed(pack(Answer(0, AnswerKind.VALUE)))
    assert ping.cancelled()
