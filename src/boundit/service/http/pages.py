"""Pages for people: which policies there are, what they know, play, learn, and had to drop.

They are written anew for every look, ask for nothing from elsewhere, and hold no script.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape

import msgspec
from starlette.responses import Response

from boundit.report.stylesheet import write_stylesheet
from boundit.results.bound_table import BoundTable
from boundit.service.commands import CloseWindows, PolicyAnswer, TallyRow
from boundit.service.config import read_bounds
from boundit.service.http.answers import write_json
from boundit.service.http.operation import Call, Operation, Parameter
from boundit.service.http.page_pictures import draw_intervals, draw_shares

HTML = "text/html"
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta http-equiv="refresh" content="60"><link rel="icon" href="data:,">'
    '<link rel="stylesheet" href="/style.css">'
)
_LINKS = (
    '<a href="/">All policies</a> · <a href="/openapi.json">API</a> · '
    '<a href="/metrics">Metrics</a>'
)
_SAFE = {"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:"}
_STYLE = """
main > h1 { font-size: clamp(1.6rem, 1.1rem + 2vw, 2.3rem); color: var(--ink); margin: 1rem 0; }
main caption { text-align: left; padding: .6rem .75rem; color: var(--muted); font-size: .9rem; }
main td { white-space: nowrap; }
.picture { display: block; max-width: 100%; height: auto; margin: .4rem 0 1rem; }
.picture rect { fill: var(--series-1); }
.picture line { stroke: var(--rule); }
.picture text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.picture text.quiet { fill: var(--muted); }
.refuted { color: var(--miss); font-weight: 650; }
"""
_DAYS = 30
"""Of how many days the page of a policy shows what was played."""


async def show_home(call: Call) -> Response:
    """Show all policies, a line each."""
    policies = await asyncio.to_thread(call.engine.list_policies)
    return _write_page("Policies", _write_home(policies))


async def show_policy_page(call: Call) -> Response:
    """Show one policy: what it is, its bounds, what it played and learned."""
    await call.engine.ask(CloseWindows(call.policy))
    policy, tallies, bounds = await asyncio.gather(
        asyncio.to_thread(call.engine.show_policy, call.policy),
        asyncio.to_thread(call.engine.list_tallies, call.policy),
        asyncio.to_thread(call.engine.get_bounds, call.policy),
    )
    table = None if bounds is None else await asyncio.to_thread(_read_bounds, bounds)
    return _write_page(policy.name, _write_policy(policy, tallies, table))


async def show_style(_: Call) -> Response:
    """Give the stylesheet, which is that of reports."""
    headers = {"Cache-Control": "max-age=3600"}
    return Response(write_stylesheet() + _STYLE, headers=headers, media_type="text/css")


async def show_document(call: Call) -> Response:
    """Give the OpenAPI document."""
    return write_json(call.request.app.state.document)


async def show_metrics(call: Call) -> Response:
    """Give what Prometheus reads."""
    state = call.request.app.state
    loop = asyncio.get_running_loop()
    text = await loop.run_in_executor(state.probes, state.metrics.write)
    return Response(text, media_type="text/plain; version=0.0.4")


PAGES = (
    Operation(
        "GET",
        "/",
        "showHome",
        "A page with all policies.",
        show_home,
        "read",
        media=(HTML,),
    ),
    Operation(
        "GET",
        "/policies/{policy}",
        "showPolicyPage",
        "A page of one policy: its bounds, what was played, learned and refuted.",
        show_policy_page,
        "read",
        parameters=(Parameter("policy", "The policy's name.", {"type": "string"}, "path"),),
        errors=(404,),
        media=(HTML,),
    ),
    Operation(
        "GET",
        "/style.css",
        "showStyle",
        "The stylesheet of the pages.",
        show_style,
        media=("text/css",),
        open=True,
    ),
    Operation(
        "GET", "/openapi.json", "showDocument", "This document.", show_document, open=True
    ),
    Operation(
        "GET",
        "/metrics",
        "showMetrics",
        "Counts and times, as Prometheus reads them.",
        show_metrics,
        "read",
        media=("text/plain",),
    ),
)


def _write_page(title: str, body: Iterable[str]) -> Response:
    """Write a page around its parts; called for every page."""
    text = (
        f'<!doctype html><html lang="en"><head>{_HEAD}'
        f"<title>{escape(title)} · boundit</title></head>"
        f"<body><header><nav>{_LINKS}</nav></header><main><h1>{escape(title)}</h1>"
        f"{''.join(body)}</main></body></html>"
    )
    return Response(text, headers=_SAFE, media_type=f"{HTML}; charset=utf-8")


def _write_home(policies: Sequence[PolicyAnswer]) -> Iterable[str]:
    """Write the list of policies; called by ``show_home``."""
    if not policies:
        yield (
            "<p>There is no policy yet. Create one with <code>boundit policies create</code> "
            "or <code>POST /v1/policies</code>.</p>"
        )
        return
    rows = [
        [
            f'<a href="/policies/{escape(one.name)}">{escape(one.name)}</a>',
            escape(one.kind),
            f"{one.n_learned:,}",
            f"{one.n_open:,}",
            *_describe_bounds(one),
            _write_moment(one.last_at),
        ]
        for one in policies
    ]
    heads = ["Policy", "Kind", "Learned", "Open", "Bounds", "", "Last event"]
    yield _write_table("All policies as they are now", heads, rows)


def _describe_bounds(policy: PolicyAnswer) -> tuple[str, str]:
    """Say which version of bounds is in force, if any; called by ``_write_home``."""
    if policy.outcome is None:
        return "none", ""
    refuted = "<span class=refuted>refuted</span>"
    return str(policy.bounds_version), refuted if policy.refuted else "in force"


def _write_policy(
    policy: PolicyAnswer, tallies: Sequence[TallyRow], table: BoundTable | None
) -> Iterable[str]:
    """Write the page of one policy; called by ``show_policy_page``."""
    if policy.refuted:
        yield f'<p class="refuted">Its bounds were refuted: {escape(policy.refuted)}</p>'
    yield f"<p class=lead>{_describe(policy)}</p>"
    for warning in policy.warnings:
        yield f"<p>Mind: {escape(warning)}.</p>"
    totals = _add_up(tallies)
    yield "<section><h2>What was played, and what it earned</h2>"
    if totals:
        yield draw_shares(totals, f"Decisions of each arm, on the last {_DAYS} days with any")
        heads = [
            "Arm",
            "Decided",
            "Learned",
            "Mean reward",
            "By default",
            "Late",
            "Not learned",
        ]
        rows = [_write_tally(arm, sums) for arm, sums in totals.items()]
        yield _write_table(f"Arms, on the last {_DAYS} days with any decision", heads, rows)
        yield (
            "<p class=quiet>Means of rewards are not what an arm would earn for everyone: the "
            "policy chose who got it.</p>"
        )
    else:
        yield "<p>Nothing was decided yet.</p>"
    yield "</section><section><h2>What its bounds say</h2>"
    if table is None:
        yield "<p>It was created without bounds.</p>"
    else:
        yield draw_intervals(table)
    yield "</section>"


def _describe(policy: PolicyAnswer) -> str:
    """Describe a policy in a sentence or two; called by ``_write_policy``."""
    learns = "when its reward comes"
    if policy.learn == "window":
        learns = f"{_write_seconds(policy.window or 0)} after it was made"
    floor, seen, bounds, kept = "", "", "", ""
    if policy.outcome is not None:
        bounds = f" Bounds are those of version {policy.bounds_version}."
    if policy.retention is not None:
        kept = f" Decisions are erased {policy.retention:g} days after they are over."
    if policy.explore:
        floor = f" One decision in {1 / policy.explore:.0f} is drawn uniformly."
    if policy.observes:
        seen = f" What helps beside rewards: {escape(', '.join(policy.observes))}."
    return (
        f"{escape(policy.kind)} with {len(policy.arms)} arms. {policy.n_learned:,} decisions "
        f"were learned, {policy.n_open:,} wait for a reward. A decision is learned {learns}."
        f"{floor}{seen}{bounds}{kept}"
    )


def _write_seconds(seconds: float) -> str:
    """Write a time in the largest unit that fits; called by ``_describe``.

    >>> _write_seconds(86_400.0), _write_seconds(90.0)
    ('1 day', '90 seconds')
    """
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            n = int(seconds // size)
            return f"{n} {unit}{'s' * (n != 1)}"
    return f"{seconds:g} seconds"


def _add_up(tallies: Sequence[TallyRow]) -> dict[str, list[float]]:
    """Add up the counts of each arm over the last days; called by ``_write_policy``."""
    days = sorted({row.day for row in tallies})[-_DAYS:]
    found = defaultdict[str, list[float]](lambda: [0.0] * 6)
    for row in tallies:
        if row.day in days:
            counts = (
                row.decided,
                row.learned,
                row.reward_sum,
                row.defaults,
                row.late,
                row.unlearned,
            )
            sums = found[_write_arm(row.arm)]
            for i, n in enumerate(counts):
                sums[i] += n
    return dict(sorted(found.items()))


def _write_arm(arm: object) -> str:
    """Write an arm as people read it; called by ``_add_up``."""
    values = list(arm.values()) if isinstance(arm, dict) else arm
    parts = values if isinstance(values, list) else [values]
    return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in parts)


def _write_tally(arm: str, sums: Sequence[float]) -> list[str]:
    """Write the row of an arm; called by ``_write_policy``."""
    decided, learned, rewards, defaults, late, unlearned = sums
    mean = f"{rewards / learned:.3f}" if learned else "–"
    counts = [f"{n:,.0f}" for n in (defaults, late, unlearned)]
    return [escape(arm), f"{decided:,.0f}", f"{learned:,.0f}", mean, *counts]


def _write_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of cells that are HTML already; called where there is one."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return (
        f'<div class="box" tabindex="0"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _write_moment(at: object) -> str:
    """Write a moment to the second; called by ``_write_home``."""
    return escape(f"{at:%Y-%m-%d %H:%M:%S} UTC") if at is not None else "–"


def _read_bounds(text: bytes) -> BoundTable:
    """Read the bounds that a policy goes by; called by ``show_policy_page``."""
    return read_bounds(msgspec.json.decode(text))
