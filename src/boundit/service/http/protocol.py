"""HTTP connections that do not wait for ever: who is slow, or parks one, is cut off."""

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from boundit.service.http.answers import JSON, SAFE_HEADERS, ErrorAnswer, ErrorDetail
from boundit.service.http.limits import WHOLE, Limits

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

LINGER = 2.0
"""So many seconds what a refused caller still sends is read, and dropped, before the end."""
_RETRY_AFTER = 1
"""After so many seconds a connection may be free again."""
_MOST_DIGITS = 20
"""How many digits a length may have, zeros in front of it too: so many has 2**64."""
_UPGRADES = frozenset({b"upgrade", b"http2-settings"})
"""Headers, and words of the header ``Connection``, by which another protocol is asked for."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with a time for headers and a limit of their size.

    A connection on which nothing of use comes is closed after ``limits.header_seconds``, one
    whose caller does not read after ``limits.body_seconds``; ``serve`` makes a subclass with
    limits of its own.
    """

    limits: ClassVar[Limits] = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._n_begun = self._n_bytes = self._n_unfinished = 0
        self._in_headers = self._upgrades = self._refused = False
        self._refusal: bytes | None = None
        self._running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request; the event loop calls it."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(503, "too_many_connections", "too many connections are open")
            self.transport.close()
            return
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks for good; the event loop calls it."""
        self._stop_clock()
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()
        self._timer = self._stalled = None
        self.pipeline.clear()
        _disconnect(self._running)  # uvicorn tells the newest, which may not have begun
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer what came whole from a caller who sends no more; the event loop calls it.

        One who is being answered already may have gone: who writes to them will see.
        """
        if self._refused:
            return self._refusal is not None
        if self.cycle is None or self.cycle.response_started or not self._is_answering():
            return False
        self._drop_unfinished()
        self._refused, self._refusal = True, b""
        return True

    def data_received(self, data: bytes) -> None:
        """Read what comes, and drop it after a refusal; the event loop calls it.

        The parser tells of a header when all of it is there: of one that never ends the bytes
        are counted as they come, apart from those that the parser has told of.
        """
        if self._refused:
            return
        begun = self._n_begun
        self._unset_keepalive_if_required()
        self._feed(data)
        if self._deadline is not None:
            if self._in_headers and begun and begun == self._n_begun:
                self._n_unfinished += len(data)
                self._check_size(self._n_unfinished)
        elif self.cycle is not None and self.cycle.response_complete:
            # It is no request, or the rest of one that is answered: that has an end too.
            self._expect_headers()

    def _feed(self, data: bytes) -> None:
        """Give bytes to the parser, and a request for another protocol as one without it.

        We have no other protocol, and whoever has none answers as if nobody had asked.
        """
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as found:
                if self.parser.get_method() == b"CONNECT":
                    self._refuse(405, "wrong_method", "this is no proxy")
                    return
                data = self._write_head() + data[found.args[0] :]
                self.parser = httptools.HttpRequestParser(self)
                self._upgrades = False
                continue
            except httptools.HttpParserError:
                self.send_400_response("Invalid HTTP request received.")
            return

    def _write_head(self) -> bytes:
        """Write the head of a request without what asks for another protocol."""
        version = self.parser.get_http_version().encode()
        parts = [self.parser.get_method(), b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            words = [value]
            if name == b"connection":
                every = [word.strip() for word in value.split(b",")]
                words = [word for word in every if word.lower() not in _UPGRADES]
            if name not in _UPGRADES:
                parts += [name, b": ", b", ".join(words), b"\r\n"]
        return b"".join([*parts, b"\r\n"])

    def on_message_begin(self) -> None:
        """Start the clock for a request; the parser calls it."""
        super().on_message_begin()
        self._n_begun += 1
        self._n_bytes = self._n_unfinished = 0
        self._in_headers = True
        self._expect_headers()

    def on_url(self, url: bytes) -> None:
        """Count the bytes of the path; the parser calls it."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of a header, and refuse an endless length; the parser calls it."""
        super().on_header(name, value)
        if len(value) > _MOST_DIGITS and name.lower() == b"content-length":
            self._refuse(400, "no_http", "content-length has more digits than any length has")
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """Stop the clock, as the app has one for the body; the parser calls it."""
        self._stop_clock()
        self._in_headers = False
        self._upgrades = self.parser.should_upgrade()
        if not self._refused and not self._upgrades:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Keep a part of a body, unless its request was refused; the parser calls it."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that all of the body is there, so that nobody needs a clock to wait for it.

        The parser calls it.
        """
        if self._refused or self._upgrades:
            return
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on to the next request, or to the refusal that waits; uvicorn calls it."""
        if self._refusal is None or self.pipeline:
            super().on_response_complete()
        else:
            self._send_refusal(self._refusal)
        if self.transport.is_closing():
            self._expect_reading()

    def pause_writing(self) -> None:
        """Start the clock for a caller who does not read; the transport calls it."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Stop the clock for a caller who reads again; the transport calls it."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def timeout_keep_alive_handler(self) -> None:
        """End a connection on which nothing came for long; uvicorn's timer calls it."""
        self._end()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP as all else is refused; ``_feed`` calls it."""
        self._refuse(400, "no_http", msg.rstrip(".").lower())

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        """Note who is being answered; uvicorn calls it."""
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _expect_headers(self) -> None:
        """Start the clock anew; called when a connection or a request begins.

        The timer stays as it is and looks again: to set one for each request costs more.
        """
        self._deadline = self.loop.time() + self.limits.header_seconds
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._look)

    def _expect_reading(self) -> None:
        """Start the clock for a caller who has something to read.

        Called where bytes wait, or an end waits for the last of them.
        """
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.limits.body_seconds, self.transport.abort)

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
        elif self._in_headers or not self._n_begun:
            self._refuse(408, "too_slow", "the headers did not arrive in time")
        else:
            self._end()  # all that was asked is answered: one more answer would confuse

    def _count(self, n: int) -> None:
        """Count bytes of headers that are whole; ``on_url`` and ``on_header`` call it."""
        self._n_bytes += n
        self._check_size(self._n_bytes)

    def _check_size(self, n: int) -> None:
        """End the connection where headers are too many bytes; called as they come."""
        if n > self.limits.header_bytes:
            self._refuse(431, "headers_too_large", "the headers are too large")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Refuse what comes from now on; called by whoever ends a connection.

        Requests that came whole before are answered first, as they are carried out.
        """
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._stop_clock()
        cycle = self.cycle
        # What is wrong may be the rest of a request that has its answer: there is no second.
        has_answer = cycle is not None and cycle.response_started and WHOLE not in cycle.scope
        is_rest = has_answer and not self._in_headers
        refusal = b"" if is_rest else _write_refusal(status, code, message)
        self._drop_unfinished()
        if self._is_answering():
            self._refusal = refusal
        else:
            self._send_refusal(refusal)

    def _is_answering(self) -> bool:
        """Tell whether a request that came whole, or has a part of its answer, waits for it."""
        cycle = self._running
        if cycle is None or cycle.response_complete:
            return False
        return cycle.response_started or WHOLE in cycle.scope

    def _drop_unfinished(self) -> None:
        """Forget the request that is not whole, as its rest will not come; called likewise."""
        if self.pipeline and WHOLE not in self.pipeline[0][0].scope:  # the newest is first
            self.pipeline.popleft()

    def _send_refusal(self, refusal: bytes) -> None:
        """Write a refusal, if there is one, and close soon; called when all else is answered.

        To close at once, with something unread, would reset the connection, and the caller
        might never see why.
        """
        if self.transport.is_closing():
            return
        if not refusal:
            self._end()
            return
        _disconnect(self.cycle)  # its body will not come, and nobody reads an answer
        self.flow.resume_reading()
        self.transport.write(refusal)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self._end)

    def _end(self) -> None:
        """Close the connection, by force where what is written is not taken."""
        if not self.transport.is_closing():
            self.transport.close()
            self.loop.call_later(LINGER, self.transport.abort)


def _write_refusal(status: int, code: str, message: str) -> bytes:
    """Write an answer that ends the connection; called by ``PatientProtocol._refuse``."""
    body = msgspec.json.encode(ErrorAnswer(ErrorDetail(code, message)))
    headers = {"content-type": JSON, "content-length": str(len(body)), **SAFE_HEADERS}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["retry-after"] = str(_RETRY_AFTER)
    lines = [f"{name}: {value}\r\n".encode() for name, value in headers.items()]
    return b"".join([STATUS_LINE[status], *lines, b"connection: close\r\n\r\n", body])


def _disconnect(cycle: RequestResponseCycle | None) -> None:
    """Tell whoever answers a request that nobody hears it."""
    if cycle is not None and not cycle.response_complete:
        cycle.disconnected, cycle.waiting_for_100_continue = True, False
        cycle.message_event.set()
