"""The page of ``boundit reproduce``: the paper's table, figure and claims, recomputed."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from boundit.core.errors import CannotWrite
from boundit.core.files import write_page
from boundit.report.figures.canvas import save_figure
from boundit.report.figures.curves import draw_curves
from boundit.report.figures.intervals import draw_intervals
from boundit.report.figures.whiskers import Whiskers
from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.sections import (
    Section,
    make_bounds_section,
    make_claims_section,
    make_comparison_section,
    make_curves_section,
    make_graph_section,
    make_intervals_section,
    make_table_section,
)
from boundit.report.records import Grid, IntervalSeries, PointEstimates, TruthComparison
from boundit.simulation.environments import paper_environment
from boundit.simulation.regret import Regret
from boundit.simulation.summary import Line
from boundit_research.online.study import WorldRegret
from boundit_research.paper.achieved import describe_achieved
from boundit_research.paper.offline_bounds import DIGIT, OfflineStudy
from boundit_research.paper.reproduction import Reproduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    "Printed are the paper's bounds, read to their three digits; exact law are those of "
    "endless logging, the next two those of the drawn log. CP is the logged mean, Biased an "
    "estimate adjusted for confounding but not for selection, each with how far it is off."
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
    misses = sum(row.truth not in row.ours for row in offline.rows)
    printed_misses = sum(row.printed_misses for row in offline.rows)
    sections: list[Section] = [
        make_comparison_section(
            _make_comparison(offline),
            title="The offline table",
            caption=f"{offline.points:,} points drawn, {offline.kept:,} kept. {_COLUMNS}",
        ),
        make_intervals_section(_make_whiskers(offline), title="The offline figure"),
        *map(_show_own_logs, (online.paper, online.flip), _WORLDS),
        *map(_show_pairs, (online.paper, online.flip), _WORLDS),
        make_table_section(
            Grid(
                ("ruled out by", "pairs", "of"),
                tuple((row.by, row.pairs, row.of) for row in found.pruned),
            ),
            title="Arms that are ruled out",
            caption="Pairs of arm and context, on the exact law. The best mean is not known "
            "beforehand; the other rows need nothing but the log, the last one the share of "
            "rows that were kept.",
        ),
        make_claims_section(found.claims, title="What the paper claims"),
        make_graph_section(
            world.graph,
            treatments=query.treatments,
            context=query.context,
            outcomes=query.outcomes,
            title="The paper's graph",
            caption="Users U1, U2 meet items X1, X2; the hidden C1 moves I1 and Y (dashed), "
            "and rows are kept by I1.",
        ),
        *_make_world_sections(online.paper, _WORLDS[0]),
        *_make_world_sections(online.flip, _WORLDS[1]),
        make_bounds_section(
            offline.table, title="Every interval, and why it holds", graph=world.graph
        ),
    ]
    return render_page(
        "Bandits from biased logs: the paper, recomputed",
        sections,
        answer=describe_achieved(found),
        facts={
            f"of {offline.points:,} points were kept": f"{offline.kept:,}",
            f"of our {len(offline.rows)} bounds miss": f"{misses}",
            f"of the {len(offline.rows)} printed ones miss": f"{printed_misses}",
            f"runs of each policy, {online.paper.oam.runs:,} of OAM": (
                f"{online.paper.regret.runs:,}"
            ),
        },
        origin=describe_origin(command, {"seed": found.seed, "points": offline.points}),
    )


def write_reproduction(found: Reproduction, folder: Path, *, command: str) -> Path:
    """Write the report on the recomputed paper and its figures into a folder.

    Gives the path of the page.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(folder, error.strerror or str(error)) from None
    figures = {
        "intervals": draw_intervals(_make_whiskers(found.offline)),
        "regret-paper": _draw_curves(_keep_bound_pairs(found.online.paper.regret)),
        "regret-flipped": _draw_curves(_keep_bound_pairs(found.online.flip.regret)),
        "warm-starts": _draw_curves(_keep_warm_starts(found.online.flip.regret)),
        "own-logs-paper": _draw_curves(found.online.paper.own_logs),
        "own-logs-flipped": _draw_curves(found.online.flip.own_logs),
    }
    for name in FIGURES:
        for suffix in ("png", "svg"):
            save_figure(figures[name], folder / f"{name}.{suffix}")
    target = folder / "report.html"
    write_page(target, make_reproduction_page(found, command=command))
    return target


