"""Exhaustive search of the do-calculus on a small graph, from the data to the question.

Everything is said in *atoms*, ``P(a | do(x), c)`` for one variable a, given S = 1 or not. A
joint distribution is the atoms of any order of its variables, by the chain rule, and rules on
joint distributions follow from rules on atoms, one variable at a time. So these moves reach
whatever the three rules, sums, conditioning and products reach:

* Rules 1, 2 and 3, each for one variable, either way;
* the swap: from ``P(a | b, c)`` and ``P(b | c)`` both ``P(a | c)``, a sum, and ``P(b | a, c)``.

The cheapest formulas are found first (Knuth's generalisation of Dijkstra's search). There are
``n 3^(n-1)`` atoms for n variables, twice as many with selection.
"""

import heapq
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple, final

from boundit.core.formula import Sentence, Term
from boundit.core.names import Nodes, sort_names
from boundit.estimand.derivation import Identification, Question, SeparationFact, Step
from boundit.estimand.expression import Expression, P, divide, multiply, sum_out
from boundit.graph.causal_graph import CausalGraph, list_bits


class _Atom(NamedTuple):
    """``P(of | do(do), given)``: a place and two masks, the selection node among the given."""

    of: int
    do: int
    given: int


class _Reason(NamedTuple):
    """Which move made an atom, from which atoms."""

    move: str
    premises: tuple[_Atom, ...] = ()


_Move = tuple[_Atom, _Reason, float]

_DATA, _SUM, _BAYES = "data", "sum", "Bayes"
# Formulas with fewer sums and ratios come first, then those with fewer idle variables.
_EDIT, _IDLE, _LEAF = 0.001, 0.01, 1.0


def search(graph: CausalGraph, asked: Question, tables: Iterable[Nodes] = ()) -> Identification:
    """Search the do-calculus for a formula of ``asked`` from the log and unselected ``tables``.

    >>> graph = CausalGraph.of(
    ...     directed=[("X", "Y"), ("Z", "X"), ("Z", "Y"), ("Z", "S")], selection="S"
    ... )
    >>> asked = Question(frozenset("Y"), frozenset("X"))
    >>> print(search(graph, asked))
    not found by these rules
    >>> print(search(graph, asked, [frozenset("Z")]))
    Σ_{Z} P(Y | X, Z, S=1) P(Z)
    """
    return _DoCalculusSearch(graph, tables).answer(asked)


