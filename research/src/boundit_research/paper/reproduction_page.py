"""The page of ``boundit reproduce``: the paper's table, figure and claims, recomputed."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

from boundit.core.errors import CannotWrite
from boundit.core.files import write_page
from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING
from boundit.report.bounds import chart_bounds, list_reasons
from boundit.report.chart import IntervalChart, LineChart
from boundit.report.page import Page
from boundit.report.plot import plot
from boundit.report.sections import Drawing, Figure, Section, Table
from boundit.simulation.environments import paper_environment
from boundit.simulation.regret import Regret
from boundit.simulation.summary import Line
from boundit_research.online.study import WorldRegret
from boundit_research.paper.achieved import describe_achieved
from boundit_research.paper.offline_bounds import DIGIT, OfflineStudy
from boundit_research.paper.reproduction import Reproduction

_WORLDS = "The paper's world", "Where bias flips the best arm"
FIGURES = (
    "intervals",
    "regret-paper",
    "regret-flipped",
    "warm-starts",
    "own-logs-paper",
    "own-logs-flipped",
)
"""What the figures are called beside the page; each as PNG and SVG."""
_BOUND_PAIRS = (
    "LinUCB",
    "LinUCB-PCB",
    "UCB",
    "UCB-PCB",
    "KL-UCB",
    "KL-UCB-PCB",
    "TS",
    "TS-PCB",
)

_COLUMNS = (
    "Printed are the paper's bounds, read to their three digits; the next are those of the exact "
    "distribution, the next two those of the drawn log. CP is the logged mean, Biased an "
    "estimate adjusted for confounding but not for selection, each with its error."
)
_STARTS = (
    "LinUCB_CP-10 starts from the estimate CP as if it were worth 10 rows for each arm and "
    "context, LinUCB_CP-counts as if it were worth as many as were logged."
)


_OWN_LOGS = (
    "Here every run starts from a log of its own. Fused counts rows of the log and rounds in "
    "the same cells, and is told after each round the variable that its plan names; the last "
    "policy is the same, told rewards alone."
)


def make_reproduction_page(found: Reproduction, *, command: str) -> str:
    """Write the report on the recomputed paper as one HTML page.

    What the method achieves comes first, then which claims hold, then everything else.
    """
    world, offline, online = paper_environment(), found.offline, found.online
    query = world.query
    pruned = tuple((row.by, row.pairs, row.of) for row in found.pruned)
    claims = tuple((c.place, c.said, c.judgement, c.shown) for c in found.claims)
    sections: list[Section] = [
        _tabulate_offline(offline),
        Figure("The offline figure", (_chart_offline(offline),)),
        *map(_show_own_logs, (online.paper, online.flip), _WORLDS),
        *map(_show_pairs, (online.paper, online.flip), _WORLDS),
        Table(
            "Arms that are ruled out",
            ("ruled out by", "pairs", "of"),
            pruned,
            "Pairs of arm and context, on the exact distribution. The best mean is not known "
            "beforehand; the other rows need nothing but the log, the last one the share of "
            "rows that were logged.",
        ),
        Table("What the paper claims", ("place", "claim", "does it hold?", "shown by"), claims),
        Drawing(
            "The paper's graph",
            world.graph,
            query.treatments,
            query.context,
            query.outcomes,
            "Users U1, U2 meet items X1, X2; the hidden C1 affects I1 and Y (dashed), and I1 "
            "affects which rows are logged.",
        ),
        *_make_world_sections(online.paper, _WORLDS[0]),
        *_make_world_sections(online.flip, _WORLDS[1]),
        list_reasons(offline.table, world.graph),
    ]
    page = Page(
        "Bandits from biased logs: the paper, recomputed",
        describe_achieved(found),
        tuple(sections),
    )
    settings = {"seed": found.seed, "points": offline.points}
    return page.write(command=command, settings=settings)


def write_reproduction(found: Reproduction, folder: Path, *, command: str) -> Path:
    """Write the report on the recomputed paper and its figures into a folder.

    Gives the path of the page.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(folder, error.strerror or str(error)) from None
    charts: dict[str, IntervalChart | LineChart] = {
        "intervals": _chart_offline(found.offline),
        "regret-paper": _keep_bound_pairs(found.online.paper.regret).chart,
        "regret-flipped": _keep_bound_pairs(found.online.flip.regret).chart,
        "warm-starts": _keep_warm_starts(found.online.flip.regret).chart,
        "own-logs-paper": found.online.paper.own_logs.chart,
        "own-logs-flipped": found.online.flip.own_logs.chart,
    }
    for name in FIGURES:
        for suffix in ("png", "svg"):
            plot(charts[name], folder / f"{name}.{suffix}")
    target = folder / "report.html"
    write_page(target, make_reproduction_page(found, command=command))
    return target


