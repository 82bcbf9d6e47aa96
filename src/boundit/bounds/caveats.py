"""What the reader of a table should know: a pure function for each caveat.

``critical``: the answer may be wrong or empty for this reason. ``assumes``: what it rests on.
``skipped``: what a limit or a doubt left out. ``note``: anything else.
"""

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from boundit.core.errors import BounditWarning, OutOfTime
from boundit.core.message import ANY, SOME, Caveat, Option
from boundit.core.names import Nodes, join_names, sort_names, write_name
from boundit.counts.errors import TooLarge
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph

LIMITS: Final = (TooLarge, OutOfTime, MemoryError)
"""What is raised where memory or time do not suffice; who meets it does without."""
MOST_LEVELS = 6
"""Up to how many levels of a variable a caveat names."""
MOST_NAMED = 3
"""Up to how many rules a caveat names, and of how many it says why they are too large."""


def warn_of(caveats: Iterable[Caveat]) -> None:
    """Warn of those that are critical, at the line that called boundit."""
    critical = [caveat for caveat in caveats if caveat.kind == "critical"]
    if not critical:
        return
    frame, level = sys._getframe(1), 2  # noqa: SLF001, the only way to the caller's line
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("boundit."):
        frame, level = frame.f_back, level + 1
    for caveat in critical:
        warnings.warn(BounditWarning(caveat.text), stacklevel=level)


