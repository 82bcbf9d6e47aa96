r"""Rules as sums of levels, which claims can be made of.

A formula without ratios is :math:`\sum_v \prod_j P_j(v_j \mid g_j)`, where every :math:`g_j` is
made of fixed values and of variables that other factors draw. Each factor is a *level*: it is
read once, off rows whose columns are revealed level after level, so that the errors of all
levels add up to one martingale. A rule that takes the worst over variables of unknown law is
such a sum for each choice of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never, final

from boundit.bounds.claims.order_levels import Reading, order_readings
from boundit.bounds.rules.chain import Chain, ChainLink, KnownFormula
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.seen_cells import ReadTerm
from boundit.estimand.language.expression import CFactor, Expression, P, Product, Ratio, Sum
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes, join_names, sort_names

MOST_LEVELS = 12
"""How many levels a sum has at most; formulas that share parts can have endlessly many."""


@dataclass(frozen=True, slots=True)
class Level(ReadTerm):
    """One factor of a sum of products, read once.

    ``names`` says what a column is called in the sum where that is not its own name, as the
    natural value of a treatment is beside the arm. ``depth`` counts the variables of unknown
    law, ``LevelForm.worst``, within which it stands; ``fold`` says which part of the rows it is
    read off.
    """

    depth: int = 0
    fold: int = 0


@dataclass(frozen=True, slots=True)
class LevelForm:
    """A sum of products for every row of a table, at the worst of some variables.

    The ``levels`` stand in an order in which their columns may be revealed: what was revealed
    before says nothing of what a level draws beyond what it is given. The last one holds the
    value. ``axes`` are the treatments and the context of the row; the ``outcome`` is read at
    success, in whichever level it occurs. Over each of ``worst``, the outermost first, the
    least or the greatest is taken. Of ``idle`` variables the level does not matter to the true
    value: any may be chosen that does not hang on the rows that are read.
    """

    levels: tuple[Level, ...]
    axes: tuple[str, ...]
    outcome: str
    worst: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    @property
    def last(self) -> Level:
        """The level that holds the value."""
        return self.levels[-1]

    @property
    def n_folds(self) -> int:
        """Into how many folds the rows are cut."""
        return 1 + max(level.fold for level in self.levels)

    @property
    def drawn(self) -> Mapping[str, int]:
        """The variables that are summed over, each with the depth of the level that draws it."""
        fixed = {*self.axes, self.outcome, *self.worst, *self.idle}
        return {
            name: level.depth for level in self.levels for name in level.of if name not in fixed
        }


@dataclass(frozen=True, slots=True)
class RatioForm:
    """A sum divided by the same sum with the outcome at any level.

    ``form`` is what stands above the line. Below it the level that draws the outcome is read
    without it, and is dropped where it draws nothing else.
    """

    form: LevelForm


@dataclass(frozen=True, slots=True)
class Unmet:
    """Why a rule is no sum of levels: the condition that fails, in words for users."""

    reason: str


def find_form(rule: BoundRule, graph: CausalGraph) -> LevelForm | RatioForm | Unmet:
    """Find the sum of levels that a rule computes, or say which condition fails."""
    draft = FormDraft(rule)
    match rule:
        case Chain():
            scope = draft.add_links(rule.links, {axis: axis for axis in rule.axes})
            draft.add_reward(rule.reward, scope)
        case NestedChain(core=KnownFormula()):
            draft.add_nested(rule, {axis: axis for axis in rule.axes})
        case _ if rule.confounding_limits:
            return Unmet("a limit on confounding weighs the smallest or largest rewards more")
        case _:
            return Unmet("it multiplies c-factors, of which some may be lost")
    if fault := draft.find_fault():
        return Unmet(fault)
    form = order_form(draft.make_form(), graph)
    return RatioForm(form) if draft.divided and isinstance(form, LevelForm) else form


@final
class FormDraft:
    """The factors of a rule's formulas as levels, while they are gathered.

    ``summed`` are the names of variables that a sum or a link of known law goes over, ``below``
    those that stand below the line of a ratio, ``divided`` says whether there is any.
    """

    def __init__(self, rule: BoundRule) -> None:
        self.axes, self.outcome = rule.axes, rule.outcome
        self.levels = list[Level]()
        self.worst, self.idle = list[str](), list[str]()
        self.summed, self.below = set[str](), set[str]()
        self.divided = False
        self._faults = list[str]()
        self._taken = {*rule.axes, rule.outcome}

    def add_nested(self, rule: NestedChain, scope: Mapping[str, str]) -> Mapping[str, str]:
        """Add a chain whose reward is a chain within, given the names of the variables outside.

        What comes out are the names of all variables before the innermost reward. A treatment
        that this does not name is a new variable there.
        """
        scope = self.add_links(rule.links, scope)
        if isinstance(rule.inner, NestedChain):
            asked = rule.asked.treatments | rule.asked.context
            return self.add_nested(rule.inner, {name: scope[name] for name in asked})
        if isinstance(rule.inner, KnownFormula):
            self.add_reward(rule.inner, scope)
        return scope

    def add_links(self, links: Sequence[ChainLink], scope: Mapping[str, str]) -> dict[str, str]:
        """Add the links of a chain and return the names of all variables that come before."""
        # All get their names first: a formula may hold one of them as a variable of its own.
        names = [self._name(link.variable) for link in links]
        found = dict(scope)
        for link, name in zip(links, names, strict=True):
            found[link.variable] = name
            if link.weights is None:
                self.worst.append(name)
            else:
                self.summed.add(name)
                self._add_formula(link.weights.expression, found)
        return found

    def add_reward(self, reward: KnownFormula, scope: Mapping[str, str]) -> None:
        """Add the formula of the outcome at the end of a chain."""
        self._add_formula(reward.expression, {**scope, self.outcome: self.outcome})

    def add_law(self, law: P, scope: Mapping[str, str]) -> None:
        """Add the law that a response-type program reproduces, as the level of the value.

        All its variables but those in the ``scope`` and the outcome are new.
        """
        own = self._name_all(law.free - scope.keys() - {self.outcome})
        names = {**scope, **own, self.outcome: self.outcome}
        self.levels.append(Level(law, _find_new(names, law), len(self.worst)))

    def _name(self, variable: str) -> str:
        """Name a variable as no other is: by itself, or with primes where that is taken."""
        while variable in self._taken:
            variable += "'"
        self._taken.add(variable)
        return variable

    def _name_all(self, variables: Nodes) -> dict[str, str]:
        """Name variables as no others are: those that a sum is over, or that are idle."""
        return {variable: self._name(variable) for variable in sort_names(variables)}

    def _add_formula(self, formula: Expression, scope: Mapping[str, str]) -> None:
        """Add the factors of a formula, each sum with variables of its own.

        What it reads beyond the ``scope`` does not matter to its value.
        """
        idle = self._name_all(formula.free - scope.keys())
        self.idle += idle.values()
        waiting: list[tuple[Expression, Mapping[str, str]]] = [(formula, {**scope, **idle})]
        while waiting and len(self.levels) <= MOST_LEVELS:
            node, names = waiting.pop()
            match node:
                case P():
                    self.levels.append(Level(node, _find_new(names, node), len(self.worst)))
                case Product(factors):
                    waiting += [(factor, names) for factor in reversed(factors)]
                case Sum(over, body):
                    own = self._name_all(over)
                    self.summed.update(own.values())
                    waiting.append((body, {**names, **own}))
                case Ratio(top, bottom):
                    self.divided = True
                    self.below.update(map(names.__getitem__, bottom.free))
                    waiting.append((top, names))
                case CFactor():
                    self._faults.append("a factor has no formula")
                case _:
                    assert_never(node)

    def find_fault(self) -> str | None:
        """Find why the factors do not make a sum of levels, or None."""
        if self._faults:
            return self._faults[0]
        if len(self.levels) > MOST_LEVELS:
            return f"it has more than {MOST_LEVELS} factors"
        if self.divided and (fault := self._find_ratio_fault()):
            return fault
        draws = Counter(name for level in self.levels for name in level.of)
        for name in sort_names(self.summed):
            if draws[name] != 1:
                return f"{draws[name] or 'no'} factors draw {name}, which is summed over"
        if not draws[self.outcome]:
            return f"no factor draws {self.outcome}"
        return None

    def _find_ratio_fault(self) -> str | None:
        """Find why what is below a ratio's line cannot be pulled out of all sums, or None.

        Pulled out it is what is above, summed over the outcome, as the outcome's law sums to
        one; this sum is simple if only one factor reads the outcome.
        """
        if self.below & self.summed:
            return "a ratio inside a sum"
        if self.worst:
            return "a ratio under a minimum"
        given = frozenset(self.below).union(*(level.given for level in self.levels))
        return f"a ratio in which {self.outcome} is given" if self.outcome in given else None

    def make_form(self, read: Nodes = frozenset()) -> LevelForm:
        """Make a form of the factors, without those that sum to one.

        The value reads the variables ``read`` besides what the levels do.
        """
        levels = _drop_ones(self.levels, self.summed - read)
        form = LevelForm(
            tuple(levels), self.axes, self.outcome, tuple(self.worst), tuple(self.idle)
        )
        return _drop_idle_worst(form, read)


def _find_new(names: Mapping[str, str], term: P) -> dict[str, str]:
    """Find the variables of a term that have other names than their own."""
    return {name: names[name] for name in term.free if names[name] != name}


def _drop_ones(levels: Sequence[Level], summed: Iterable[str]) -> Sequence[Level]:
    """Drop what sums to one: the variables of levels that are summed over and read nowhere.

    Once a level is gone, nobody may read what it was given.
    """
    while True:
        read = frozenset[str]().union(*(level.given for level in levels))
        unread = frozenset(summed) - read
        if not any(level.of & unread for level in levels):
            return levels
        levels = [_marginalize(level, unread) for level in levels if not level.of <= unread]


def _marginalize(level: Level, unread: Nodes) -> Level:
    """Leave out of a joint law the variables that are summed over and read nowhere."""
    gone = frozenset(name for name in level.term.of if level.names.get(name, name) in unread)
    term = P(level.term.of - gone, level.term.given, level.term.logged)
    names = {name: other for name, other in level.names.items() if name not in gone}
    return replace(level, term=term, names=names)


def _drop_idle_worst(form: LevelForm, read: Nodes) -> LevelForm:
    """Drop the variables of unknown law, and the idle ones, that neither value nor level reads."""
    read = read.union(*(level.of | level.given for level in form.levels))
    kept = [name in read for name in form.worst]
    return replace(
        form,
        levels=tuple(replace(level, depth=sum(kept[: level.depth])) for level in form.levels),
        worst=tuple(name for name in form.worst if name in read),
        idle=tuple(name for name in form.idle if name in read),
    )


def order_form(form: LevelForm, graph: CausalGraph) -> LevelForm | Unmet:
    """Order the levels of a form as their columns may be revealed, with folds if need be.

    A level comes after those that draw what it is given, and, if it reads a variable of unknown
    law, after all that stand further out: their weights must not hang on a later choice. One
    that draws the outcome is the last.
    """
    holders = [place for place, level in enumerate(form.levels) if form.outcome in level.of]
    # Tables of everyone have rows of their own, and go first. Then causes go first.
    rank = {name: place for place, name in enumerate(graph.order)}
    for last in reversed(holders):
        levels = sorted(
            form.levels,
            key=lambda level: (
                level is form.levels[last],
                level.term.logged,
                level.depth,
                sorted(rank[name] for name in level.term.of),
            ),
        )
        order = order_readings(_list_readings(levels, form, graph), graph)
        if order is not None:
            placed = (replace(levels[place], fold=fold) for place, fold in order)
            return replace(form, levels=tuple(placed))
    return Unmet(_explain_disorder(form.levels))


def _list_readings(
    levels: Sequence[Level], form: LevelForm, graph: CausalGraph
) -> list[Reading]:
    """List what levels read, by columns, and which of them must come before each.

    The last comes after all others. Without selection, tables of everyone are the log.
    """
    summed, worst = form.drawn.keys(), frozenset(form.worst)
    found = list[Reading]()
    for place, level in enumerate(levels):
        reads_worst = bool((level.of | level.given) & worst)
        after = frozenset(
            other
            for other, before in enumerate(levels)
            if before is not level
            and (
                place == len(levels) - 1
                or before.of & level.given & summed
                or (reads_worst and before.depth < level.depth)
            )
        )
        logged = level.term.logged or graph.selection is None
        found.append(Reading(level.term.of, level.term.given, logged, after))
    return found


def _explain_disorder(levels: Sequence[Level]) -> str:
    """Explain why levels have no order in which their columns may be revealed."""
    times = Counter(name for level in levels for name in level.term.of)
    twice = [name for name, n in times.items() if n > 1]
    if twice:
        return f"the columns of {join_names(twice)} are read twice"
    return "what one factor reads tells more of another than it is given"
