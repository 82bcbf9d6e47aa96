"""The answer of a table of bounds in words, for the first screen of its page."""

from collections.abc import Iterator, Sequence

from boundit.core.formula import Line, Sentence
from boundit.core.rounding import choose_decimals
from boundit.estimand.query import EffectQuery
from boundit.report.pages.page_answer import PageAnswer, UseGroup, write_first, write_sentence
from boundit.report.pages.use_groups import (
    MERITS,
    count_contexts,
    group_uses,
    is_known,
    list_equals,
    name_arms,
)
from boundit.results.bound_table import EXPERT, BoundTable
from boundit.results.choice import Choice

MOST_GROUPS = 4
"""How many different answers are told at once; the others open with a click."""


def make_bound_answer(
    table: BoundTable,
    query: EffectQuery,
    choice: Choice | None,
    *,
    dominated: int,
    drawn: bool,
) -> PageAnswer:
    """Make the answer of a bound table: which arm to use where, how sure, and what it rests on.

    ``dominated`` is how many rows have an arm that another surely beats, ``drawn`` tells
    whether the page shows the graph. Without a ``choice`` it says what is ruled out.
    """
    sure = _describe_certainty(table, choice)
    basis: dict[str, Line] = {
        "Rests on": _describe_basis(table, drawn=drawn),
        "Asked": _write_question(table, query),
    }
    if table.caveats:
        basis["Heed"] = write_first(table.caveats, "What to heed")
    if len(table.arms) == 1:
        return PageAnswer(_describe_only_arm(table), (sure,), basis=basis)
    if choice is None:
        return PageAnswer(_describe_ruled_out(table, dominated), (sure,), basis=basis)
    groups = group_uses(table, choice)
    shown = _keep_foremost(groups)
    return PageAnswer(
        _write_verdict(table, choice),
        (" ".join([*_write_remarks(table, choice), sure]),),
        tuple(shown),
        tuple(group for group in groups if group not in shown),
        basis,
    )


def _keep_foremost(groups: Sequence[UseGroup]) -> list[UseGroup]:
    """Keep a few groups to be told at once: some of the known, and some of the open."""
    if len(groups) <= MOST_GROUPS:
        return list(groups)
    known, still = ([g for g in groups if g.standing == name] for name in ("known", "open"))
    half = MOST_GROUPS // 2
    few = known[: max(half, MOST_GROUPS - len(still))]
    return few + still[: MOST_GROUPS - len(few)]


def _write_verdict(table: BoundTable, choice: Choice) -> str:
    """Write the answer as one sentence."""
    found = list(choice.values())
    known = [one for one in found if is_known(one)]
    if not known and is_unknown(table):
        return "Nothing can be told: every interval is as wide as the scale."
    if len(found) == 1:
        return _write_single_verdict(table, choice)
    arms = {list_equals(table, one) for one in found}
    if len(arms) == 1 and len(*arms) == 1:
        same = name_arms(table, *arms)
        return _write_same_verdict(same, len(known), len(found), MERITS[choice.rule])
    if len(known) == len(found):
        return f"The highest mean is known in all {len(found):,} contexts."
    if known:
        return f"The highest mean is known in {len(known):,} of {len(found):,} contexts."
    return f"The highest mean is known in none of the {len(found):,} contexts."


def _write_same_verdict(arm: str, known: int, contexts: int, merit: str) -> str:
    """Write the answer of a table with the same arm in all contexts."""
    if known == contexts:
        return f"{arm} has the highest mean in every context."
    if known:
        others = "the others" if contexts - known > 1 else "the other"
        where = f"{known:,} of {contexts:,} contexts"
        return f"{arm} has the highest mean in {where}, and {merit} in {others}."
    return f"{arm} {merit} in all {contexts:,} contexts; which mean is highest stays open."


def _write_single_verdict(table: BoundTable, choice: Choice) -> str:
    """Write the answer of a table with one context."""
    (one,) = choice.values()
    arms = list_equals(table, one)
    if is_known(one):
        return f"Highest mean: {name_arms(table, arms)}, whatever is true."
    if len(arms) > 1:
        named = name_arms(table, arms, joint="or")
        return f"It cannot be told which mean is highest: that of {named}."
    merit = MERITS[choice.rule]
    return f"Which mean is highest stays open; {name_arms(table, arms)} {merit}."


def is_unknown(table: BoundTable) -> bool:
    """Tell whether no interval of a table says more than the reward's range."""
    low, high = table.outcome_range
    return not any(b.lower > low or b.upper < high for b in table.bounds.values())


