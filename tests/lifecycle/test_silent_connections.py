"""Connections that go silent without an end, such as behind a proxy or after an address was taken over."""

import asyncio
from pathlib import Path

from fairlane.store.bell import Bell
from fairlane.store.connection import Connector, Endpoint
from fairlane.store.store import Store
from tests.support.store_raw import command

HEARTBEAT_S = 0.3


class SilencingProxy:
    """Forwards a unix socket; `silence` makes it drop everything on the connections open at that moment."""

    def __init__(self, path: Path, server: str) -> None:
        self._path = path
        self._server = server
        self._generation = 0
        self.opened = 0
        self._ways: set[asyncio.Task[None]] = set()

    def silence(self) -> None:
        self._generation += 1

    async def __aenter__(self) -> "SilencingProxy":
        self._listener = await asyncio.start_unix_server(self._serve, self._path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        generation = self._generation
        from_server, to_server = await asyncio.open_unix_connection(self._server)
        for source, sink in ((reader, to_server), (from_server, writer)):
            way = asyncio.create_task(self._forward(source, sink, generation))
            self._ways.add(way)

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, generation: int) -> None:
        while data := await source.read(2**16):
            if generation == self._generation:
                sink.write(data)
        sink.close()


async def test_a_bell_on_a_silent_connection_rings_again_within_two_heartbeats(
    endpoint: Endpoint, name: str, tmp_path: Path
) -> None:
    proxied = SilencingProxy(tmp_path / "p", endpoint.url.removeprefix("unix://"))
    async with proxied as proxy, Store(endpoint, name) as direct:
        connector = Connector(Endpoint(f"unix://{tmp_path / 'p'}"))
        bell = Bell(connector, direct.keys.bell("x"))
        assert not await bell.wait(HEARTBEAT_S)
        proxy.silence()
        assert not await bell.wait(HEARTBEAT_S)
        assert not await bell.wait(HEARTBEAT_S)
        await command(direct, "RPUSH", direct.keys.bell("x"), "1")
        assert await bell.wait(20.0)
        await bell.close()
        await connector.close()
        await command(direct, "DEL", direct.keys.bell("x"))


async def test_a_bell_that_does_not_ring_keeps_its_connection(endpoint: Endpoint, name: str, tmp_path: Path) -> None:
    async with SilencingProxy(tmp_path / "p", endpoint.url.removeprefix("unix://")) as proxy:
        connector = Connector(Endpoint(f"unix://{tmp_path / 'p'}"))
        bell = Bell(connector, f"fl:{{{name}}}:bell:x")
        for _ in range(6):
            assert not await bell.wait(HEARTBEAT_S / 3)
        assert proxy.opened <= 3  # a connection for each wait would be 6; a slow server may cost one
        await bell.close()
        await connector.close()
