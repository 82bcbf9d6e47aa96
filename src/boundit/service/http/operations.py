"""The operations of the service over HTTP: the engine is asked, and its answer given back.

Whatever reads the store runs in a thread of its own, so that no other request waits for it.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import IO, TypeVar

from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from boundit.service.commands import (
    CloseWindows,
    CreatePolicy,
    DailyCount,
    Decide,
    DecideAnswer,
    DecideBatchAnswer,
    DecideBatchRequest,
    DecideRequest,
    DecisionView,
    DeleteAnswer,
    EffectTable,
    EventView,
    GiveRewards,
    PolicyAnswer,
    PropensityTable,
    PruneAnswer,
    PruneRequest,
    RefreshAnswer,
    RefreshBounds,
    RefreshRequest,
    RewardAnswer,
    RewardBatchAnswer,
    RewardBatchRequest,
    RewardRequest,
    UpdatePolicy,
    UpdateRequest,
    count_rows,
)
from boundit.service.config import PolicyConfig
from boundit.service.errors import (
    MalformedRequest,
    RequestRefused,
    Unavailable,
)
from boundit.service.http.openapi import JSON, Call, Parameter, operation, write_answer

T = TypeVar("T")
MOST_EVENTS = 10_000
_PIECE = 2**18
_EXPORT_PATIENCE, _EXPORT_RETRY = 20.0, 10
"""For how many seconds an export waits for another, and after how many it may come again."""
_EXPORT_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "dsjson": "application/jsonl",
    "obp": "application/jsonl",
}
"""The media type of every format of an export."""
_POLICY = "/v1/policies/{policy}"
_REFUSED = (409, 422)
_AFTER = Parameter(
    "after", "The position to go on after.", {"type": "integer", "minimum": 0, "default": 0}
)


class PolicyList(Struct, frozen=True):
    """All policies, by name."""

    policies: list[PolicyAnswer]


class EventList(Struct, frozen=True):
    """Events in order; ``next`` is the position to ask for more after, None at the end."""

    events: list[EventView]
    next: int | None


class DailyCountList(Struct, frozen=True):
    """What happened to each arm, day by day."""

    daily_counts: list[DailyCount]


class Health(Struct, frozen=True):
    """Whether the service is up, or ready."""

    status: str
    at: datetime


@operation(
    "POST", f"{_POLICY}/decide", role="decide", takes=DecideRequest, gives=DecideAnswer,
    refuses=_REFUSED,
)  # fmt: skip
async def decide(call: Call) -> DecideAnswer:
    """Decide for one context. Under an id that was decided, the stored decision comes back."""
    answer: DecideBatchAnswer = await call.engine.ask(Decide(call.policy, [call.body]))
    return answer.decisions[0]


@operation(
    "POST", f"{_POLICY}/decide/batch", role="decide", takes=DecideBatchRequest,
    gives=DecideBatchAnswer, refuses=_REFUSED,
)  # fmt: skip
async def decide_batch(call: Call) -> DecideBatchAnswer:
    """Decide for several contexts at one moment: all, or none, and the error names the row."""
    rows = call.body.decisions
    _require_rows(len(rows) and count_rows(call.body), call.shared.limits.batch)
    answer: DecideBatchAnswer = await call.engine.ask(Decide(call.policy, rows))
    return answer


@operation(
    "POST", f"{_POLICY}/reward", role="reward", takes=RewardRequest, gives=RewardAnswer,
    refuses=_REFUSED,
)  # fmt: skip
async def record_reward(call: Call) -> RewardAnswer:
    """Record the reward of a decision, its auxiliary variables, or the arm that was played."""
    answer: RewardBatchAnswer = await call.engine.ask(GiveRewards(call.policy, [call.body]))
    return answer.rewards[0]


@operation(
    "POST", f"{_POLICY}/reward/batch", role="reward", takes=RewardBatchRequest,
    gives=RewardBatchAnswer, refuses=_REFUSED,
)  # fmt: skip
async def record_reward_batch(call: Call) -> RewardBatchAnswer:
    """Record the rewards of several decisions: all, or none, and the error names the row."""
    rows = call.body.rewards
    _require_rows(len(rows), call.shared.limits.batch)
    answer: RewardBatchAnswer = await call.engine.ask(GiveRewards(call.policy, rows))
    return answer


@operation("GET", f"{_POLICY}/decisions/{{id}}", role="read", gives=DecisionView)
async def get_decision(call: Call) -> DecisionView:
    """Get a decision with its rewards."""
    return await _look(call, call.engine.get_decision, call.scope["path_params"]["id"])


@operation(
    "GET", f"{_POLICY}/propensities", role="read", gives=PropensityTable, refuses=(422,),
    statuses=(200, 304), parameters=(
        Parameter("If-None-Match", "The ETag at hand.", {"type": "string"}, "header"),
    ),
)  # fmt: skip
async def get_propensities(call: Call) -> Response:
    """Get the propensity of every arm in every context, to draw from without asking."""
    shown = await _look(call, call.engine.show_policy)
    tag = f'"{shown.state_position}-{shown.bounds_version}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    known = [part.strip() for part in call.request.headers.get("if-none-match", "").split(",")]
    if not {tag, f"W/{tag}", "*"}.isdisjoint(known):
        return Response(status_code=304, headers=headers)
    table = await asyncio.to_thread(call.engine.make_table, call.policy)
    headers["ETag"] = f'"{table.state_position}-{table.bounds_version}"'
    answer = write_answer(table)
    answer.headers.update(headers)
    return answer


@operation("DELETE", f"{_POLICY}/decisions/{{id}}", role="admin", gives=PruneAnswer)
async def erase_decision(call: Call) -> PruneAnswer:
    """Erase one decision with its rewards, at once."""
    id_ = call.scope["path_params"]["id"]
    return await asyncio.to_thread(call.engine.erase, call.policy, id_)


@operation(
    "GET", f"{_POLICY}/effects", role="read", gives=EffectTable, refuses=(422,), parameters=(
        Parameter(
            "baseline", "The arm that others are compared with, as text or JSON.",
            {"type": "string"},
        ),
    ),
)  # fmt: skip
async def get_effects(call: Call) -> EffectTable:
    """Get the effects of all arms relative to a baseline, by the bounds in force."""
    given = call.request.query_params.get("baseline")
    return await _look(call, call.engine.get_effects, *(() if given is None else (given,)))


@operation("GET", "/v1/policies", role="read", gives=PolicyList)
async def list_policies(call: Call) -> PolicyList:
    """List all policies as they are now."""
    return PolicyList(await asyncio.to_thread(call.engine.list_policies))


@operation(
    "POST", "/v1/policies", role="admin", takes=PolicyConfig, gives=PolicyAnswer,
    refuses=(409, 422), statuses=(201,),
)  # fmt: skip
async def create_policy(call: Call) -> PolicyAnswer:
    """Create a policy. The same configuration again changes nothing."""
    answer: PolicyAnswer = await call.engine.ask(CreatePolicy(call.body))
    return answer


@operation("GET", _POLICY, role="read", gives=PolicyAnswer)
async def get_policy(call: Call) -> PolicyAnswer:
    """Show a policy as it is now."""
    return await _look(call, call.engine.show_policy)


@operation(
    "PATCH", _POLICY, role="admin", takes=UpdateRequest, gives=PolicyAnswer, refuses=(422,)
)
async def update_policy(call: Call) -> PolicyAnswer:
    """Change the window, the retention, exploration or monitoring of a policy."""
    command = UpdatePolicy(call.policy, call.body)
    answer: PolicyAnswer = await call.engine.ask(command)
    return answer


@operation("DELETE", _POLICY, role="admin", gives=DeleteAnswer)
async def delete_policy(call: Call) -> DeleteAnswer:
    """Delete a policy with all its events, for good. Its name is not given again."""
    return await asyncio.to_thread(call.engine.delete, call.policy)


@operation("GET", f"{_POLICY}/bounds", role="read")
async def get_bounds(call: Call) -> Response:
    """Get the bounds in force, as a saved table of bounds; null without any."""
    found = await asyncio.to_thread(call.engine.get_bounds, call.policy)
    return Response(found or b"null", media_type=JSON)


@operation(
    "PUT", f"{_POLICY}/bounds", role="admin", takes=RefreshRequest, gives=RefreshAnswer,
    refuses=(422,),
)  # fmt: skip
async def replace_bounds(call: Call) -> RefreshAnswer:
    """Replace the bounds of a policy, for all replicas at one position."""
    command = RefreshBounds(call.policy, call.body)
    answer: RefreshAnswer = await call.engine.ask(command)
    return answer


@operation(
    "POST", f"{_POLICY}/prune", role="admin", takes=PruneRequest, gives=PruneAnswer,
    refuses=(422,),
)  # fmt: skip
async def prune(call: Call) -> PruneAnswer:
    """Erase what happened before a moment. Decisions whose window is open stay."""
    engine = call.engine
    return await asyncio.to_thread(engine.prune, call.policy, call.body.before)


@operation(
    "GET", f"{_POLICY}/events", role="read", gives=EventList, parameters=(
        _AFTER,
        Parameter(
            "limit",
            "How many events to give at most.",
            {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": 1000},
        ),
    ),
)  # fmt: skip
async def list_events(call: Call) -> EventList:
    """List the events of a policy in order, past a position."""
    after = _read_number(call, "after", 0, 0, 2**62)
    limit = _read_number(call, "limit", 1000, 1, MOST_EVENTS)
    found = await asyncio.to_thread(
        call.engine.list_events, call.policy, after=after, limit=limit
    )
    return EventList(found, found[-1].position if len(found) == limit else None)


@operation("GET", f"{_POLICY}/daily-counts", role="read", gives=DailyCountList)
async def list_daily_counts(call: Call) -> DailyCountList:
    """List how often each arm was decided and learned, day by day."""
    return DailyCountList(await _look(call, call.engine.list_daily_counts))


@operation(
    "GET", f"{_POLICY}/export", role="read", refuses=(422,),
    media=tuple(dict.fromkeys(_EXPORT_TYPES.values())), parameters=(
        _AFTER,
        Parameter(
            "format",
            "CSV, JSON lines or Parquet, which boundit reads; dsjson for Vowpal Wabbit; obp.",
            {"type": "string", "enum": list(_EXPORT_TYPES), "default": "csv"},
        ),
    ),
)  # fmt: skip
async def export_log(call: Call) -> Response:
    """Export the closed decisions as a log, marked as written by a policy that learned."""
    form = call.request.query_params.get("format", "csv")
    after = _read_number(call, "after", 0, 0, 2**62)
    turn = call.shared.exporting
    try:
        # One at a time: each takes a thread and a part of the interpreter's time.
        async with asyncio.timeout(_EXPORT_PATIENCE):
            await turn.acquire()
    except TimeoutError:
        raise Unavailable(
            "another export is being written", code="export_runs", retry_after=_EXPORT_RETRY
        ) from None
    try:
        written = await asyncio.to_thread(_write_export, call, form, after)
    finally:
        turn.release()
    headers = {"Content-Length": str(written.seek(0, 2))}
    written.seek(0)
    return StreamingResponse(_read_pieces(written), 200, headers, _EXPORT_TYPES[form])


def _write_export(call: Call, form: str, after: int) -> IO[bytes]:
    """Write an export to a file without a name, so that no slow caller holds the store."""
    pieces = call.engine.export(call.policy, form, after=after)
    written = tempfile.TemporaryFile()  # noqa: SIM115, the reader closes it
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
    with file:
        while piece := file.read(_PIECE):
            yield piece


@operation("GET", "/healthz", gives=Health, open=True)
async def get_health(_: Call) -> Health:
    """Return whether the process is up."""
    return Health("up", datetime.now(UTC))


@operation("GET", "/readyz", gives=Health, open=True)
async def get_readiness(call: Call) -> Health:
    """Return whether decisions can be made: the store can be written to, and windows close."""
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(call.shared.probes, call.engine.require_ready)
    return Health("ready", datetime.now(UTC))


async def _look(call: Call, read: Callable[..., T], *given: str) -> T:
    """Look at a policy as it is now; a policy that is locked is waited for in no thread."""
    await call.engine.ask(CloseWindows(call.policy))
    return await asyncio.to_thread(read, call.policy, *given)


def _require_rows(n: int, most: int) -> None:
    if n > most:
        reason = f"the batch has {n:,} rows, and {most:,} are taken at once"
        raise RequestRefused(413, "batch_too_large", reason)
    if not n:
        raise MalformedRequest("the batch is empty", field="$")


def _read_number(call: Call, name: str, default: int, least: int, most: int) -> int:
    """Read a whole number of the query."""
    text = call.request.query_params.get(name)
    if text is None:
        return default
    # Python reads no more than some thousands of digits, and 20 are enough here.
    fits = text.isascii() and text.isdigit() and len(text) <= 20
    if not fits or not least <= int(text) <= most:
        raise MalformedRequest(
            f"{name} is a whole number from {least:,} to {most:,}", field=f"?{name}"
        )
    return int(text)
