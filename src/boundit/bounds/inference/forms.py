r"""Sums of products as a sequence of draws: when their errors add up to one martingale.

A chain of known links is :math:`\sum_v \prod_j P_j(v_j \mid g_j)`, each factor read off the same
rows. Its estimation error telescopes factor by factor into independent deviations if the columns
can be *revealed* in an order in which, when factor j is revealed, all that was revealed before
leaves :math:`v_j` with the distribution :math:`P_j(\cdot \mid g_j)`: it is contained in
:math:`g_j`, or separated from :math:`v_j` given :math:`g_j` and selection, in the graph itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from boundit.bounds.chain import Axes, FlatChain
from boundit.core.names import Nodes, sort_names
from boundit.counts.formula import Factor
from boundit.estimand.expression import P
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk

MAX_FACTORS = 12
MAX_STEPS = 4_000


def term_of(factor: Factor) -> P:
    """The conditional probability that a factor of a sum is."""
    assert isinstance(factor.body, P)
    return factor.body


@dataclass(frozen=True, eq=False)
class SumForm:
    """Factors in an order in which they may be revealed; the last one draws the outcome.

    Of ``unknown`` variables the least or greatest is taken, outermost first; of ``idle`` ones
    any level may be chosen that does not depend on the rows. ``divided``: what is asked is this
    sum divided by the same sum with the outcome at any level. ``natural`` is as in ``FlatChain``.
    """

    factors: tuple[Factor, ...]
    axes: Axes
    outcome: str
    unknown: Axes
    idle: Axes
    divided: bool = False
    natural: bool = False

    @cached_property
    def drawn(self) -> Mapping[str, int]:
        """The variables that are summed over, with the depth of the factor that draws each."""
        fixed = {*self.axes, self.outcome, *self.unknown, *self.idle}
        return {v: f.depth for f in self.factors for v in f.of if v not in fixed}

    @property
    def key(self) -> object:
        """Equal for forms that compute the same sum."""
        own = tuple((f.body, tuple(sorted(f.names.items())), f.depth) for f in self.factors)
        return own, self.unknown, self.divided

    @property
    def is_sum(self) -> bool:
        """Whether there is anything to gain over cell intervals."""
        return self.divided or self.natural or len(self.factors) > 1

    @property
    def reads(self) -> Nodes:
        """The axes of the table that the value depends on: rows that agree on them are one."""
        return frozenset[str]().union(*(f.of | f.given for f in self.factors)) & frozenset(
            self.axes
        )


def find_form(flat: FlatChain, graph: CausalGraph) -> SumForm | str:
    """The sum that a chain computes, or why exact sum bounds do not apply."""
    factors = [f for f in flat.formula.factors if not f.divides]
    below = {name for f in flat.formula.factors if f.divides for name in f.names.values()}
    summed = frozenset(flat.formula.summed)
    if len(factors) > MAX_FACTORS:
        return f"it has more than {MAX_FACTORS} factors"
    if flat.divisors and flat.natural:
        return "a ratio in natural bounds"
    if flat.divisors:
        # T/B with B free of summed variables: as the outcome's distribution sums to one, B is T
        # summed over the outcome, provided no factor conditions on it.
        if below & summed:
            return "a ratio inside a sum"
        if flat.unknown:
            return "a ratio under a minimum"
        if flat.outcome in below.union(*(f.given for f in factors)):
            return f"a ratio in which {flat.outcome} is given"
    draws = Counter(name for f in factors for name in f.of)
    for name in sort_names(summed):
        if draws[name] != 1:
            return f"{draws[name] or 'no'} factors draw {name}, which is summed over"
    if not draws[flat.outcome]:
        return f"no factor draws {flat.outcome}"
    factors = _drop_ones(factors, summed)
    read = frozenset[str]().union(*(f.of | f.given for f in factors))
    kept = [name in read for name in flat.unknown]
    form = SumForm(
        tuple(replace(f, depth=sum(kept[: f.depth])) for f in factors),
        flat.axes,
        flat.outcome,
        tuple(name for name in flat.unknown if name in read),
        tuple(name for name in flat.idle if name in read),
        flat.divisors,
        flat.natural,
    )
    ordered = order_factors(form, graph)
    return ordered if isinstance(ordered, str) or not form.divided else merge_last(ordered)


def _drop_ones(factors: list[Factor], summed: Nodes) -> list[Factor]:
    """Drop what sums to one: variables that are summed over and that no factor conditions on."""
    while True:
        unread = summed.difference(*(f.given for f in factors))
        if not any(f.of & unread for f in factors):
            return factors
        left = list[Factor]()
        for f in factors:
            gone = {column for column in term_of(f).of if f.names[column] in unread}
            if term_of(f).of <= gone:
                continue
            body = P(term_of(f).of - gone, term_of(f).given, term_of(f).logged)
            left.append(
                replace(f, body=body, names={c: n for c, n in f.names.items() if c not in gone})
            )
        factors = left


def order_factors(form: SumForm, graph: CausalGraph) -> SumForm | str:
    """Order factors so that what is revealed before leaves the distribution of each as it is.

    A factor comes after those that draw what it is given and, if it reads a variable of unknown
    distribution, after all that stand further out: their weights must not depend on a later
    choice. One that draws the outcome is the last.
    """
    rank = {name: place for place, name in enumerate(graph.order)}
    holders = [i for i, f in enumerate(form.factors) if form.outcome in f.of]
    for last in reversed(holders):
        factors = sorted(
            form.factors,
            key=lambda f: (
                f is form.factors[last],
                term_of(
                    f
                ).logged,  # tables of the population have rows of their own, and go first
                f.depth,
                sorted(rank[name] for name in term_of(f).of),
            ),
        )
        if (order := _search_order(factors, form, graph)) is not None:
            return replace(form, factors=tuple(factors[i] for i in order))
    twice = [
        n for n, k in Counter(c for f in form.factors for c in term_of(f).of).items() if k > 1
    ]
    if twice:
        return f"the columns of {', '.join(twice)} are read twice"
    return "what one factor reads says more of another than it is given"


def _search_order(
    factors: Sequence[Factor], form: SumForm, graph: CausalGraph
) -> list[int] | None:
    unknown, last = frozenset(form.unknown), len(factors) - 1
    after = [
        {
            j
            for j, g in enumerate(factors)
            if j != i
            and (
                i == last
                or g.of & f.given & form.drawn.keys()
                or ((f.of | f.given) & unknown and g.depth < f.depth)
            )
        }
        for i, f in enumerate(factors)
    ]
    separated = dict[tuple[int, Nodes], bool]()

    def logged(f: Factor) -> bool:
        return term_of(f).logged or graph.selection is None

    def follows(i: int, placed: Sequence[int]) -> bool:
        f = factors[i]
        same = (term_of(factors[j]) for j in placed if logged(factors[j]) == logged(f))
        revealed = frozenset[str]().union(*(body.free for body in same))
        if revealed & term_of(f).of:
            return False
        beyond = revealed - term_of(f).given
        if beyond and (i, beyond) not in separated:
            given = term_of(f).given | (
                {graph.selection} if logged(f) and graph.selection else set()
            )
            separated[i, beyond] = open_walk(graph, beyond, term_of(f).of, given=given) is None
        return not beyond or separated[i, beyond]

    dead, steps = set[frozenset[int]](), 0

    def extend(placed: list[int]) -> list[int] | None:
        nonlocal steps
        steps += 1
        if len(placed) == len(factors):
            return placed
        if steps > MAX_STEPS or frozenset(placed) in dead:
            return None
        for i in range(len(factors)):
            fits = i not in placed and after[i] <= set(placed) and follows(i, placed)
            if fits and (found := extend([*placed, i])) is not None:
                return found
        dead.add(frozenset(placed))
        return None

    return extend([])


def merge_last(form: SumForm) -> SumForm | str:
    """In a ratio, ``P(x | z) P(y | x, z)`` is ``P(x, y | z)``: rows count once for both."""
    while len(form.factors) > 1 and any(
        not f.of <= form.drawn.keys() for f in form.factors[:-1]
    ):
        *others, one, last = form.factors
        columns = {**one.columns, **last.columns}
        if (
            last.given != one.of | one.given
            or term_of(one).logged != term_of(last).logged
            or len({*columns.values()}) < len(columns)
        ):
            break
        of = frozenset(columns[n] for n in one.of | last.of if n not in form.drawn)
        body = P(of, term_of(one).given, term_of(last).logged)
        names = {columns[n]: n for n in columns if columns[n] in body.free}
        form = SumForm(
            (*others, Factor(body, names, depth=last.depth)),
            form.axes,
            form.outcome,
            form.unknown,
            form.idle,
            divided=True,
        )
    return form


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the log e-value of one factor is accounted for.

    ``axes``: the table's, then those of the cell: what the factor is given and, within a
    minimum, everything that was summed or chosen outside. ``draws`` are the variables it sums
    over. Branches that differ in ``shared`` alone read the same rows. ``before`` are the factors
    that its weight is a product of. ``depth`` counts the unknown variables outside, ``within``
    the minima that the factor itself stands in.
    """

    axes: Axes
    draws: Axes
    depth: int
    shared: Axes
    before: tuple[int, ...]
    within: int


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells of all factors of a form, for every row of the table at once."""

    axes: Axes
    unknown: Axes
    drawn: Mapping[str, int]
    cells: tuple[Cells, ...]

    def outside(self, depth: int) -> frozenset[str]:
        """The axes that are still there within so many minima."""
        inner = {name for name, at in self.drawn.items() if at < depth}
        return frozenset((*self.axes, *inner, *self.unknown[:depth]))


def lay_out(form: SumForm, extra: Axes = ()) -> Layout:
    """Find the cells of every factor; ``extra`` axes (thresholds of a ratio) follow the table's.

    An endpoint must hold for one strategy: the one that chooses what is truly the worst by what
    is summed outside. Branches that meet in the same rows share them (``Cells.shared``): branch a
    accounts for q_a times the log e-value at 1/q_a times its weight, with q's that add up to one,
    because a geometric mean of e-values is one.
    """
    gone, axes, unknown = {form.outcome, *form.idle}, (*form.axes, *extra), form.unknown
    of = [f.of - gone for f in form.factors]
    given = [f.given - gone for f in form.factors]
    depth = [f.depth for f in form.factors]
    fixed = frozenset((*axes, *unknown))
    drawn = {name: depth[i] for i in range(len(of) - 1) for name in of[i] - fixed}

    def trace(place: int, names: Nodes) -> tuple[Nodes, tuple[int, ...]]:
        reached, before = set(names), list[int]()
        for i in reversed(range(place)):
            if of[i] & reached:
                before.append(i)
                reached |= given[i]
        return frozenset(reached), tuple(reversed(before))

    cells = list[Cells]()
    for place in range(len(of)):
        last = place == len(of) - 1
        reached, _ = trace(place, given[place])
        held = [i for i, name in enumerate(unknown) if name in reached]
        own_depth = depth[place] if last else max(held, default=-1) + 1
        outside = frozenset(name for name, at in drawn.items() if at < own_depth)
        _, before = trace(place, given[place] | outside)
        own = given[place].union(outside, unknown[:own_depth]).difference(axes, of[place])
        cells.append(
            Cells(
                (*axes, *sort_names(own)),
                tuple(sort_names(of[place] & drawn.keys())),
                own_depth,
                tuple(sort_names(outside - given[place] - of[place])),
                tuple(range(place)) if last else before,
                depth[place],
            )
        )
    return Layout(axes, unknown, drawn, tuple(cells))


def list_names(form: SumForm) -> Iterator[tuple[str, str]]:
    """Every name of a form with its column."""
    for factor in form.factors:
        yield from factor.columns.items()