@final
class _DoCalculusSearch:
    def __init__(self, graph: CausalGraph, tables: Iterable[Nodes]) -> None:
        self.graph = bits = graph.bits
        self._ancestors = cache(bits.ancestors)

        @cache
        def find_connected(node: int, given: int, into: int, out_of: int) -> int:
            """Find the nodes that ``given`` does not separate from one."""
            opening = self._ancestors(given, into, out_of)
            every = bits.everything
            return bits.find_reached(1 << node, given, every, opening, into, out_of)

        self._connected = find_connected
        self.observed = self.graph.everything & ~self.graph.selection
        self.tables = [self.graph.mask(table & graph.observed) for table in tables]
        self.reasons: dict[_Atom, _Reason] = {}
        self.costs: dict[_Atom, float] = {}
        self.formulas: dict[_Atom, Expression] = {}

    def answer(self, asked: Question) -> Identification:
        """Search for a question's formula, and return it with its steps, or that there is none."""
        goals = self.list_goals(asked)
        if not self.reach_goals(set(goals)):
            reason = "no derivation by the rules of the do-calculus and of probability"
            return Identification(None, (Step(None, reason, "search"),))
        formula = multiply(*map(self.write_formula, goals))
        return Identification(formula, tuple(self.list_steps(goals)))

    def list_goals(self, asked: Question) -> list[_Atom]:
        """Split a question by the chain rule into atoms: ``P(a | do(x), c)`` of one variable."""
        do, given = self.graph.mask(asked.treatments), self.graph.mask(asked.context)
        atoms = list[_Atom]()
        for name in sort_names(asked.outcomes):
            place = self.graph.names.index(name)
            atoms.append(_Atom(place, do, given))
            given |= 1 << place
        return atoms

    def reach_goals(self, missing: set[_Atom]) -> bool:
        """Derive atoms ``P(a | do(x), c)``, the cheapest first, until none is ``missing``.

        Returns whether all of them were derived.
        """
        queue = [(cost, atom, reason) for atom, reason, cost in self.list_data()]
        heapq.heapify(queue)
        while queue and missing:
            cost, atom, reason = heapq.heappop(queue)
            if atom in self.reasons:
                continue
            self.reasons[atom], self.costs[atom] = reason, cost
            missing.discard(atom)
            for made, why, price in self.list_moves(atom):
                if made not in self.reasons:
                    heapq.heappush(queue, (price, made, why))
        return not missing

    def list_data(self) -> Iterator[_Move]:
        """List what the data show: the distribution of each variable given any others, as atoms.

        It comes from the log or from tables, each with its reason and cost.
        """
        for mask, selected in (
            (self.observed, self.graph.selection),
            *((table, 0) for table in self.tables),
        ):
            for place in list_bits(mask):
                others = mask & ~(1 << place)
                given = others
                while True:
                    atom = _Atom(place, 0, given | selected)
                    yield atom, _Reason(_DATA), _LEAF + _IDLE * given.bit_count()
                    if not given:
                        break
                    given = (given - 1) & others

    def list_moves(self, atom: _Atom) -> Iterator[_Move]:
        """List the atoms that follow in one move from an atom and those derived before.

        A move is a rule of the do-calculus, a sum or Bayes' rule; each comes with its cost.
        """
        of, do, given = atom
        cost, known = self.costs[atom], self.reasons
        for i in list_bits(self.graph.everything & ~(1 << of)):
            bit = 1 << i
            free = bit != self.graph.selection
            without = _Atom(of, do & ~bit, given & ~bit)
            if given & bit:
                edits = [("Rule 1", without), ("Rule 2", _Atom(of, do | bit, given ^ bit))]
            elif do & bit:
                edits = [("Rule 3", without), ("Rule 2", _Atom(of, do ^ bit, given | bit))]
            else:
                edits = [
                    ("Rule 1", _Atom(of, do, given | bit)),
                    ("Rule 3", _Atom(of, do | bit, given)),
                ]
            price = cost + (_IDLE if atom == without else _EDIT)
            for rule, made in edits:
                may = made not in known and (free or rule == "Rule 1")
                if may and self.may_use(rule, without, i):
                    yield made, _Reason(rule, (atom,)), price
        yield from self.list_swaps(atom)

    def may_use(self, rule: str, rest: _Atom, i: int) -> bool:
        """Return whether Rule 1, 2 or 3 lets node i be observed, exchanged or set in ``rest``."""
        of, do, given = rest
        into, out_of = do, 1 << i if rule == "Rule 2" else 0
        if rule == "Rule 3" and not self._ancestors(given, do) >> i & 1:
            into |= 1 << i
        return not self._connected(of, do | given, into, out_of) >> i & 1

    def list_swaps(self, atom: _Atom) -> Iterator[_Move]:
        """List the atoms that sums and Bayes' rule make of this one and another derived before.

        From ``P(a | b, c)`` and ``P(b | c)`` follow ``P(a | c)`` and ``P(b | a, c)``.
        """
        of, do, given = atom
        for i in list_bits(self.observed & ~do & ~(1 << of)):
            bit = 1 << i
            if given & bit:
                later, earlier = atom, _Atom(i, do, given ^ bit)
            else:
                later, earlier = _Atom(i, do, given | 1 << of), atom
            if later in self.costs and earlier in self.costs:
                cost = self.costs[later] + self.costs[earlier] + _LEAF
                pair = (later, earlier)
                yield _Atom(later.of, do, earlier.given), _Reason(_SUM, pair), cost
                swapped = _Atom(earlier.of, do, earlier.given | 1 << later.of)
                yield swapped, _Reason(_BAYES, pair), 2 * cost

    def write_formula(self, atom: _Atom) -> Expression:
        """Write the formula of an atom ``P(a | do(x), c)`` that was derived, shared parts once."""
        if atom in self.formulas:
            return self.formulas[atom]
        move, premises = self.reasons[atom]
        parts = [self.write_formula(premise) for premise in premises]
        if move == _DATA:
            logged = bool(atom.given & self.graph.selection)
            found: Expression = P(
                self.graph.read(1 << atom.of),
                self.graph.read(atom.given & ~self.graph.selection),
                logged,
            )
        elif len(parts) == 1:
            found = parts[0]
        else:
            joint = multiply(*parts)
            whole = sum_out(frozenset((self.graph.names[premises[1].of],)), joint)
            found = whole if move == _SUM else divide(joint, whole)
        return self.formulas.setdefault(atom, found)

    def list_steps(self, goals: Iterable[_Atom]) -> Iterator[Step]:
        """List the steps by which the atoms ``goals`` were derived, premises first, each once."""
        seen = set[_Atom]()
        stack = [(goal, False) for goal in reversed(list(goals))]
        while stack:
            atom, ready = stack.pop()
            if ready:
                yield self.make_step(atom)
            elif atom not in seen:
                seen.add(atom)
                stack.append((atom, True))
                stack += [(p, False) for p in reversed(self.reasons[atom].premises)]

    def make_step(self, atom: _Atom) -> Step:
        """Make the step of the explanation that says how an atom was derived, and from what.

        An atom is a ``P(a | do(x), c)`` of one variable.
        """
        move, premises = self.reasons[atom]
        shown = self.write_atom(atom)
        if move == _DATA:
            source = "the log" if atom.given & self.graph.selection else "external data"
            return Step(None, Sentence.of(shown, f" from {source}"), "data")
        if len(premises) == 1:
            fact = self.state_fact(atom, premises[0])
            same = Sentence.of(shown, " = ", self.write_atom(premises[0]))
            return Step(None, same, move, fact)
        first, second = map(self.write_atom, premises)
        verb = "sum over" if move == _SUM else "divide by the sum over"
        words = f": {verb} {self.graph.names[premises[1].of]} of "
        reason = Sentence.of(shown, words, first, " and ", second)
        return Step(None, reason, "chain rule")

    def state_fact(self, made: _Atom, premise: _Atom) -> SeparationFact:
        """State the separation by which a rule leads from the atom ``premise`` to ``made``."""
        bit = (made.do ^ premise.do) | (made.given ^ premise.given)
        do, given = made.do & premise.do, made.given & premise.given
        into, out_of = do, 0
        if made.do != premise.do and made.given != premise.given:  # Rule 2
            out_of = bit
        elif made.do != premise.do and not self._ancestors(given, do) & bit:  # Rule 3
            into = do | bit
        read = self.graph.read
        return SeparationFact(
            read(1 << made.of), read(bit), read(do | given), read(into), read(out_of)
        )

    def write_atom(self, atom: _Atom) -> Term:
        """Write an atom, kept as bit masks, as a term ``P(a | do(x), c)`` for a sentence."""
        read = self.graph.read
        selected = bool(atom.given & self.graph.selection)
        given = read(atom.given & ~self.graph.selection)
        return Question(read(1 << atom.of), read(atom.do), given, selected).formula
