r"""What differences of arms cost of the error, where cells hold only as extremes.

Where only the least and the greatest of a row of cells matter, the row costs as much error as
one cell, since which cell is extreme is fixed by the truth. The cell that decides how far two
arms lie apart is fixed so too, but it is another one for each pair. Take one arm ``a``, fixed
by the truth as the best arm is, and its leads over all others: each needs the upper end of one
cell of ``a`` and the lower end of one cell of the other. With ``n`` arms that each have rows of
their own, each of which has the error :math:`\alpha`, half on each side, all these leads cost
:math:`(n - 1)\,\alpha` at most. Lower ends of all arms and the upper end of ``a`` cost
:math:`(n + 1)\,\alpha / 2` besides, of the :math:`n\,\alpha` that the rows have. Arms that
share rows need more: with ``r`` rows for ``n`` arms each lead still costs one row's error, so
:math:`(n - 1)/r` of all there is, and the ends may need all of it.
"""

from collections.abc import Mapping, Sequence
from math import prod

from boundit.bounds.confidence import CountReader
from boundit.estimand.language.expression import P, find_variables
from boundit.estimand.query import EffectQuery
from boundit.terms.names import Nodes


def find_contrast_cost(
    extremes: Mapping[P, Nodes],
    rules: Sequence[CountReader],
    query: EffectQuery,
    levels: Mapping[str, int],
) -> float:
    """Find how much error the leads of one arm over all others cost, in all contexts together.

    The unit is the error of all rows less one arm's. ``extremes`` says of each term over which
    of its variables only extremes hold. It is 0 where all cells hold at once, 1 where each rule
    has terms of its own that tell arms and contexts apart; where a term serves several rules,
    arms or contexts, each decides by cells of its own.
    """
    return max(
        (_count_uses(term, rules, query, levels) for term in extremes if extremes[term]),
        default=0.0,
    )


def _count_uses(
    term: P, rules: Sequence[CountReader], query: EffectQuery, levels: Mapping[str, int]
) -> float:
    """Count by how many rules, arms and contexts one row of a term's cells is used at most."""
    uses = 0.0
    for rule in rules:
        if term not in rule.formulas:
            continue
        read = frozenset[str]().union(*map(find_variables, rule.formulas))
        # What a rule does not read changes none of its differences.
        outside = read - term.given
        of_arms = 1.0
        if outside & set(query.treatments):
            rows = prod(levels[name] for name in query.treatments if name in term.given)
            of_arms = prod(levels[name] for name in query.treatments) / rows + 0.5
        uses += of_arms * prod(levels[name] for name in query.context if name in outside)
    return uses
