"""What each operation does: the engine is asked, and its answer written.

Whatever reads the store runs in a thread of its own, so that nobody waits for it.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import IO, Any, TypeVar

from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from boundit.service.commands import (
    CloseWindows,
    CreatePolicy,
    Decide,
    DecideBatchAnswer,
    EventView,
    GiveRewards,
    PolicyAnswer,
    RefreshBounds,
    RewardBatchAnswer,
    TallyRow,
)
from boundit.service.errors import (
    BatchTooLarge,
    MalformedRequest,
    ServiceError,
    Unavailable,
)
from boundit.service.http.answers import JSON, write_json
from boundit.service.http.errors import ExportRuns
from boundit.service.http.operation import Call
from boundit.service.writer.decide import count_decisions

T = TypeVar("T")
MOST_EVENTS = 10_000
_PIECE = 2**18
_EXPORT_PATIENCE, _EXPORT_RETRY = 20.0, 10
"""For how many seconds an export waits for another, and after how many it may come again."""
EXPORT_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "dsjson": "application/jsonl",
    "obp": "application/jsonl",
}
"""The media type of every format of an export."""


class PolicyList(Struct, frozen=True):
    """All policies, by name."""

    policies: list[PolicyAnswer]


class EventList(Struct, frozen=True):
    """Events in order; ``next`` is the position to ask for more after, None at the end."""

    events: list[EventView]
    next: int | None


class TallyList(Struct, frozen=True):
    """What happened to each arm, day by day."""

    tallies: list[TallyRow]


class Health(Struct, frozen=True):
    """Whether the service is up, or ready."""

    status: str
    at: datetime


async def list_policies(call: Call) -> Response:
    """List all policies as they are now."""
    return write_json(PolicyList(await asyncio.to_thread(call.engine.list_policies)))


async def create_policy(call: Call) -> Response:
    """Create a policy; the same configuration again changes nothing."""
    return write_json(await call.engine.ask(CreatePolicy(call.body)), status=201)


async def show_policy(call: Call) -> Response:
    """Show a policy as it is now."""
    return write_json(await _look(call, call.engine.show_policy))


async def decide(call: Call) -> Response:
    """Decide for one visitor, or give the decision that was made under the id."""
    answer: DecideBatchAnswer = await _ask_one(call, Decide(call.policy, [call.body]))
    return write_json(answer.decisions[0])


async def decide_batch(call: Call) -> Response:
    """Decide for several visitors at one moment, all or none."""
    rows = call.body.decisions
    _require_rows(count_decisions(rows), call.request.app.state.limits.batch)
    return write_json(await call.engine.ask(Decide(call.policy, rows)))


async def give_reward(call: Call) -> Response:
    """Tell what a decision earned, or what else was seen of it."""
    answer: RewardBatchAnswer = await _ask_one(call, GiveRewards(call.policy, [call.body]))
    return write_json(answer.rewards[0])


async def give_reward_batch(call: Call) -> Response:
    """Tell what several decisions earned, all or none."""
    rows = call.body.rewards
    _require_rows(len(rows), call.request.app.state.limits.batch)
    return write_json(await call.engine.ask(GiveRewards(call.policy, rows)))


async def refresh(call: Call) -> Response:
    """Replace the bounds of a policy, for all replicas at one position."""
    return write_json(await call.engine.ask(RefreshBounds(call.policy, call.body)))


async def prune(call: Call) -> Response:
    """Erase what happened before a moment."""
    answer = await asyncio.to_thread(call.engine.prune, call.policy, call.body.before)
    return write_json(answer)


async def get_decision(call: Call) -> Response:
    """Get a decision with all that came of it."""
    id_: str = call.request.path_params["id"]
    return write_json(await _look(call, call.engine.get_decision, id_))


async def list_events(call: Call) -> Response:
    """List the events of a policy past a position."""
    after = _read_number(call, "after", 0, 0, 2**62)
    limit = _read_number(call, "limit", 1000, 1, MOST_EVENTS)
    found = await asyncio.to_thread(
        call.engine.list_events, call.policy, after=after, limit=limit
    )
    return write_json(EventList(found, found[-1].position if len(found) == limit else None))


async def list_tallies(call: Call) -> Response:
    """List what was decided and learned of each arm, day by day."""
    return write_json(TallyList(await _look(call, call.engine.list_tallies)))


async def get_bounds(call: Call) -> Response:
    """Get the bounds in force, as ``BoundTable.save`` writes them; ``null`` without any."""
    found = await asyncio.to_thread(call.engine.get_bounds, call.policy)
    return Response(found or b"null", media_type=JSON)


async def get_table(call: Call) -> Response:
    """Give the chances of every arm in every context; 304 where nothing has changed."""
    shown = await _look(call, call.engine.show_policy)
    tag = f'"{shown.state_position}-{shown.bounds_version}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    known = [part.strip() for part in call.request.headers.get("if-none-match", "").split(",")]
    if not {tag, f"W/{tag}", "*"}.isdisjoint(known):
        return Response(status_code=304, headers=headers)
    table = await asyncio.to_thread(call.engine.make_table, call.policy)
    headers["ETag"] = f'"{table.state_position}-{table.bounds_version}"'
    return write_json(table, headers=headers)


async def export(call: Call) -> Response:
    """Give the closed decisions as a log that ``read_log`` takes, or as others read them."""
    form = call.request.query_params.get("format", "csv")
    turn: asyncio.Lock = call.request.app.state.exporting
    try:
        # One at a time: each takes a thread and a part of the interpreter's time.
        async with asyncio.timeout(_EXPORT_PATIENCE):
            await turn.acquire()
    except TimeoutError:
        raise ExportRuns(_EXPORT_RETRY) from None
    try:
        written = await asyncio.to_thread(_write_export, call, form)
    finally:
        turn.release()
    headers = {"Content-Length": str(written.seek(0, 2))}
    written.seek(0)
    return StreamingResponse(_read_pieces(written), 200, headers, EXPORT_TYPES[form])


def _write_export(call: Call, form: str) -> IO[bytes]:
    """Write an export to a file without a name, so that no slow caller holds the store."""
    pieces = call.engine.export(call.policy, form)
    written = tempfile.TemporaryFile()  # noqa: SIM115, whoever reads it closes it
    try:
        written.writelines(pieces)
    except OSError as error:
        written.close()
        raise Unavailable(f"the export cannot be written: {error.strerror}") from None
    except BaseException:
        written.close()
        raise
    return written


def _read_pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Read a file piece by piece and close it; called by ``export``."""
    with file:
        while piece := file.read(_PIECE):
            yield piece


