"""``python -m research.tools.rivals_page``: tables and pictures of "rivals", from the results kept.

The numbers of research/docs/rivals.md and of its pictures are those that
``boundit study rivals`` wrote to research/results/rivals.md. ``--check`` writes nothing
and only says what is stale.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import click

from boundit_research.online.log_study_rows import FIRST
from boundit_research.online.regret_panels import RegretSpan, draw_regret_panels
from boundit_research.online.rival_study import BLIND, OUR_POLICIES, OURS
from tools import ROOT
from tools.figures import stand_alone

KEPT = ROOT / "research" / "results" / "rivals.md"
PAGE = ROOT / "research" / "docs" / "rivals.md"
FIGURES = PAGE.parent / "figures"
GROUPS = ("paper", "flipped", "random")
"""Worlds that have a table each; all others share one."""
LENGTHS = ("1,000", "10,000", "30,000", "300,000")
WRONG_LENGTHS = ("1,000", "30,000")
DRAWN_LENGTH = "30,000"
_LABELS = {
    FIRST: f"{FIRST}, no log",
    OURS: f"**{OURS}**",
    BLIND: f"**{OURS}, told rewards alone**",
    "Fused-trusting": "Fused, `doubt=0`",
}
_SETTING = re.compile(r"(.+), ([\d,]+) points")
_PART = re.compile(r"(<!-- rivals: (\w+) -->\n).*?(<!-- /rivals -->)", re.DOTALL)
Rows: TypeAlias = Mapping[str, Sequence[str]]
"""Of each policy: mean, median, 95 % quantile, and less than LinUCB, Fused, Fused-unseen."""
Settings: TypeAlias = Mapping[tuple[str, str], Rows]
"""By worlds and length of the log."""


def read_settings(text: str) -> Settings:
    """Read the table of every setting from the results that are kept."""
    found = dict[tuple[str, str], Rows]()
    for part in text.split("\n## ")[1:]:
        setting = _SETTING.fullmatch(part.partition("\n")[0])
        if setting is not None:
            lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
            cells = [line.replace("\\", "").strip("| ").split(" | ") for line in lines]
            found[setting[1], setting[2]] = {name: rest for name, *rest in cells}
    return found


def write_tables(settings: Settings) -> dict[str, str]:
    """Write all tables of the page, by the names that its marks have."""
    found = {group: "\n".join(_write_group(settings, group)) for group in GROUPS}
    found["wrong"] = "\n".join(_write_wrong(settings))
    return found


def _write_group(settings: Settings, group: str) -> Iterator[str]:
    """Write what all policies regret in a group of worlds, a column for each length."""
    yield f"| | {' | '.join(f'{points} points' for points in LENGTHS)} |"
    yield "|---" * (len(LENGTHS) + 1) + "|"
    for name in settings[group, LENGTHS[0]]:
        cells = [_write_cell(name, settings[group, points][name]) for points in LENGTHS]
        yield f"| {_LABELS.get(name, _name_rival(name))} | {' | '.join(cells)} |"


def _write_cell(name: str, row: Sequence[str]) -> str:
    """Write mean, median and quantile of a policy, and behind one not ours how it stands."""
    mean, median, high, *_, against = row
    mark = "" if name in OUR_POLICIES else find_mark(against)
    return f"{mean} ({median}, {high}){mark}"


def find_mark(against: str) -> str:
    """Find the mark of a difference from Fused that is told rewards alone.

    A rounded zero keeps its sign, so that no end is taken for the other side.
    """
    ends = re.search(r"\[(\S+), (\S+)\]", against)
    if ends is None or ends[1].startswith("-") != ends[2].startswith("-"):
        return " ="
    return "" if ends[2].startswith("-") else " <"


def _name_rival(name: str) -> str:
    """Name a policy in words, where a star stands for a tuned constant."""
    return f"{name.removesuffix('*')}, tuned" if name.endswith("*") else name


def _write_wrong(settings: Settings) -> Iterator[str]:
    """Write the means in worlds that the graph gets wrong, beside the best of the rest."""
    yield "| world | points | LinUCB | Fused | told rewards alone | best of the rest |"
    yield "|---|---|---|---|---|---|"
    for (world, points), rows in settings.items():
        if world in GROUPS or points not in WRONG_LENGTHS:
            continue
        means = {name: _read_number(row[0]) for name, row in rows.items()}
        others = [name for name in rows if name not in (FIRST, *OUR_POLICIES)]
        best = min(others, key=lambda name: means[name])
        said = [rows[name][0] for name in (FIRST, OURS, BLIND)]
        rest = f"{_name_rival(best)} {rows[best][0]}"
        yield f"| `{world}` | {points} | {' | '.join(said)} | {rest} |"


def _read_number(cell: str) -> float:
    return float(cell.replace(",", ""))


def draw_pictures(settings: Settings) -> dict[str, str]:
    """Draw what policies regret from logs of one length, a picture for each group of worlds."""
    panels = [(group, list(_list_spans(settings[group, DRAWN_LENGTH]))) for group in GROUPS]
    return {
        f"rivals-{panel.name}.svg": stand_alone(panel.svg)
        for panel in draw_regret_panels(panels)
    }


def _list_spans(rows: Rows) -> Iterator[RegretSpan]:
    """List mean, median and quantile of every policy, the lowest mean first."""
    for name, row in sorted(rows.items(), key=lambda item: _read_number(item[1][0])):
        mean, median, high = map(_read_number, row[:3])
        yield RegretSpan(name, mean, median, high, ours=name in OUR_POLICIES)


def make_page(page: str, settings: Settings) -> str:
    """Make the page as it should be, with the tables of the results that are kept."""
    tables = write_tables(settings)
    return _PART.sub(lambda part: f"{part[1]}\n{tables[part[2]]}\n\n{part[3]}", page)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is stale.")
def main(*, check: bool) -> None:
    """Write the tables and pictures of research/docs/rivals.md."""
    settings = read_settings(KEPT.read_text(encoding="utf-8"))
    made = {PAGE: make_page(PAGE.read_text(encoding="utf-8"), settings)}
    made |= {FIGURES / name: drawn for name, drawn in draw_pictures(settings).items()}
    stale = [
        path
        for path, text in made.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        if check:
            click.echo(f"stale: {path}; run python -m research.tools.rivals_page", err=True)
        else:
            path.write_text(made[path], encoding="utf-8")
            click.echo(f"wrote {path}")
    sys.exit(check and bool(stale))


if __name__ == "__main__":
    main()
