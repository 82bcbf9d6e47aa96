"""The page of ``boundit simulate --study rivals``: who regrets least where, with pictures."""

from collections.abc import Sequence

from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer
from boundit.report.pages.sections import (
    PanelsSection,
    Section,
    TableSection,
    make_prose,
    make_regret_section,
    make_table_section,
)
from boundit.report.records import Grid, RegretSpan
from boundit.studies.online.log_study_rows import FIRST, LogRow
from boundit.studies.online.rival_study import (
    OUR_POLICIES,
    OURS,
    RivalRow,
    RivalStudy,
    group_rows,
)

_HEAD = (
    *("policy", "mean", "median", "95 % quantile"),
    *(f"less than {FIRST}", "95 %", f"less than {OURS}", "95 %"),
)
_BASIS = (
    "Each run draws a log of its own; all policies meet the same visitors, luck and logs, and "
    "differences are paired, run by run, with 95 % intervals, one by one."
)
_CONSTANTS = (
    "A name with * has the constant that did best of several on the paper's and the flipped "
    "world, where those of Fused were chosen too."
)


def make_rival_page(study: RivalStudy, *, command: str) -> str:
    """Write what the study of rivals found as one HTML page.

    Called by ``_write_rival_page`` of the command line.
    """
    grouped = group_rows(study.rows())
    names = tuple(dict.fromkeys(group for (group, _), _ in grouped))
    sections: list[Section] = [_tabulate_best(grouped), _tabulate_losses(grouped)]
    for name in names:
        own = [(points, rows) for (group, points), rows in grouped if group == name]
        sections.append(_draw_group(name, own))
    for (group, points), rows in grouped:
        sections.append(_tabulate_rows(f"{group}, {points:,} points", rows))
    return render_page(
        "Rivals: the same visitors, luck and logs for all",
        sections,
        answer=_describe_found(grouped),
        facts={
            "settings: worlds, and a length of the log": f"{len(grouped)}",
            "policies": f"{len({row.plain.policy for _, rows in grouped for row in rows})}",
            "rounds a run": f"{study.settings.rounds:,}",
        },
        origin=describe_origin(command, {"seed": study.settings.seed}),
    )


_Grouped = Sequence[tuple[tuple[str, int], list[RivalRow]]]


def _describe_found(grouped: _Grouped) -> PageAnswer:
    """Say in how many settings Fused regrets least, and where it loses.

    Called by ``make_rival_page``.
    """
    least = sum(_find_best(rows).plain.policy == OURS for _, rows in grouped)
    lost = [
        f"{group} at {points:,} points"
        for (group, points), rows in grouped
        if _list_ahead(rows)
    ]
    where = f"beyond chance in {len(lost)}: {'; '.join(lost)}." if lost else "in none."
    return PageAnswer(
        f"Beside {FIRST} and policies of other papers, {OURS} has the lowest mean regret in "
        f"{least} of {len(grouped)} settings.",
        (f"Some policy of another paper, or {FIRST}, regrets less than {OURS} {where}",),
        basis={"How sure": _BASIS, "Constants": _CONSTANTS},
    )


def _is_other(row: RivalRow) -> bool:
    """Tell whether a row is of none of our policies. Called by ``_find_best`` and others."""
    return row.plain.policy not in OUR_POLICIES


def _find_best(rows: Sequence[RivalRow]) -> RivalRow:
    """Find the row of the lowest mean among Fused and all that are not ours.

    Called by ``_describe_found``.
    """
    some = [row for row in rows if _is_other(row) or row.plain.policy == OURS]
    return min(some, key=lambda row: row.plain.mean)


def _list_ahead(rows: Sequence[RivalRow]) -> list[RivalRow]:
    """List the rows not ours that regret less than Fused beyond chance, the least first.

    Called by ``_describe_found`` and ``_tabulate_losses``.
    """
    ahead = [row for row in rows if _is_other(row) and row.verdict == "less"]
    return sorted(ahead, key=lambda row: row.plain.mean)


def _tabulate_best(grouped: _Grouped) -> TableSection:
    """Make the table of Fused beside the best of the others, setting by setting.

    Called by ``make_rival_page``.
    """
    rows = []
    for (group, points), members in grouped:
        by_name = {row.plain.policy: row for row in members}
        best = min(filter(_is_other, members), key=lambda row: row.plain.mean, default=None)
        if best is None:
            continue
        rows.append(
            (
                f"{group}, {points:,}",
                f"{by_name[FIRST].plain.mean:,.1f}",
                f"{by_name[OURS].plain.mean:,.1f}",
                best.plain.policy,
                f"{best.plain.mean:,.1f}",
                *_write_less(best.fused),
            )
        )
    return make_table_section(
        Grid(
            (
                "worlds, points",
                FIRST,
                OURS,
                "best other",
                "its mean",
                f"less than {OURS}",
                "95 %",
            ),
            tuple(rows),
        ),
        title="Who regrets least, where",
        caption="Mean final regrets. The best of the others is chosen after the fact, which "
        "favours it.",
    )


def _tabulate_losses(grouped: _Grouped) -> Section:
    """Make the table of all policies that regret less than Fused beyond chance, if any do.

    Called by ``make_rival_page``.
    """
    rows = tuple(
        (
            f"{group}, {points:,}",
            row.plain.policy,
            f"{row.plain.mean:,.1f}",
            *_write_less(row.fused),
        )
        for (group, points), members in grouped
        for row in _list_ahead(members)
    )
    title = "Where we lose"
    if not rows:
        return make_prose(title, "Nowhere beyond chance.")
    return make_table_section(
        Grid(("worlds, points", "policy", "mean", f"less than {OURS}", "95 %"), rows),
        title=title,
        caption="Beyond chance, each interval by itself: of forty that mean nothing, one or "
        "two would stand here.",
    )


def _draw_group(name: str, settings: Sequence[tuple[int, list[RivalRow]]]) -> PanelsSection:
    """Draw the final regrets in one group of worlds, a panel for each length of the log.

    Called by ``make_rival_page``.
    """
    panels = [
        (
            f"{points:,} points",
            [
                RegretSpan(
                    row.plain.policy,
                    row.plain.mean,
                    row.plain.median,
                    row.plain.q95,
                    ours=row.plain.policy in OUR_POLICIES,
                )
                for row in sorted(rows, key=lambda row: row.plain.mean)
            ],
        )
        for points, rows in settings
    ]
    return make_regret_section(
        panels, title=f"{name}: final regret", caption="The lowest mean stands first."
    )


def _tabulate_rows(title: str, rows: Sequence[RivalRow]) -> TableSection:
    """Make the table of all policies in one setting. Called by ``make_rival_page``."""
    cells = tuple(
        (
            row.plain.policy,
            f"{row.plain.mean:,.1f}",
            f"{row.plain.median:,.1f}",
            f"{row.plain.q95:,.1f}",
            *_write_less(row.plain),
            *_write_less(row.fused),
        )
        for row in rows
    )
    plain = rows[0].plain
    worlds = f"{plain.worlds} worlds, " if plain.worlds > 1 else ""
    return make_table_section(
        Grid(_HEAD, cells), title=title, caption=f"{worlds}{plain.runs:,} runs."
    )


def _write_less(row: LogRow) -> tuple[str, str]:
    """Write by how much less a policy regrets, and the interval of it, as two cells.

    Called by ``_tabulate_rows``, ``_tabulate_best`` and ``_tabulate_losses``.
    """
    return f"{row.less:+,.1f}", f"[{row.less_lower:,.1f}, {row.less_upper:,.1f}]"
