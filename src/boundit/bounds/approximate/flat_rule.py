"""Rules that are formulas: a known reward, averaged over links or taken at their worst.

A chain that ends in a program is one too, once multipliers of the program are given.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from boundit.bounds.approximate.flat_formula import FlatFormula, FlatWriter
from boundit.bounds.rules.chain import Chain, ChainLink, KnownFormula
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.bounds.rules.rule import BoundRule
from boundit.estimand.language.expression import Expression
from boundit.terms.names import sort_names


@dataclass(frozen=True, slots=True)
class FlatLink:
    """A variable of a chain, by a name of its own, and its law where that is known."""

    name: str
    law: FlatFormula | None


@dataclass(frozen=True, slots=True)
class FlatProgram:
    """A response-type program at the end of a chain: where it is asked, and what its law draws.

    ``places`` are the names of its conditions, then of its arms; ``cells`` those of its
    instruments, then of the variables with types. Feasible multipliers, a number for each cell
    at each place, make a formula of it: the law's mean of them.
    """

    spec: ResponseProgram
    places: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlatRule:
    """A chain written flat: the links, outermost first, and the reward given all of them.

    ``idle`` are variables whose level does not matter to the true value, each with its column.
    ``levels`` has every name that occurs. Where a ``program`` ends the chain, the reward is its
    law, still to be multiplied.
    """

    axes: tuple[str, ...]
    outcome: str
    links: tuple[FlatLink, ...]
    reward: FlatFormula
    idle: Mapping[str, str]
    levels: Mapping[str, int]
    program: FlatProgram | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The links of unknown law that come before any of known law.

        Each level of them is a formula of its own, and the worst of these is taken at the very
        end.
        """
        names = list[str]()
        for link in self.links:
            if link.law is not None:
                break
            names.append(link.name)
        return tuple(names)

    @property
    def identity(self) -> object:
        """What two rules share that compute the same number: the factors, however nested."""
        order = tuple(link.name for link in self.links)
        # Where nothing is known, the order in which the worst is taken does not matter.
        names = order if any(link.law for link in self.links) else tuple(sort_names(order))
        spec = self.program.spec if self.program else None
        return names if self.unknown else (), self.unknown, spec, _identify(self.join(0))

    @property
    def unknown(self) -> frozenset[str]:
        """The links of unknown law."""
        return frozenset(link.name for link in self.links if link.law is None)

    @property
    def is_known(self) -> bool:
        """Whether it leaves nothing unknown, neither of links nor of response types."""
        return not self.unknown and self.program is None

    @property
    def has_choice(self) -> bool:
        """Whether its end depends on multipliers, which rewards have a say in.

        Those of natural bounds are always the same.
        """
        return self.program is not None and not self.program.spec.is_natural

    @property
    def is_extreme(self) -> bool:
        """Whether it takes nothing but the worst of some cells, as a conditioning bound does.

        Exact intervals of cells are as near as can be then.
        """
        alone = len(self.reward.occurrences) == 1 and not self.reward.summed
        nothing_known = len(self.unknown) == len(self.links) > 0
        plain = alone and not self.reward.bottoms and not self.idle
        return nothing_known and plain and self.program is None

    def is_beaten_by(self, other: "FlatRule") -> bool:
        """Tell whether another rule takes the same reward over the same links and knows more.

        It is then at least as near, whatever the numbers.
        """
        same = {link.name for link in self.links} == {link.name for link in other.links}
        known = other.unknown < self.unknown and self.program == other.program
        return same and known and _identify(self.reward) == _identify(other.reward)

    def join(self, first: int) -> FlatFormula:
        """Multiply the reward by the laws of the links from number ``first`` on, and sum."""
        links = self.links[first:]
        laws = [link.law for link in links if link.law is not None]
        inside = [link.name for link in links]
        inside += self.program.cells if self.program else [self.outcome]
        return self.reward.multiply(laws, (*inside, *self.idle))

    def weigh(self, first: int, last: int) -> FlatFormula:
        """Multiply the laws of some links, without a sum over them."""
        laws = [link.law for link in self.links[first:last] if link.law is not None]
        free = frozenset[str]().union(*(law.free for law in laws))
        return FlatFormula().multiply(laws, [name for name in self.idle if name in free])


