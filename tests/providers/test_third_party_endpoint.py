"""The provider against a third-party endpoint: fakellm, which needs no model. Skipped if it is not installed."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("httpx2")
pytest.importorskip("fakellm")

from fairlane.config import EstimateConfig
from fairlane.config.openai_chat import OpenAIChatConfig
from fairlane.errors import TaskFailed
from fairlane.providers.openai_chat import OpenAIChatProvider
from tests.lifecycle.harness import TIMEOUT_S, Harness

RULES = """
version: 1
rules:
  - name: refused
    when: {messages_contain: "forbidden"}
    respond: {status: 400, error: "this is forbidden"}
  - name: greeting
    when: {messages_contain: "hello"}
    respond: {content: "Hi there!"}
"""
_LISTENING = re.compile(rb"running on (http://127\.0\.0\.1:\d+)")


@pytest.fixture
async def fakellm_url(tmp_path: Path) -> AsyncIterator[str]:
    """The address of the endpoint, which ends with the test."""
    rules = tmp_path / "fakellm.yaml"
    rules.write_text(RULES)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "uvicorn", "fakellm.server:app", "--host", "127.0.0.1", "--port", "0"),
        env=os.environ | {"FAKELLM_CONFIG": str(rules)},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while (found := _LISTENING.search(line := await process.stderr.readline())) is None:
                assert line, "the endpoint ended before it listened"
        yield f"{found[1].decode()}/v1"
    finally:
        process.terminate()
        await process.communicate()


async def test_tasks_run_through_it(fakellm_url: str, pool: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    await pool.put()
    await pool.dispatcher()
    await pool.worker(OpenAIChatProvider(OpenAIChatConfig(base_url=fakellm_url, model="tiny")))
    client = await pool.client(estimates=EstimateConfig())
    greeted = await client.submit("acme", {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 20})
    result = await greeted.result(timeout_s=TIMEOUT_S)
    assert isinstance(result, dict)
    assert result["choices"][0]["message"]["content"] == "Hi there!"
    [view] = await pool.store.get([greeted.ref])
    assert view is not None
    assert view.actual == result["usage"]["total_tokens"]
    assert client.coverage("acme").share == 1.0
    refused = await client.submit("acme", "forbidden")
    with pytest.raises(TaskFailed, match="this is forbidden"):
        await refused.result(timeout_s=TIMEOUT_S)
