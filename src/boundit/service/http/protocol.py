"""HTTP connections that do not wait for ever: slow or endless headers end them."""

import asyncio
from typing import Any, ClassVar

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from boundit.service.http.answers import ErrorAnswer, ErrorDetail
from boundit.service.http.limits import WHOLE, Limits

LINGER = 2.0
"""So many seconds what a refused caller still sends is read, and dropped, before the end."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with a time for headers and a limit of their size.

    A connection on which nothing comes is closed after ``limits.header_seconds``; ``serve``
    makes a subclass with limits of its own.
    """

    limits: ClassVar[Limits] = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._n_messages = self._n_bytes = self._n_unfinished = 0
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request; the event loop calls it."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(503, "too_many_connections", "too many connections are open")
            self.transport.close()
            return
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock for good; the event loop calls it."""
        self._stop_clock()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what comes, and drop it after a refusal; the event loop calls it.

        The parser tells of a header when all of it is there: of one that never ends the bytes
        are counted as they come, apart from those that the parser has told of.
        """
        if self._refused:
            return
        message = self._n_messages
        super().data_received(data)
        if message and message == self._n_messages and self._deadline is not None:
            self._n_unfinished += len(data)
            self._check_size(self._n_unfinished)

    def on_message_begin(self) -> None:
        """Start the clock for a request; the parser calls it."""
        super().on_message_begin()
        self._n_messages += 1
        self._n_bytes = self._n_unfinished = 0
        self._expect_headers()

    def on_url(self, url: bytes) -> None:
        """Count the bytes of the path; the parser calls it."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of a header; the parser calls it."""
        super().on_header(name, value)
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """Stop the clock, as the app has one for the body; the parser calls it."""
        self._stop_clock()
        if not self._refused:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that all of the body is there, so that nobody needs a clock to wait for it.

        The parser calls it.
        """
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP as all else is refused; ``data_received`` calls it."""
        self._refuse(400, "no_http", msg.rstrip(".").lower())

    def _expect_headers(self) -> None:
        """Start the clock anew; called when a connection or a request begins.

        The timer stays as it is and looks again: to set one for each request costs more.
        """
        self._deadline = self.loop.time() + self.limits.header_seconds
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._look)

    def _stop_clock(self) -> None:
        """Stop the clock; called when headers are there or the connection is not."""
        self._deadline = None

    def _look(self) -> None:
        """End a connection whose headers did not come, or look again; the timer calls it."""
        self._timer = None
        if self._deadline is None:
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._look)
        else:
            self._refuse(408, "too_slow", "the headers did not arrive in time")

    def _count(self, n: int) -> None:
        """Count bytes of headers that are whole; ``on_url`` and ``on_header`` call it."""
        self._n_bytes += n
        self._check_size(self._n_bytes)

    def _check_size(self, n: int) -> None:
        """End the connection where headers are too many bytes; called as they come."""
        if n > self.limits.header_bytes:
            self._refuse(431, "headers_too_large", "the headers are too large")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Write a refusal and close soon; called by whoever ends a connection.

        To close at once, with something unread, would reset the connection, and the caller
        might never see why.
        """
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        body = msgspec.json.encode(ErrorAnswer(ErrorDetail(code, message)))
        head = [
            STATUS_LINE[status],
            b"content-type: application/json\r\ncontent-length: ",
            str(len(body)).encode(),
            b"\r\nconnection: close\r\n\r\n",
        ]
        self.transport.write(b"".join(head) + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)