def _write_remarks(table: BoundTable, choice: Choice) -> Iterator[str]:
    """Write which arms are out, and what helps where nothing is known or no arm is best."""
    yield from _describe_out(table, choice)
    drawn = sum(one.arm is None for one in choice.values())
    if is_unknown(table):
        if table.profile != EXPERT:
            yield "“boundit suggest” says what would narrow the intervals."
    elif drawn:
        where = f"In {count_contexts(drawn)} a" if len(choice) > 1 else "A"
        yield (
            f"{where} draw between arms falls less short of the highest than any one arm: see "
            "“Highest mean”."
        )


def _describe_out(table: BoundTable, choice: Choice) -> Iterator[str]:
    """Say which arms are out everywhere, and how many pairs of arm and context are.

    In one context alone its group tells.
    """
    found = [one.ruled_out for one in choice.values()]
    pairs = sum(map(len, found))
    if not pairs:
        yield "No arm is ruled out."
    if not pairs or len(found) == 1:
        return
    everywhere = [arm for arm in table.arms if all(arm in out for out in found)]
    if everywhere:
        yield f"Out in every context: {name_arms(table, everywhere)}."
    if pairs > len(everywhere) * len(found):
        of = len(table.arms) * len(found)
        yield f"Of {of:,} pairs of arm and context {pairs:,} are out: another mean is higher."


def _describe_only_arm(table: BoundTable) -> str:
    """Say what the only arm of a table earns."""
    if is_unknown(table):
        return "Nothing can be told: every interval is as wide as the scale."
    ends = table.bounds.values()
    places = choose_decimals(*table.outcome_range)
    least = f"{min(b.lower for b in ends):.{places}f}"
    most = f"{max(b.upper for b in ends):.{places}f}"
    where = f" in each of {len(table.contexts):,} contexts" if table.contexts[1:] else ""
    arm = name_arms(table, table.arms)
    return f"{arm}, the only arm, has a mean between {least} and {most}{where}."


def _describe_ruled_out(table: BoundTable, dominated: int) -> str:
    """Say how much is ruled out where nothing was chosen."""
    pairs = f"{len(table.bounds):,} pairs of arm and context"
    if not dominated:
        return f"No arm is ruled out, of {pairs}."
    return f"Of {pairs} {dominated:,} are out: another mean is surely higher."


def _write_question(table: BoundTable, query: EffectQuery) -> Sentence:
    """Write what was asked, of how many arms and contexts, on which scale."""
    low, high = table.outcome_range
    arms, contexts = len(table.arms), len(table.contexts)
    size = f"{arms:,} arm{'s' * (arms != 1)}"
    if table.context:
        size += f" in {count_contexts(contexts)}"
    return Sentence.of(query.formula, f", {size}, on a scale from {low:g} to {high:g}.")


def _describe_certainty(table: BoundTable, choice: Choice | None) -> str:
    """Say how sure the answer is, and what that allows for."""
    if table.confidence is None:
        if table.profile == EXPERT:
            return "As sure as the intervals, which were given and not derived."
        if _is_exact_law(table):
            return "No sampling error: the bounds are those of an exact law."
        return "Sampling error is not allowed for: these are plug-in ends."
    chance = table.confidence if choice is None else choice.confidence
    method = "exact inference"
    if table.inference == "approximate":
        method = "approximate inference, for large logs"
        method += " and models that come near the truth" if table.models else ""
    return f"Confidence {chance:.6g}, for everything said here at once ({method})."


def _is_exact_law(table: BoundTable) -> bool:
    """Tell whether rows of a table stand for shares of an exact law, which sum to 1 or less."""
    counted = [bound.n for bound in table.bounds.values()]
    return any(counted) and sum(counted) < 1 + 1e-9


def _describe_basis(table: BoundTable, *, drawn: bool) -> str:
    """Say what the answer rests on: graph, rows, limits that were stated, and the method."""
    if table.profile == EXPERT:
        return "The intervals as they were given."
    graph = "the graph, on each arrow that is missing"
    parts = [f"{graph} (“What is assumed”)" if drawn else graph]
    if not _is_exact_law(table):
        rows = sum(bound.n for bound in table.bounds.values())
        parts.append(f"{rows:,.0f} logged rows of these arms and contexts")
    limits = sorted(table.confounding_limit.items())
    parts += [f"hidden confounding of {edge} up to {limit:g}" for edge, limit in limits]
    if table.profile == "paper":
        parts.append("the printed method, which can miss the truth")
    return write_sentence(_join(parts))


def _join(parts: Sequence[str]) -> str:
    """Join what an answer rests on: ``a; b; and c``."""
    return "; ".join([*parts[:-1], f"and {parts[-1]}"]) if len(parts) > 1 else parts[0]
