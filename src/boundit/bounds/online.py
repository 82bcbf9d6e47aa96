"""Living bounds: which weights a policy can learn online, and what they are weights of.

A conditioning bound takes the least and the greatest ``E[Y | do(x), c, w]`` over ``w`` because
nothing is known of ``P(w | do(x), c)``. Who sees ``w`` after each round learns that law. Pairs
of arm and context have it in common where the do-calculus drops what they differ in: Rule 3
treatments, Rule 1 conditions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.confidence import collect_terms
from boundit.bounds.intervals.time_uniform import EndPair
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.chain import Chain
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question, lighten
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Key, Value
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan
from boundit.terms.interval import Interval
from boundit.terms.living import Living, Pool
from boundit.terms.names import Nodes

MOST_CELLS = 16
"""How many combinations of levels a policy may have to count."""
MOST_PLANS = 2
"""How many plans share the error of living bounds: each costs the others width."""
NO_ROWS = NoFusedPlan("no rows were counted")


def make_living_plans(
    chains: Iterable[object],
    graph: CausalGraph,
    query: EffectQuery,
    levels: Mapping[str, Sequence[Value]],
    reward_range: tuple[float, float],
    numbers_for: Callable[[Mapping[P, Nodes], float], Numbers],
    fused: FusedPlan | NoFusedPlan = NO_ROWS,
) -> tuple[Living, ...]:
    """Plan which laws a policy can learn online to narrow conditioning bounds.

    A conditioning bound takes the worst level of some variables, as their law is unknown; each
    plan says which variables a policy should watch, and the reward's interval at their levels.
    ``numbers_for`` gives the numbers of some terms, for a share of the error. Unlike in a
    conditioning bound, whose ends are one cell's, here the intervals of all cells must hold at
    once, so no term is one whose extremes alone matter. Where a policy goes on counting in the
    cells of the log, as ``fused`` says, all intervals by the log get half of the error, as
    others follow them, and share it where weights have rows as well. Called by
    ``_plan_living`` once per table.
    """
    chosen = choose_chains(chains, levels)
    if not chosen:
        return ()
    terms = collect_terms(chain.reward.expression for chain in chosen)
    counted = set(fused.variables) if isinstance(fused, FusedPlan) else None
    goes_on = any(set(chain.variables) == counted for chain in chosen)
    share = 0.5 * (1 - _share_with_weights(fused)) if goes_on else 1.0
    numbers = numbers_for(dict.fromkeys(terms, Nodes()), share)
    return tuple(
        _make_living_plan(c, graph, query, levels, reward_range, numbers) for c in chosen
    )


def _share_with_weights(fused: FusedPlan | NoFusedPlan) -> float:
    """Say which share of the error weights have beside rewards: each interval as much.

    Only weights that rows are draws of have intervals; of two cells, one gives the other.
    Called by ``make_living_plans`` and ``bound_weights``.
    """
    if not isinstance(fused, FusedPlan):
        return 0.0
    known = [factor for factor in fused.factors if any(map(any, factor.counts))]
    n = sum(f.n_pools * (len(f.cells) if len(f.cells) > 2 else 1) for f in known)
    return n / (n + len(fused.n)) if n else 0.0


def bound_weights(
    living: Living,
    fused: FusedPlan | NoFusedPlan,
    error: float,
    bound_shares: Callable[[Floats, Floats, float], EndPair],
) -> Living:
    """Add to a plan what rows say of the factors that they are draws of, as intervals.

    They share half of the ``error`` with those of rewards. Where rows are draws of none, or
    rounds are not counted on top of rows, the plan stays as it is. Called by ``_plan_living``
    for each plan.
    """
    share = _share_with_weights(fused)
    if (
        not isinstance(fused, FusedPlan)
        or not share
        or set(fused.variables) != set(living.variables)
    ):
        return living
    # As much for each interval as rewards have, whose intervals are as many as their cells.
    alpha = 0.5 * error * (1 - share) / len(fused.n)
    found = []
    for factor in fused.factors:
        k = np.array(factor.counts, np.float64)
        n = np.broadcast_to(k.sum(axis=1, keepdims=True), k.shape)
        # A pool that no row tells of has the whole range.
        low, high = bound_shares(k, n, alpha)
        pools = zip(low.tolist(), high.tolist(), strict=True)
        found.append(tuple(tuple(map(Interval, below, above)) for below, above in pools))
    return replace(living, chances=tuple(found))


def choose_chains(
    chains: Iterable[object], levels: Mapping[str, Sequence[Value]]
) -> list[Chain]:
    """Choose the chains of which only the reward is known, those of fewest cells first.

    A chain bounds the reward by going over variables one after another. Empty where the laws of
    all variables of some chain are known: then there is nothing left to learn. Neither counts
    nor rewards have a say, so that a confidence holds. Called by ``make_living_plans``.
    """
    plain = [chain for chain in chains if isinstance(chain, Chain)]
    if any(all(link.weights for link in chain.links) for chain in plain):
        return []
    found: dict[Nodes, Chain] = {}
    for chain in plain:
        if not any(link.weights for link in chain.links):
            found.setdefault(frozenset(chain.variables), chain)

    def n_cells(chain: Chain) -> int:
        return prod(len(levels[name]) for name in chain.variables)

    small = [chain for chain in found.values() if n_cells(chain) <= MOST_CELLS]
    return sorted(small, key=lambda chain: (n_cells(chain), chain.variables))[:MOST_PLANS]


def _make_living_plan(
    chain: Chain,
    graph: CausalGraph,
    query: EffectQuery,
    levels: Mapping[str, Sequence[Value]],
    reward_range: tuple[float, float],
    numbers: Numbers,
) -> Living:
    """Make the plan for one chain: the variables whose law a policy learns, and their rewards.

    It says which arms and contexts share that law, and the reward's interval at each level.
    Called by ``make_living_plans`` for each chosen chain.
    """
    shared_by, reason = find_pooling(graph, query, chain.variables)
    ends = _read_ends(chain, query, levels, reward_range, numbers)
    names = query.treatments + query.context
    return Living(
        chain.variables,
        tuple(tuple(levels[name]) for name in chain.variables),
        {key: _select_pool(names, key, shared_by) for key in ends},
        ends,
        reason,
    )


def find_pooling(
    graph: CausalGraph, query: EffectQuery, variables: Sequence[str]
) -> tuple[Nodes, str]:
    """Find on which treatments and contexts the law of some variables depends, and why.

    Arms and contexts that agree on these can pool their observations. Called by
    ``_make_living_plan``.

    >>> from boundit.estimand.query import parse_query
    >>> graph = CausalGraph.of(directed=[("X", "W"), ("W", "Y"), ("X2", "Y"), ("C", "Y")])
    >>> shared_by, reason = find_pooling(graph, parse_query("Y | do(X, X2)"), ["W"])
    >>> sorted(shared_by), reason
    (['X'], 'P(W | do(X)) is learned online; Rule 3: drop do(X2)')
    """
    asked = Question(
        frozenset(variables), frozenset(query.treatments), frozenset(query.context)
    )
    light, steps = lighten(graph, asked)
    words = [f"{light} is learned online", *map(str, steps)]
    return light.treatments | light.context, "; ".join(words)


def _read_ends(
    chain: Chain,
    query: EffectQuery,
    levels: Mapping[str, Sequence[Value]],
    reward_range: tuple[float, float],
    numbers: Numbers,
) -> dict[Key, tuple[Interval, ...]]:
    """Read the reward's interval at every level of a chain's variables, by arm and context.

    A cell that was never logged has the whole range. Called by ``_make_living_plan``.
    """
    (outcome,), n = query.outcomes, len(query.treatments)
    names = query.treatments + query.context
    order = (*names, *chain.variables)
    shape = [len(levels[name]) for name in order]
    lowest, highest = reward_range

    def scaled(unit: Floats) -> Floats:
        whole = np.broadcast_to(unit[..., SUCCESS].clip(0, 1), shape)
        return lowest + (highest - lowest) * whole.reshape(prod(shape[: len(names)]), -1)

    low, high = map(scaled, numbers.read_ends(chain.reward.expression, (*order, outcome)))
    values = product(*(levels[name] for name in names))
    return {
        (found[:n], found[n:]): tuple(map(Interval, below.tolist(), above.tolist()))
        for found, below, above in zip(values, low, high, strict=True)
    }


def _select_pool(names: Sequence[str], key: Key, shared_by: Nodes) -> Pool:
    """Select the levels of an arm and context by which online observations are pooled.

    Arms and contexts with equal levels share counts. Called by ``_make_living_plan`` for each
    arm and context.
    """
    arm, context = key
    return tuple(v for name, v in zip(names, arm + context, strict=True) if name in shared_by)