def _make_comparison(study: OfflineStudy) -> TruthComparison:
    """Set the paper's printed intervals beside our intervals, estimates and truth."""
    rows = study.rows
    return TruthComparison(
        study.table.treatments,
        study.table.context,
        spans=(
            IntervalSeries(
                "printed", {r.key: r.printed.interval for r in rows}, rounding=DIGIT
            ),
            IntervalSeries("exact law", {r.key: r.exact for r in rows}),
            IntervalSeries("plug-in", {r.key: r.plug_in for r in rows}),
            IntervalSeries("confidence 0.95", {r.key: r.ours for r in rows}),
        ),
        points=_list_naive_estimates(study),
        truth={r.key: r.truth for r in rows},
    )


def _make_whiskers(study: OfflineStudy) -> Whiskers:
    """Collect what the offline figure draws: intervals, truth and estimates."""
    return Whiskers(
        study.table, {r.key: r.truth for r in study.rows}, _list_naive_estimates(study)
    )


def _list_naive_estimates(study: OfflineStudy) -> tuple[PointEstimates, PointEstimates]:
    """List two biased estimates of each arm and context: CP and Biased.

    CP is the logged mean; Biased adjusts for confounding as if every row had been kept.
    """
    return (
        PointEstimates("CP", {r.key: r.cp for r in study.rows}),
        PointEstimates("Biased", {r.key: r.biased for r in study.rows}),
    )


def _show_own_logs(played: WorldRegret, where: str) -> Section:
    """Draw the regret of policies that start from a log of their own in each run.

    What a reader can expect.
    """
    own = played.own_logs
    return make_curves_section(
        own.make_curves(),
        title=f"{where}: the policy that we recommend",
        caption=f"{own.caption} {_OWN_LOGS}",
    )


def _show_pairs(played: WorldRegret, where: str) -> Section:
    """Draw the regret of policies with and without bounds, as the paper does."""
    pairs = _keep_bound_pairs(played.regret)
    return make_curves_section(
        pairs.make_curves(), title=f"{where}: cumulative regret", caption=pairs.caption
    )


def _make_world_sections(played: WorldRegret, where: str) -> tuple[Section, ...]:
    """Write the numbers of one world: tables of regret, and starts from biased estimates."""
    started, own = _keep_warm_starts(played.regret), played.own_logs
    return (
        make_table_section(
            _tabulate_lines(own.summary()),
            title=f"{where}: final regret with a log for each run",
            caption="Means, medians and 95 % quantiles of the runs, with 95 % intervals; a few "
            "bad runs can make a mean. Differences are paired, run by run. LinUCB takes "
            "nothing from a log; LinUCB-PCB starts from the bounds of the run's log at "
            f"confidence 0.95. {own.runs} runs.",
        ),
        make_table_section(
            _tabulate_lines([*played.regret.summary(), *played.oam.summary()[1:]]),
            title=f"{where}: final regret",
            caption=f"As above. OAM plays {played.oam.runs} runs. -PCB starts from the bounds "
            "of endless logging, (log) from those of the drawn log at confidence 0.95.",
        ),
        make_curves_section(
            started.make_curves(),
            title=f"{where}: starting from biased estimates",
            caption=f"{started.caption} {_STARTS}",
        ),
    )


def _keep_bound_pairs(regret: Regret) -> Regret:
    """Keep the regrets of policies that played both with and without bounds."""
    return regret.only(*(name for name in _BOUND_PAIRS if name in regret.policies))


def _keep_warm_starts(regret: Regret) -> Regret:
    """Keep the regrets of LinUCB, LinUCB-PCB and the starts from biased estimates."""
    started = [name for name in regret.policies if name.startswith("LinUCB_")]
    return regret.only("LinUCB", "LinUCB-PCB", *started)


def _draw_curves(regret: Regret) -> "Figure":
    """Draw regret curves as a figure for a file."""
    return draw_curves(regret.make_curves(), note=regret.caption)


def _tabulate_lines(lines: Sequence[Line]) -> Grid:
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
    return Grid(head, rows)


def _write_interval(lower: float, upper: float) -> str:
    """Write both ends of an interval; nothing where there were too few runs for one."""
    return f"[{lower:,.1f}, {upper:,.1f}]" if isfinite(lower) else ""
