"""Pages for people, the document and the metrics.

They are written anew for every look, ask for nothing from elsewhere, and hold no script.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, StrictUndefined, Template
from prometheus_client import generate_latest
from starlette.responses import Response

from boundit.report.bounds import chart_bounds, tabulate_bounds
from boundit.report.chart import NARROW
from boundit.report.palette import write_stylesheet
from boundit.service.commands import CloseWindows, DailyCount
from boundit.service.config import read_bounds
from boundit.service.http.openapi import Call, operation

_SAFE = {"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:"}
_STYLE = """
main > h1 { font-size: clamp(1.6rem, 1.1rem + 2vw, 2.3rem); color: var(--ink); margin: 1rem 0; }
main caption { text-align: left; padding: .6rem .75rem; color: var(--muted); font-size: .9rem; }
main td { white-space: nowrap; }
.refuted { color: var(--miss); font-weight: 650; }
"""
_DAYS = 30
"""Of how many days the page of a policy shows what was decided."""
_MOST_ROWS = 30


@operation("GET", "/", role="read", media=("text/html",))
async def get_home(call: Call) -> Response:
    """Show a page with all policies."""
    policies = await asyncio.to_thread(call.engine.list_policies)
    return _write_page(policy=None, policies=policies)


@operation("GET", "/policies/{policy}", role="read", media=("text/html",))
async def get_policy_page(call: Call) -> Response:
    """Show a page of one policy: its bounds, its decisions and rewards."""
    engine = call.engine
    await engine.ask(CloseWindows(call.policy))
    policy, counts, bounds = await asyncio.gather(
        asyncio.to_thread(engine.show_policy, call.policy),
        asyncio.to_thread(engine.list_daily_counts, call.policy),
        asyncio.to_thread(engine.get_bounds, call.policy),
    )
    drawn = None if bounds is None else await asyncio.to_thread(_show_bounds, bounds)
    return _write_page(policy=policy, counts=_add_up(counts), days=_DAYS, bounds=drawn)


@operation("GET", "/style.css", media=("text/css",), open=True)
async def get_style(_: Call) -> Response:
    """Get the stylesheet of the pages, which is that of reports."""
    headers = {"Cache-Control": "max-age=3600"}
    return Response(write_stylesheet() + _STYLE, headers=headers, media_type="text/css")


@operation("GET", "/openapi.json", open=True)
async def get_document(call: Call) -> Any:
    """Get this document."""
    return call.shared.document


@operation("GET", "/metrics", role="read", media=("text/plain",))
async def get_metrics(call: Call) -> Response:
    """Get the metrics as Prometheus reads them."""
    loop = asyncio.get_running_loop()
    text = await loop.run_in_executor(call.shared.probes, generate_latest, call.engine.registry)
    return Response(text, media_type="text/plain; version=0.0.4")


def _write_page(**given: Any) -> Response:
    text = _load_template().render(**given)
    return Response(text, headers=_SAFE, media_type="text/html")


@cache
def _load_template() -> Template:
    pages = Environment(autoescape=True, undefined=StrictUndefined)
    pages.filters["seconds"] = write_seconds
    pages.filters["moment"] = lambda at: "–" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return pages.from_string(Path(__file__).with_name("pages.html").read_text("utf-8"))


def write_seconds(seconds: float) -> str:
    """Write a time in the largest unit that fits.

    >>> write_seconds(86_400.0), write_seconds(90.0)
    ('1 day', '90 seconds')
    """
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            n = int(seconds // size)
            return f"{n} {unit}{'s' * (n != 1)}"
    return f"{seconds:g} seconds"


def _add_up(rows: Sequence[DailyCount]) -> dict[str, list[float]]:
    """Add up the counts of each arm over the last days."""
    days = sorted({row.day for row in rows})[-_DAYS:]
    found = defaultdict[str, list[float]](lambda: [0, 0, 0.0, 0, 0, 0])
    for row in rows:
        if row.day in days:
            sums = found[_write_arm(row.arm)]
            counts = (
                row.decisions,
                row.rewards,
                row.reward_sum,
                row.default_rewards,
                row.late_rewards,
                row.expired,
            )
            sums[:] = [before + n for before, n in zip(sums, counts, strict=True)]
    return dict(sorted(found.items())[:_MOST_ROWS])


def _write_arm(arm: object) -> str:
    values = list(arm.values()) if isinstance(arm, dict) else arm
    parts = values if isinstance(values, list) else [values]
    return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in parts)


def _show_bounds(text: bytes) -> dict[str, Any]:
    """Draw the bounds in force, and list the first of them."""
    table = read_bounds(msgspec.json.decode(text))
    chart, listed = chart_bounds(table), tabulate_bounds(table)
    return {
        "wide": chart.svg(),
        "narrow": chart.svg(NARROW),
        "head": listed.head,
        "rows": listed.rows[:_MOST_ROWS],
        "more": listed.count_more(_MOST_ROWS),
    }