async def tell_health(_: Call) -> Response:
    """Tell that the process is up."""
    return write_json(Health("up", datetime.now(UTC)))


async def tell_readiness(call: Call) -> Response:
    """Tell whether the store can be written to, and windows close."""
    probes = call.request.app.state.probes
    await asyncio.get_running_loop().run_in_executor(probes, call.engine.require_ready)
    return write_json(Health("ready", datetime.now(UTC)))


async def _look(call: Call, read: Callable[..., T], *given: str) -> T:
    """Look at a policy as it is now; a policy that is locked is waited for in no thread."""
    await call.engine.ask(CloseWindows(call.policy))
    return await asyncio.to_thread(read, call.policy, *given)


async def _ask_one(call: Call, command: Decide | GiveRewards) -> Any:
    """Ask for a batch of one; an error then names no row."""
    try:
        return await call.engine.ask(command)
    except ServiceError as error:
        error.row = None
        raise


def _require_rows(n: int, most: int) -> None:
    """Refuse an empty batch and one that is too large; called for batches."""
    if n > most:
        raise BatchTooLarge(n, most)
    if not n:
        raise MalformedRequest("the batch is empty", where="$")


def _read_number(call: Call, name: str, default: int, least: int, most: int) -> int:
    """Read a whole number of the query; called by ``list_events``."""
    text = call.request.query_params.get(name)
    if text is None:
        return default
    # Python reads no more than some thousands of digits, and 20 are enough here.
    fits = text.isascii() and text.isdigit() and len(text) <= 20
    if not fits or not least <= int(text) <= most:
        raise MalformedRequest(
            f"{name} is a whole number from {least:,} to {most:,}", where=f"?{name}"
        )
    return int(text)
