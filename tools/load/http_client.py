"""A small HTTP client that reads as fast or as slowly as it is told, and hangs up when it is told."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from typing import Any

#: How many bytes of a response may wait in a slow reader, in all of its buffers.
_SLOW_BUFFER = 4096
_LINE = 64 * 1024


class Connection:
    """One request and its response, on a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.status = 0
        self.headers: dict[str, str] = {}

    @classmethod
    async def ask(cls, port: int, path: str, body: Any, headers: dict[str, str], slow: bool) -> Connection:
        """Send a request, and read the head of the response."""
        sock = socket.socket()
        if slow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SLOW_BUFFER)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        limit = _SLOW_BUFFER if slow else _LINE
        found = cls(*await asyncio.open_connection(sock=sock, limit=limit))
        content = json.dumps(body).encode()
        fields = {"host": "x", "connection": "close", "content-length": str(len(content)), **headers}
        head = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
        found._writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + content)
        try:
            await found._writer.drain()
            await found._read_head()
        except BaseException:
            found.hang_up()
            raise
        return found

    async def _read_head(self) -> None:
        self.status = int((await self._reader.readline()).split()[1])
        while line := (await self._reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()

    async def pieces(self, pause: float = 0) -> AsyncGenerator[bytes, None]:
        """The body piece by piece, with a pause before each."""
        if "content-length" in self.headers:
            yield await self._reader.readexactly(int(self.headers["content-length"]))
            return
        while size := int(await self._reader.readline(), 16):
            while size:
                await asyncio.sleep(pause)
                piece = await self._reader.read(min(size, _SLOW_BUFFER) if pause else size)
                if not piece:
                    raise ConnectionError("the response ends inside a piece")
                size -= len(piece)
                yield piece
            await self._reader.readline()
        await self._reader.readline()

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._writer.wait_closed()

    def hang_up(self) -> None:
        """Drop the connection."""
        self._writer.transport.abort()
