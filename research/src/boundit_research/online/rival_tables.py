"""The tables of the study of rivals, for its page and its text: who wins where, and loses."""

from collections.abc import Callable, Sequence

from boundit.report.records import Grid
from boundit_research.online.log_study_rows import FIRST, LogRow
from boundit_research.online.rival_study import BLIND, OURS, RivalRow, Setting, judge
from boundit_research.online.study import write_interval

_AGAINST: dict[str, Callable[[RivalRow], LogRow]] = {
    OURS: lambda row: row.fused,
    BLIND: lambda row: row.blind,
}
"""Whom rivals are held against, and where a row has the differences."""


def describe_standing(settings: Sequence[Setting], ours: str) -> str:
    """Say in how many settings one Fused regrets least, and in which others beat it."""
    least = sum(
        setting.find(ours).plain.mean <= setting.list_others()[0].plain.mean
        for setting in settings
    )
    lost = [setting.name for setting in settings if list_ahead(setting, ours)]
    where = f"in {len(lost)}: {'; '.join(lost)}" if lost else "in none"
    return (
        f"{ours} has a lower mean regret than {FIRST} and every policy of another paper in "
        f"{least} of {len(settings)} settings. Some of them regrets less beyond chance {where}."
    )


def list_ahead(setting: Setting, ours: str) -> list[RivalRow]:
    """List the rows not ours that regret less than one Fused beyond chance, the least first."""
    pick = _AGAINST[ours]
    return [row for row in setting.list_others() if judge(pick(row)) == "less"]


def tabulate_best(settings: Sequence[Setting]) -> Grid:
    """Make the table of both Fused beside the best of the others, setting by setting."""
    rows = []
    for setting in settings:
        best = setting.list_others()[0]
        means = (setting.find(name).plain.mean for name in (FIRST, OURS, BLIND))
        rows.append(
            (
                setting.name,
                *(f"{mean:,.1f}" for mean in means),
                best.plain.policy,
                f"{best.plain.mean:,.1f}",
                write_less(best.fused),
                write_less(best.blind),
            )
        )
    head = ("worlds, points", FIRST, OURS, BLIND, "best other", "its mean")
    return Grid((*head, f"less than {OURS}", f"less than {BLIND}"), tuple(rows))


def tabulate_losses(settings: Sequence[Setting]) -> Grid:
    """Make the table of all policies that regret less than a Fused of ours beyond chance."""
    rows = [
        (
            setting.name,
            row.plain.policy,
            f"{row.plain.mean:,.1f}",
            write_less(row.fused),
            write_less(row.blind),
        )
        for setting in settings
        for row in setting.list_others()
        if any(row in list_ahead(setting, ours) for ours in _AGAINST)
    ]
    head = ("worlds, points", "policy", "mean", f"less than {OURS}", f"less than {BLIND}")
    return Grid(head, tuple(rows))


def tabulate_counts(settings: Sequence[Setting]) -> Grid:
    """Make the table of how often each policy regrets less, as much or more than each Fused."""
    names = [row.plain.policy for row in settings[0].rows]
    rows = []
    for name in names:
        found = [setting.find(name) for setting in settings]
        counted = [
            _count_verdicts([pick(row) for row in found])
            for ours, pick in _AGAINST.items()
            if ours != name
        ]
        if name in _AGAINST:
            counted.insert(list(_AGAINST).index(name), "")
        rows.append((name, *counted))
    said = "less, level, more regret than"
    return Grid(("policy", f"{said} {OURS}", f"than {BLIND}"), tuple(rows))


def _count_verdicts(rows: Sequence[LogRow]) -> str:
    """Count in how many settings a policy regrets less, as much and more, beyond chance."""
    said = [judge(row) for row in rows]
    return ", ".join(str(said.count(word)) for word in ("less", "", "more"))


def tabulate_rows(setting: Setting) -> Grid:
    """Make the table of all policies in one setting."""
    rows = tuple(
        (
            row.plain.policy,
            f"{row.plain.mean:,.1f}",
            f"{row.plain.median:,.1f}",
            f"{row.plain.q95:,.1f}",
            *(write_less(one) for one in (row.plain, row.fused, row.blind)),
        )
        for row in setting.rows
    )
    against = (f"less than {name}" for name in (FIRST, OURS, BLIND))
    return Grid(("policy", "mean", "median", "95 % quantile", *against), rows)


def write_less(row: LogRow) -> str:
    """Write by how much less a policy regrets, and the interval of it, as one cell.

    In how many worlds it differs beyond chance stands behind where there are several.
    """
    said = f"{row.less:+,.1f} {write_interval(row.less_lower, row.less_upper)}"
    counted = f"; less in {row.better}, more in {row.worse}" if row.worlds > 1 else ""
    return said + counted
