"""The page of ``boundit study rivals``: who regrets least where, with pictures.

``make_rival_page`` writes it as HTML, ``write_rival_text`` its tables as Markdown.
"""

from collections.abc import Sequence

from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer
from boundit.report.pages.sections import (
    PanelsSection,
    Section,
    make_prose,
    make_table_section,
)
from boundit.report.records import Grid
from boundit_research.online.regret_panels import (
    REGRET_MARKS,
    RegretSpan,
    draw_regret_panels,
)
from boundit_research.online.rival_study import (
    BLIND,
    OUR_POLICIES,
    OURS,
    RivalStudy,
    Setting,
    group_rows,
)
from boundit_research.online.rival_tables import (
    describe_standing,
    tabulate_best,
    tabulate_counts,
    tabulate_losses,
    tabulate_rows,
)

_TITLE = "Rivals: the same visitors, luck and logs for all"
_BASIS = (
    "Each run draws a log of its own; all policies meet the same visitors, luck and logs, and "
    "differences are paired, run by run, with 95 % intervals, one by one; runs are drawn, "
    "worlds are not."
)
_CONSTANTS = (
    "A name with * has the constant that did best of several on the paper's and the flipped "
    "world, where those of Fused were chosen too."
)
_TOLD = (
    f"{OURS} is told the variable that its plan names after each round; {BLIND} is told "
    "rewards alone, as all rivals are."
)
_BEST = (
    "Who regrets least, where",
    "Mean final regrets. The best of the others is chosen after the fact, which favours it.",
)
_LOSSES = (
    "Where we lose",
    "Policies that regret less than one of ours beyond chance, each interval by itself: of "
    "forty that mean nothing, one would stand here.",
)
_COUNTS = (
    "In how many settings each regrets less, level, or more",
    "Less and more are beyond chance, each interval by itself.",
)


def make_rival_page(study: RivalStudy, *, command: str) -> str:
    """Write what the study of rivals found as one HTML page."""
    settings = group_rows(study)
    names = tuple(dict.fromkeys(setting.group for setting in settings))
    losses = tabulate_losses(settings)
    sections: list[Section] = [
        _make_table(tabulate_best(settings), *_BEST),
        _make_table(losses, *_LOSSES)
        if losses.rows
        else make_prose(_LOSSES[0], "Nowhere beyond chance."),
        _make_table(tabulate_counts(settings), *_COUNTS),
        *(_draw_group(name, [one for one in settings if one.group == name]) for name in names),
        *(_make_table(tabulate_rows(one), one.name, f"{one.size}.") for one in settings),
    ]
    return render_page(
        _TITLE,
        sections,
        answer=PageAnswer(
            describe_standing(settings, OURS),
            (describe_standing(settings, BLIND),),
            basis={"How sure": _BASIS, "Constants": _CONSTANTS, "Who is told what": _TOLD},
        ),
        facts={
            "settings: worlds, and a length of the log": f"{len(settings)}",
            "policies": f"{len(settings[0].rows)}",
            "rounds a run": f"{study.settings.rounds:,}",
        },
        origin=describe_origin(command, {"seed": study.settings.seed}),
    )


def write_rival_text(study: RivalStudy, *, command: str) -> str:
    """Write what the study of rivals found as Markdown: all tables of the page, no pictures."""
    settings = group_rows(study)
    losses = tabulate_losses(settings)
    parts = [
        f"# {_TITLE}",
        f"Written by `{command}`: {study.settings}.",
        f"{_BASIS} {_CONSTANTS} {_TOLD}",
        *(describe_standing(settings, ours) for ours in (OURS, BLIND)),
        *_write_table(tabulate_best(settings), *_BEST),
        *_write_table(losses, *_LOSSES),
        *_write_table(tabulate_counts(settings), *_COUNTS),
    ]
    for setting in settings:
        parts += _write_table(tabulate_rows(setting), setting.name, f"{setting.size}.")
    return "\n\n".join(parts) + "\n"


def _make_table(grid: Grid, title: str, caption: str) -> Section:
    """Make a section of the page of a table."""
    return make_table_section(grid, title=title, caption=caption)


def _write_table(grid: Grid, title: str, caption: str) -> list[str]:
    """Write a table of the page in Markdown, with its title and what is said of it."""
    if not grid.rows:
        return [f"## {title}", "Nowhere beyond chance."]
    lines = [grid.head, ("---",) * len(grid.head), *grid.rows]
    # A star would be read as emphasis.
    table = "\n".join(f"| {' | '.join(map(str, line))} |".replace("*", r"\*") for line in lines)
    return [f"## {title}", caption, table]


def _draw_group(name: str, settings: Sequence[Setting]) -> PanelsSection:
    """Draw the final regrets in one group of worlds, a panel for each length of the log."""
    panels = [
        (
            f"{setting.points:,} points",
            [
                RegretSpan(
                    row.plain.policy,
                    row.plain.mean,
                    row.plain.median,
                    row.plain.q95,
                    ours=row.plain.policy in OUR_POLICIES,
                )
                for row in sorted(setting.rows, key=lambda row: row.plain.mean)
            ],
        )
        for setting in settings
    ]
    drawn, caption = draw_regret_panels(panels), "The lowest mean stands first."
    return PanelsSection(f"{name}: final regret", drawn, REGRET_MARKS, caption)
