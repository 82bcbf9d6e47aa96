"""Which tables of everyone would tell most: those that make the effect recoverable first."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from boundit.core.long_work import Progress
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.log import Log
from boundit.decisions.suggest.evaluation import Evaluation
from boundit.decisions.suggest.report import Suggestion
from boundit.simulation.fitted import FittedEnvironment

LARGEST = 3
"""Tables of more variables are not tried, unless they are all that selection goes by."""
MOST_SETS, SEARCHING = 400, 0.4
"""How many sets are looked at on the graph, and in which part of the time that is left."""
MOST_EXACT, MOST_OTHERS = 4, 8
"""How many tables of either sort are tried on the log."""


def suggest_external_tables(
    evaluation: Evaluation, environments: Sequence[FittedEnvironment], progress: Progress
) -> list[Suggestion]:
    """Ask which tables of everyone would narrow the bounds, and by how much.

    What they would hold is taken from environments that fit the log.
    """
    if evaluation.request.graph.selection is None:
        return []
    exact = find_recovering_sets(evaluation)
    others = _list_others(evaluation, list(exact))
    found = list[Suggestion]()
    tried = [*list(exact)[:MOST_EXACT], *others[:MOST_OTHERS]]
    for i, names in enumerate(tried):
        if evaluation.budget.is_over():
            break
        progress("try external tables", i, len(tried))
        widths = [
            width
            for environment in environments
            if (
                width := evaluation.measure_external(
                    [open_external(evaluation, environment, names)]
                )
            )
            is not None
        ]
        if widths:
            found.append(_write_suggestion(evaluation, names, widths, exact.get(names, "")))
    return found


def find_recovering_sets(evaluation: Evaluation) -> dict[Nodes, str]:
    """Find the smallest sets whose table of everyone makes the effect recoverable, by formula.

    Those without the reward first; with it only where there are none. Supersets of a set that
    suffices are left out. A large graph has more sets than are tried: what selection goes by
    comes first, then the smallest.
    """
    if evaluation.formula is not None:
        return {}
    budget = evaluation.budget.share(SEARCHING)
    for with_reward in (False, True):
        found = dict[Nodes, str]()
        sets = _list_sets(evaluation, with_reward=with_reward)
        for names in islice(sets, MOST_SETS):
            if budget.is_over():
                break
            if any(smaller <= names for smaller in found):
                continue
            formula = evaluation.find_formula(evaluation.request.graph, [names])
            if formula is not None:
                found = {k: of for k, of in found.items() if not names < k} | {names: formula}
        if found:
            return dict(sorted(found.items(), key=lambda entry: len(entry[0])))
    return {}


def open_external(evaluation: Evaluation, environment: FittedEnvironment, names: Nodes) -> Log:
    """Open the table of some variables that an environment's whole population would give.

    It has as many rows as the log.
    """
    return environment.expected_table(names, evaluation.rows)


def _list_sets(evaluation: Evaluation, *, with_reward: bool) -> Iterator[Nodes]:
    """List sets of variables: those that selection goes by, then the smallest first."""
    request = evaluation.request
    (outcome,) = request.query.outcomes
    names = sort_names(request.graph.observed - {outcome})
    reward = frozenset({outcome}) if with_reward else frozenset()
    causes = request.graph.selecting() & request.graph.observed
    for more in (frozenset[str](), frozenset(request.query.context)):
        if likely := (causes | more) - {outcome} | reward:
            yield likely
    for size in range(0 if with_reward else 1, LARGEST + 1):
        for chosen in combinations(names, size):
            yield frozenset(chosen) | reward


def _list_others(evaluation: Evaluation, exact: Sequence[Nodes]) -> list[Nodes]:
    """List tables that may narrow bounds without making the effect recoverable.

    Single variables, pairs with a cause of selection, and all that selection goes by; the
    reward among them only where selection goes by it.
    """
    request = evaluation.request
    graph, query = request.graph, request.query
    causes = graph.selecting() & graph.observed
    asked = frozenset(query.treatments + query.context)
    candidates: list[Nodes] = [causes, causes | frozenset(query.context)]
    candidates += [frozenset({name}) for name in sort_names(causes | asked)]
    candidates += [
        frozenset({a, b}) for a in sort_names(causes) for b in sort_names(asked - {a})
    ]
    held = set(request.tables)
    return [
        names
        for names in dict.fromkeys(candidates)
        if names and names not in held and not any(set_ <= names for set_ in exact)
    ]


def _write_suggestion(
    evaluation: Evaluation, names: Nodes, widths: Sequence[float], formula: str
) -> Suggestion:
    """Write what a table of some variables would give, by its widths in several environments."""
    shown = join_names(names)
    rewarded = bool(names & set(evaluation.request.query.outcomes))
    rows = "as exact" if evaluation.rows is None else f"{evaluation.rows:,} rows"
    return Suggestion(
        "external table",
        f"a table of {shown} of everyone, logged or not",
        sum(widths) / len(widths),
        min(widths),
        max(widths),
        f"{shown}{' together' * (len(names) > 1)}, in a sample of everyone"
        + (", the reward among them" if rewarded else "; no reward is needed"),
        f"mean over {len(widths)} environments that fit the log, with a table of {rows}",
        exact=bool(formula),
        formula=formula,
        variables=tuple(sort_names(names)),
    )
