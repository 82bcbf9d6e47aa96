"""Joint bounds: how much better one arm can be than another, whatever is unknown to both.

Two intervals apart let each arm have its own worst case, but the population is one. Rules in
which arms share something unknown bound the difference itself: chains share the laws that the
arms do not change (``SharedChain``), and arms that share hidden causes with the reward share
the law of response types (``SharedTypes``). What says more than the intervals is kept.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.shared_unknown import (
    ArmPlace,
    GreatestDifferences,
    SharedUnknown,
    find_differing,
)
from boundit.bounds.contrasts.type_differences import SharedTypes
from boundit.bounds.numbers import Numbers
from boundit.bounds.refusals import LIMITS
from boundit.bounds.rules.chain import Chain
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.named_array import Floats
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Arm, Bound, Context, Key
from boundit.terms.contrast import Pair, StoredContrasts
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes
from boundit.terms.rounding import ROUNDING

MOST_PAIRS = 500
"""For how many pairs of arms, contexts counted, programs are made; each takes milliseconds."""
MOST_PROGRAMMED = 1
"""How many rules of a kind that makes programs are tried, the first ones given."""
MOST_KEPT = 100_000
"""From how many differences on a table carries only those that rule an arm out."""
_Kept: TypeAlias = tuple[NDArray[np.intp], Floats]
"""Codes of pairs of arms in a context, and their differences."""


def find_shared(rule: BoundRule, graph: CausalGraph) -> SharedUnknown | None:
    """Find what is unknown to two arms alike under a rule, by which they can be compared.

    It is the law of variables along a chain, or of response types; None where they share
    nothing.
    """
    match rule:
        case Chain() | ReweightedChain():
            return SharedChain.from_graph(graph, rule.query, rule)
        case NestedChain() if program := rule.shared_program:
            return SharedTypes(program)
        case ReweightedTypes():
            return SharedTypes(rule)
        case _:
            return None


def collect_contrasts(
    rules: Sequence[SharedUnknown],
    numbers: Numbers,
    query: EffectQuery,
    levels: Mapping[str, Sequence[object]],
    bounds: Mapping[Key, Bound],
    outcome_range: tuple[float, float],
    *,
    claimed: Floats | None = None,
    budget: TimeBudget = FOR_EVER,
) -> Mapping[Pair, float]:
    """Collect how much better one arm can be than another, for every context and two arms.

    A difference is kept where it is smaller than the upper end of the first arm less the lower
    end of the second. ``claimed`` are differences that claims prove, by the treatments of both
    arms and the context. Once the ``budget`` is spent no further rule is begun; what was found
    holds. With very many pairs only rules that need no programs are tried.
    """
    arms, contexts = (list(dict.fromkeys(part)) for part in zip(*bounds, strict=True))
    places = list(product(*(range(len(levels[name])) for name in query.treatments)))
    programmed = len(arms) * len(bounds) <= MOST_PAIRS
    proved = _prepare_rules(rules, numbers, query, budget, programmed=programmed)
    if not proved and claimed is None:
        return {}
    kept, n_kept, scale = list[_Kept](), 0, outcome_range[1] - outcome_range[0]
    lower, upper = _list_ends(arms, contexts, bounds)
    shape = [len(levels[name]) for name in query.context]
    for one, place in enumerate(places):
        best = _bound_leads(place, places, query.treatments, proved, shape, budget)
        if claimed is not None:
            best = np.minimum(best, claimed[place].reshape(best.shape))
        leads = scale * best.reshape(len(arms), -1)
        says_more = leads < upper[one] - lower - ROUNDING
        if n_kept > MOST_KEPT:
            says_more &= leads < 0
        others, wheres = np.nonzero(says_more)
        kept.append(((wheres * len(arms) + one) * len(arms) + others, leads[says_more]))
        n_kept += len(others)
    return _store_contrasts(arms, contexts, kept)


def _store_contrasts(
    arms: Sequence[Arm], contexts: Sequence[Context], kept: Sequence[_Kept]
) -> StoredContrasts:
    """Store the differences that were kept, in the order of their codes.

    A code is the numbers of context, arm and other arm in one.
    """
    codes, values = (np.concatenate(part) for part in zip(*kept, strict=True))
    order = np.argsort(codes)
    return StoredContrasts(
        arms,
        contexts,
        array("q", codes[order].astype(np.int64).tobytes()),
        array("d", values[order].tobytes()),
    )


def _prepare_rules(
    rules: Sequence[SharedUnknown],
    numbers: Numbers,
    query: EffectQuery,
    budget: TimeBudget,
    *,
    programmed: bool,
) -> list[GreatestDifferences]:
    """Make what compares arms under each rule, for rules in which arms may share an unknown.

    Its laws are read off the numbers. Rules that the ``budget`` leaves no time for are dropped.
    """
    ready = list[GreatestDifferences]()
    for rule in _choose_rules(rules, programmed=programmed):
        if not budget.is_over() and rule.may_share(frozenset(query.treatments)):
            with suppress(*LIMITS):
                ready.append(rule.make_differences(numbers, query, budget))
    return ready


def _bound_leads(
    one: ArmPlace,
    places: Sequence[ArmPlace],
    treatments: Sequence[str],
    proved: Sequence[GreatestDifferences],
    shape: Sequence[int],
    budget: TimeBudget,
) -> Floats:
    """Bound from above one arm's mean reward less that of every arm, by context.

    The best of all rules counts; infinite where no rule says anything.
    """
    best = np.full((len(places), *shape), np.inf)
    for others in _group_by_difference(treatments, one, places):
        against = [places[other] for other in others]
        for differences in proved:
            if not budget.is_over():
                with suppress(*LIMITS):
                    found = differences.find_greatest(one, against)
                    best[others] = np.minimum(best[others], found)
    return best


def _list_ends(
    arms: Sequence[Arm], contexts: Sequence[Context], bounds: Mapping[Key, Bound]
) -> tuple[Floats, Floats]:
    """List the lower ends and the upper ends of all bounds, as arrays of arm and context."""
    rows = [bounds[key] for key in product(arms, contexts)]
    shape = len(arms), len(contexts)
    lower, upper = (
        np.fromiter(map(attrgetter(end), rows), float, len(rows)).reshape(shape)
        for end in ("lower", "upper")
    )
    return lower, upper


def _group_by_difference(
    treatments: Sequence[str], one: ArmPlace, places: Sequence[ArmPlace]
) -> Iterator[list[int]]:
    """Group the other arms by the treatments in which they differ from one arm.

    Arms come out as their numbers among ``places``.
    """
    groups = dict[Nodes, list[int]]()
    for number, other in enumerate(places):
        if other != one:
            groups.setdefault(find_differing(treatments, one, other), []).append(number)
    yield from groups.values()


def _choose_rules(
    rules: Sequence[SharedUnknown], *, programmed: bool
) -> Iterator[SharedUnknown]:
    """Choose the rules that compare arms: all without linear programs, and few with them.

    Of those with programs the first of each kind is taken, and none unless ``programmed``.
    """
    yield from (rule for rule in rules if not rule.is_programmed)
    if programmed:
        made = [rule for rule in rules if rule.is_programmed]
        for kind in dict.fromkeys(map(type, made)):
            yield from [rule for rule in made if type(rule) is kind][:MOST_PROGRAMMED]