def flatten_rule(rule: BoundRule, levels: Mapping[str, int]) -> FlatRule | None:
    """Write a rule flat, or return None where it is no chain of a formula or a program.

    A program that weighs response types by estimates has no multipliers that stay feasible.
    """
    match rule:
        case Chain(links=links, reward=KnownFormula(expression, _)):
            return _Flattening(rule, levels).write([(links, None)], expression)
        case NestedChain(core=KnownFormula(expression, _)):
            return _Flattening(rule, levels).write(_list_links(rule), expression)
        case NestedChain(core=ResponseProgram(weights=()) as program):
            return _Flattening(rule, levels).write_program(_list_links(rule), program)
        case _:
            return None


def _identify(flat: FlatFormula) -> object:
    """Make a key of a flat formula that does not depend on the order of its factors."""
    terms = Counter((each.term, frozenset(each.names.items())) for each in flat.occurrences)
    below = Counter(_identify(part) for part in flat.bottoms)
    return frozenset(terms.items()), frozenset(below.items()), frozenset(flat.summed)


LinksOfQuestion = tuple[Sequence[ChainLink], frozenset[str] | None]
"""Links, and the variables of the question that they and what follows speak of."""


def _list_links(rule: NestedChain) -> list[LinksOfQuestion]:
    """List the links of a nested chain, and what the chain within speaks of."""
    found: list[LinksOfQuestion] = [(rule.links, None)]
    chain = rule
    while isinstance(chain.inner, NestedChain):
        found.append((chain.inner.links, chain.asked.treatments | chain.asked.context))
        chain = chain.inner
    return found


class _Flattening:
    """One rule on its way to a flat one."""

    def __init__(self, rule: BoundRule, levels: Mapping[str, int]) -> None:
        self.rule, self.writer = rule, FlatWriter(levels)
        self.names: dict[str, str] = {axis: axis for axis in rule.axes}
        self.idle = dict[str, str]()

    def write(self, chains: Sequence[LinksOfQuestion], reward: Expression) -> FlatRule:
        """Write the links of a chain and of those within, then the reward.

        A chain within speaks of the variables of its own question; one of its links can have
        the name of an arm, of which it is the natural value.
        """
        links = self._write_links(chains)
        outcome = self.rule.outcome
        self.names[outcome] = outcome
        core = self._write_formula(reward)
        return FlatRule(self.rule.axes, outcome, links, core, self.idle, self.writer.levels)

    def write_program(
        self, chains: Sequence[LinksOfQuestion], program: ResponseProgram
    ) -> FlatRule:
        """Write the links of a chain, then the law of the program at its end.

        The natural value of an arm is another variable than the arm.
        """
        links = self._write_links(chains)
        places = tuple(self.names[name] for name in program.fixed + program.set_by_hand)
        for name in program.varied + program.inside:
            self.names[name] = self.writer.make_variable(name)
        cells = tuple(self.names[name] for name in program.varied + program.inside)
        core = self._write_formula(program.law)
        return FlatRule(
            self.rule.axes,
            self.rule.outcome,
            links,
            core,
            self.idle,
            self.writer.levels,
            FlatProgram(program, places, cells),
        )

    def _write_links(self, chains: Sequence[LinksOfQuestion]) -> tuple[FlatLink, ...]:
        """Write the links of a chain and of those within."""
        flat = list[FlatLink]()
        for links, asked in chains:
            if asked is not None:
                self.names = {name: self.names[name] for name in asked if name in self.names}
            for link in links:
                name = self.writer.make_variable(link.variable)
                self.names[link.variable] = name
                law = self._write_formula(link.weights.expression) if link.weights else None
                flat.append(FlatLink(name, law))
        return tuple(flat)

    def _write_formula(self, formula: Expression) -> FlatFormula:
        """Write one formula, with a variable of its own for each whose level does not matter."""
        names = dict(self.names)
        for column in sort_names(formula.free):
            if column not in names:
                names[column] = self.writer.make_variable(column)
                self.idle[names[column]] = column
        return self.writer.write(formula, names)