def name_rules(names: Iterable[str]) -> str:
    """Write the names of rules in quotes, the first few and how many more there are.

    >>> name_rules(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    listed = list(names)
    shown = ", ".join(map(repr, listed[:MOST_NAMED]))
    more = len(listed) - MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


# The graph and the levels that were logged


def note_hidden(hidden: Nodes, levels: Mapping[str, Sequence[object]]) -> Iterator[Caveat]:
    """Variables of which selection left one value."""
    for name in sort_names(hidden):
        known = levels.get(name, ())
        seen = f" ({known[0]})" if len(known) == 1 else ""
        yield Caveat(
            f"{name} affects selection and has one value in the data{seen}, so its other values "
            "were filtered out. Rules that use it return the whole range. Declare its values "
            "with ",
            Option("domain", {name: [SOME]}),
            ".",
            kind="critical",
            code="hidden-levels",
        )


def note_external_missing(table: int, dropped: Mapping[str, int]) -> Caveat:
    """External data without the rows that have a missing value need not be unselected."""
    return Caveat(
        f"External data {table} lost rows with missing values ({join_names(sort_names(dropped))}). "
        "What remains need not represent the population. Leave these columns out of the external "
        "data.",
        kind="critical",
        code="external-missing",
    )


def note_idle_arms(graph: CausalGraph, query: EffectQuery) -> Iterator[Caveat]:
    """Arms that do not cause the outcome in the graph: every effect is zero by assumption.

    An arrow that was drawn the wrong way round looks just so.
    """
    (outcome,) = query.outcomes
    causes = graph.ancestors(query.outcomes)
    for arm in query.treatments:
        if arm not in causes:
            turned = ""
            if arm in graph.descendants(outcome):
                turned = f", but one from {outcome} to {arm}"
            yield Caveat(
                f"The graph has no directed path from {arm} to {outcome}{turned}, so every "
                f"effect is zero by assumption. If {arm} may affect {outcome}, add "
                f"'{write_name(arm)} -> {write_name(outcome)}'.",
                kind="critical",
                code="no-causal-path",
            )


def note_silence(graph: CausalGraph, query: EffectQuery) -> Iterator[Caveat]:
    """Why no interval is narrower than the whole range, where that is read off the graph."""
    (outcome,) = query.outcomes
    links = graph.links[outcome]
    for step in sort_names(graph.selecting().intersection(links.children))[:1]:
        target = f"[{step}]" if step == graph.selection else write_name(step)
        yield Caveat(
            f"{outcome} affects which rows were logged ({write_name(outcome)} -> {target}), so "
            "logged outcomes are not representative.",
            kind="critical",
            code="selected-outcome",
        )
    for arm in query.treatments:
        if arm in links.siblings:
            yield Caveat(
                f"{arm} and {outcome} have an unmeasured common cause ({write_name(arm)} <-> "
                f"{write_name(outcome)}).",
                kind="critical",
                code="hidden-confounding",
            )


def note_refuted(candidate: str) -> Caveat:
    """A candidate graph that the data refute."""
    return Caveat(
        f"the data refute {candidate}, which is left out", kind="critical", code="refuted"
    )


def note_levels(guessed: Nodes, levels: Mapping[str, Sequence[object]]) -> Iterator[Caveat]:
    """Variables that rules go over, whose levels selection may hide from the log."""
    stated = list[str]()
    for name in sort_names(guessed):
        known = levels.get(name, ())
        shown = ", ".join(map(str, known))
        if len(known) > MOST_LEVELS:
            shown = f"the {len(known)} in the data"
        stated.append(f"{name} {'none' if stated else 'has no values'} besides {shown}")
    if stated:
        said = ", and ".join(filter(None, (", ".join(stated[:-1]), stated[-1])))
        yield Caveat(
            f"{said}; selection could hide others (",
            Option("domain", ANY),
            ")",
            kind="assumes",
            code="observed-levels",
        )


def note_binary_outcome(outcome: str) -> Caveat:
    """An outcome that affects selection and has only values 0 and 1 in the data."""
    return Caveat(
        f"{outcome} has no values besides 0 and 1; selection could hide others",
        kind="assumes",
        code="binary-outcome",
    )


# A policy that learned while it wrote the log


def note_adaptive() -> Caveat:
    """How sampling error is allowed for."""
    return Caveat(
        "intervals of cells hold however a policy that learned came to have as many rows",
        code="adaptive-log",
    )


def note_adaptive_levels(guessed: Nodes) -> Caveat:
    """Which levels a learning policy reached depends on outcomes.

    The error of a confidence is shared out over the levels that count.
    """
    return Caveat(
        f"{join_names(guessed)} {'has' if len(guessed) == 1 else 'have'} no values besides "
        "those in the data, which may depend on what the policy learned (",
        Option("domain", ANY),
        ")",
        kind="assumes",
        code="adaptive-levels",
    )


def note_moved(names: Iterable[str], term: str) -> Caveat:
    """Rules that read what changed while the policy learned."""
    return Caveat(
        f"{name_rules(names)}, because {term} changed while the policy learned",
        kind="skipped",
        code="adaptive-log",
    )


# What limits left out


def note_refused(refused: Mapping[str, BaseException]) -> Iterator[Caveat]:
    """Rules that exceeded memory or time, by name, and what would help."""
    large = {name: e for name, e in refused.items() if not isinstance(e, OutOfTime)}
    for name, error in [*large.items()][:MOST_NAMED]:
        why = error.message if isinstance(error, TooLarge) else "memory ran out"
        yield Caveat(f"the rule {name!r}: ", why, kind="skipped", code="memory-limit")
    if others := [*large][MOST_NAMED:]:
        limit = Option("memory_limit")
        yield Caveat(
            f"{name_rules(others)}: ", limit, " is too low", kind="skipped", code="memory-limit"
        )
    if late := [name for name, error in refused.items() if isinstance(error, OutOfTime)]:
        yield note_late(late)


def note_late(names: Iterable[str]) -> Caveat:
    """Rules for which no time was left."""
    return Caveat(
        f"{name_rules(names)}, because ",
        Option("time_limit"),
        " was reached. The intervals are valid, but may be wider than necessary. Raise ",
        Option("time_limit"),
        ".",
        kind="skipped",
        code="time-limit",
    )


def note_over() -> Caveat:
    """Comparisons and explanations for which no time was left."""
    return Caveat(
        Option("time_limit"),
        " was reached before all arms were compared and rows explained",
        kind="skipped",
        code="time-limit",
    )


def note_uncounted(names: Iterable[str]) -> Caveat:
    """Rules that read more columns than there is memory to count."""
    return Caveat(
        f"{name_rules(names)}, because the log has too many distinct rows to count what "
        "they read; raise ",
        Option("memory_limit"),
        " or cut columns with ",
        Option("bins", ANY),
        kind="skipped",
        code="memory-limit",
    )


def note_columns(names: Iterable[str]) -> Caveat:
    """Rules that need many columns, beside better ones that do not."""
    return Caveat(
        f"{name_rules(names)}, because they read columns beyond those that are counted",
        kind="skipped",
        code="columns",
    )


# Inference


def note_nonlinear(names: Iterable[str]) -> Caveat:
    """Rules that multiply unknowns, which estimates need not fit."""
    return Caveat(
        f"{name_rules(names)}, because estimates need not fit the graph; set a ",
        Option("confidence"),
        kind="skipped",
        code="plug-in",
    )


def note_no_gain() -> Caveat:
    """Approximate inference where every endpoint is one of single cells."""
    return Caveat("no rule here gains by an approximation, so all endpoints are exact")


def note_doubted(doubted: int, size: int, least: float, *, exact: bool) -> Iterator[Caveat]:
    """Rows of a table that have too little behind them for an approximation."""
    if doubted:
        instead = "their endpoints are exact" if exact else "nothing is said of them"
        yield Caveat(
            f"{doubted:,} of {size:,} rows have fewer than {least:.0f} successes or failures "
            "that count, too few rows, or outcomes that vary too little, for an approximation: "
            f"{instead}",
            code="exact-rows",
        )


def note_narrow(narrow: int, size: int) -> Iterator[Caveat]:
    """Rows of a table that exact inference bounds no worse."""
    if narrow:
        yield Caveat(
            f"{narrow:,} of {size:,} rows are no wider by exact inference, and are exact",
            code="exact-rows",
        )


# Models


def note_no_adjustment(*, needed: bool) -> Caveat:
    """Models that have nothing to adjust for."""
    why = "no covariates in the log adjust for this effect"
    return Caveat(
        why if needed else "this effect needs no covariates",
        "; ",
        Option("models"),
        " was not used",
        kind="skipped",
        code="models",
    )


def note_unfitted(name: str, limit: str) -> Caveat:
    """Models for which memory or time did not suffice."""
    return Caveat(
        f"{name!r} was left out; raise ", Option(limit), kind="skipped", code="models"
    )


def note_unused_model(role: str) -> Caveat:
    """A model of an external table that is not there."""
    return Caveat(
        f"no external table supplies shares; the model of {role} in ",
        Option("models"),
        " was not used",
        kind="skipped",
        code="models",
    )


def note_numbers(names: Nodes) -> Caveat:
    """Columns of many numbers, which other rules would read as categories."""
    few = len(names) == 1
    return Caveat(
        f"{join_names(names)} {'is a number' if few else 'are numbers'} that models alone "
        f"read; other rules could read {'it' if few else 'them'} with ",
        Option("bins", ANY),
        kind="skipped",
        code="models",
    )


def note_joined_levels(name: str, n_levels: int, kept: int) -> Caveat:
    """A covariate of which models tell only the commonest levels apart."""
    return Caveat(
        f"{name} has {n_levels:,} levels; models tell the {kept} "
        "commonest apart, and what the others share may still confound",
        kind="assumes",
        code="models",
    )


def note_models_against(rows: int, size: int, name: str) -> Caveat:
    """Rows of a table in which models and other rules exclude each other."""
    return Caveat(
        f"in {rows:,} of {size:,} rows of the table the interval of "
        f"{name} does not meet that of the other rules; it was left out there, and the "
        "models deserve no trust",
        kind="critical",
        code="models",
    )


def note_models_doubted(doubted: int, size: int, name: str) -> Iterator[Caveat]:
    """Rows of a table that models have too few outcomes for."""
    if doubted:
        yield Caveat(
            f"in {doubted:,} of {size:,} rows of the table too few successes or "
            f"failures stand behind {name}, which says nothing there",
            kind="skipped",
            code="models",
        )


def note_rare_arms(share: float) -> Iterator[Caveat]:
    """How many rows of a context lie where some arm is hardly ever chosen."""
    if share > 0:
        yield Caveat(
            f"some arms are hardly ever chosen where up to {float(f'{100 * share:.2g}'):g} % of "
            "the rows lie: there their reward may be anything",
            code="models",
        )