def _tabulate_offline(study: OfflineStudy) -> Table:
    """Tabulate the paper's printed intervals, our intervals, estimates and the truth."""

    def write(span: Interval, truth: float, slack: float = 0.0) -> str:
        missed = not span.lower - slack <= truth <= span.upper + slack
        return f"[{span.lower:.3f}, {span.upper:.3f}]{' misses' if missed else ''}"

    rows = tuple(
        (
            ", ".join(f"{n}={v}" for n, v in zip(study.table.treatments, r.arm, strict=True)),
            ", ".join(f"{n}={v}" for n, v in zip(study.table.context, r.context, strict=True)),
            f"{r.truth:.3f}",
            write(r.printed.interval, r.truth, DIGIT),
            write(r.exact, r.truth, ROUNDING),
            write(r.plug_in, r.truth),
            write(r.ours, r.truth),
            *(f"{x:.3f} ({x - r.truth:+.3f})" for x in (r.cp, r.biased)),
        )
        for r in study.rows
    )
    misses = sum(r.truth not in r.ours for r in study.rows)
    printed = sum(r.printed_misses for r in study.rows)
    return Table(
        "The offline table",
        ("arm", "context", "truth", "printed", "exact distribution", "plug-in",
         "confidence 0.95", "CP", "Biased"),
        rows,
        f"{study.points:,} points drawn, {study.kept:,} logged. {misses} of {len(rows)} of our "
        f"bounds miss the truth, {printed} of the printed ones. {_COLUMNS}",
    )  # fmt: skip


def _chart_offline(study: OfflineStudy) -> IntervalChart:
    """Chart our intervals, the truth and two biased estimates.

    CP is the logged mean; Biased adjusts for confounding as if every row had been logged.
    """
    return chart_bounds(
        study.table,
        truth={r.key: r.truth for r in study.rows},
        points={
            "CP": {r.key: r.cp for r in study.rows},
            "Biased": {r.key: r.biased for r in study.rows},
        },
        unadjusted=False,
    )


def _show_own_logs(played: WorldRegret, where: str) -> Section:
    """Draw the regret of policies that start from a log of their own in each run.

    What a reader can expect.
    """
    own = played.own_logs
    return _draw(own, f"{where}: the policy that we recommend", f"{own.caption} {_OWN_LOGS}")


def _show_pairs(played: WorldRegret, where: str) -> Section:
    """Draw the regret of policies with and without bounds, as the paper does."""
    pairs = _keep_bound_pairs(played.regret)
    return _draw(pairs, f"{where}: cumulative regret", pairs.caption)


def _draw(regret: Regret, title: str, caption: str) -> Figure:
    return Figure(title, (replace(regret.chart, title=title, note=""),), caption)


def _make_world_sections(played: WorldRegret, where: str) -> tuple[Section, ...]:
    """Write the numbers of one world: tables of regret, and starts from biased estimates."""
    started, own = _keep_warm_starts(played.regret), played.own_logs
    return (
        _tabulate_lines(
            own.summary(),
            f"{where}: final regret with a log for each run",
            "Means, medians and 95% quantiles of the runs, with 95% intervals; a few bad runs "
            "can make a mean. Differences are paired, run by run. LinUCB takes nothing from a "
            "log; LinUCB-PCB starts from the bounds of the run's log at confidence 0.95. "
            f"{own.runs} runs.",
        ),
        _tabulate_lines(
            [*played.regret.summary(), *played.oam.summary()[1:]],
            f"{where}: final regret",
            f"As above. OAM plays {played.oam.runs} runs. -PCB starts from the bounds of the "
            "exact distribution, (log) from those of the drawn log at confidence 0.95.",
        ),
        _draw(
            started,
            f"{where}: starting from biased estimates",
            f"{started.caption} {_STARTS}",
        ),
    )


def _keep_bound_pairs(regret: Regret) -> Regret:
    """Keep the regrets of policies that played both with and without bounds."""
    return regret.only(*(name for name in _BOUND_PAIRS if name in regret.policies))


def _keep_warm_starts(regret: Regret) -> Regret:
    """Keep the regrets of LinUCB, LinUCB-PCB and the starts from biased estimates."""
    started = [name for name in regret.policies if name.startswith("LinUCB_")]
    return regret.only("LinUCB", "LinUCB-PCB", *started)


def _tabulate_lines(lines: Sequence[Line], title: str, caption: str) -> Table:
    """Write the final regrets of some policies in one world as a table."""
    head = (
        "policy",
        *("mean", "95 %"),
        *("median", "95 %"),
        *("95 % quantile", "95 %"),
        *("less than LinUCB", "95 %"),
    )
    rows = tuple(
        (
            line.policy,
            f"{line.mean:,.1f}",
            _write_interval(line.mean_lower, line.mean_upper),
            f"{line.median:,.1f}",
            _write_interval(line.median_lower, line.median_upper),
            f"{line.q95:,.1f}",
            _write_interval(line.q95_lower, line.q95_upper),
            "" if line.policy == "LinUCB" else f"{line.less:,.1f}",
            ""
            if line.policy == "LinUCB"
            else _write_interval(line.less_lower, line.less_upper),
        )
        for line in lines
    )
    return Table(title, head, rows, caption)


def _write_interval(lower: float, upper: float) -> str:
    """Write both ends of an interval; nothing where there were too few runs for one."""
    return f"[{lower:,.1f}, {upper:,.1f}]" if isfinite(lower) else ""
