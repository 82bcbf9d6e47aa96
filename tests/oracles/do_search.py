"""Exhaustive search of the do-calculus on small graphs: an oracle for the engine.

The method is that of do-search (Tikka, Hyttinen and Karvanen, "Causal effect identification
from multiple incomplete data sources", JSS 2021): from the terms that the data give, apply
every rule to every term until nothing new appears. The rules are the three of the do-calculus,
marginalisation, conditioning and the chain rule. What it misses has no derivation by these
rules, which does not prove by itself that the data leave the query open.

A term ``P(of | given, do(do))`` is three disjoint bit masks. The selection node has the highest
bit and only ever stands in ``given``, as S = 1: no data tell how often a unit is left out.
Nothing here imports the package, so that the two can disagree.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

Edges = Iterable[Sequence[str]]
Sets = Iterable[Iterable[str]]


class Term(NamedTuple):
    """``P(of | given, do(do))``, given S = 1 too when it is ``selected``."""

    of: frozenset[str]
    given: frozenset[str]
    do: frozenset[str]
    selected: bool


class _Masks(NamedTuple):
    of: int
    given: int
    do: int


# Which rule, on which nodes, from which terms.
_Step = tuple[str, int, tuple[_Masks, ...]]
_Moves = Iterator[tuple[_Masks, _Step]]


def is_derivable(
    directed: Edges,
    bidirected: Edges,
    selection: str | None,
    y: Iterable[str],
    do: Iterable[str],
    given: Iterable[str],
    external: Sets = (),
) -> bool:
    """Tell whether the rules lead from the data to ``P(y | do(do), given)``.

    The data are ``P(v | S=1)``, or ``P(v)`` without a selection node, and ``P(t)`` for every
    set of ``external``. A node in no edge is a node of the graph when the query names it.

    >>> is_derivable([("X", "M"), ("M", "Y")], [("X", "Y")], None, "Y", "X", ())
    True
    """
    return bool(derive(directed, bidirected, selection, y, do, given, external))


def derive(
    directed: Edges,
    bidirected: Edges,
    selection: str | None,
    y: Iterable[str],
    do: Iterable[str],
    given: Iterable[str],
    external: Sets = (),
) -> list[str]:
    r"""List the steps to ``P(y | do(do), given)``, premises first; empty when there are none.

    >>> print("\n".join(derive([("X", "Y")], [], None, "Y", "X", ())))
    P(X,Y) : data
    P(Y|X) : conditioning on X of P(X,Y)
    P(Y|do(X)) : rule 2 on X of P(Y|X)
    """
    query = _read_names(y), _read_names(given), _read_names(do)
    search = _Search(directed, bidirected, selection, external, frozenset().union(*query))
    target = _Masks(*map(search.make_mask, query))
    steps = search.apply_rules(target)
    return search.write_steps(steps, target) if target in steps else []


def derive_all(
    directed: Edges,
    bidirected: Edges,
    selection: str | None,
    external: Sets = (),
    isolated: Iterable[str] = (),
) -> frozenset[Term]:
    """Collect every term the rules lead to, so that one search answers all queries."""
    search = _Search(directed, bidirected, selection, external, isolated)
    return frozenset(map(search.make_term, search.apply_rules(None)))


class _Search:
    """The graph as tables over node masks, and the rules as moves between terms."""

    def __init__(
        self,
        directed: Edges,
        bidirected: Edges,
        selection: str | None,
        external: Sets,
        isolated: Iterable[str],
    ) -> None:
        arrows, arcs = [tuple(e) for e in directed], [tuple(e) for e in bidirected]
        outside = [_read_names(t) for t in external]
        seen = set(chain(isolated, *arrows, *arcs, *outside)) - {selection}
        self.names = sorted(seen) + ([] if selection is None else [selection])
        self.observed = (1 << len(seen)) - 1
        self.selection = 0 if selection is None else self.make_mask([selection])
        self.children = self._tabulate_unions(arrows)
        self.parents = self._tabulate_unions((head, tail) for tail, head in arrows)
        self.siblings = self._tabulate_unions(chain(arcs, ((b, a) for a, b in arcs)))
        self.data = [_Masks(self.observed, self.selection, 0)]
        self.data += [_Masks(self.make_mask(t), 0, 0) for t in outside]
        every = range(self.observed + 1)
        self.subsets = [[z for z in every if z and not z & ~mask] for mask in every]
        self._connected: dict[tuple[int, int, int, int], int] = {}

    def make_mask(self, names: Iterable[str]) -> int:
        return sum(1 << self.names.index(name) for name in set(names))

    def _tabulate_unions(self, pairs: Iterable[Sequence[str]]) -> list[int]:
        """Tabulate, for each mask, the union of what its nodes are paired with."""
        rows = dict.fromkeys(self.names, 0)
        for one, other in pairs:
            rows[one] |= self.make_mask([other])
        table = [0]
        for row in rows.values():
            table += [union | row for union in table]
        return table

    def find_ancestors(self, mask: int, no_into: int, no_out_of: int) -> int:
        """Collect ``mask`` and its ancestors in the cut graph."""
        new = mask
        while new:
            new = self.parents[new & ~no_into] & ~no_out_of & ~mask
            mask |= new
        return mask

    def find_connected(self, start: int, given: int, no_into: int, no_out_of: int) -> int:
        """Collect the nodes with a walk to ``start`` that ``given`` leaves open.

        The graph lacks the edges into ``no_into`` and the directed edges out of ``no_out_of``.
        A node is reached by a tail or by an arrowhead, and what it passes on depends on which.
        """
        key = (start, given, no_into, no_out_of)
        if key in self._connected:
            return self._connected[key]
        opening = self.find_ancestors(given, no_into, no_out_of)
        by_tail = new_tail = start
        by_head = new_head = 0
        while new_tail or new_head:
            up = (new_tail | new_head & opening) & ~no_into
            down = (new_tail | new_head & ~given) & ~no_out_of
            new_tail = self.parents[up] & ~(no_out_of | given | by_tail)
            new_head = (self.children[down] | self.siblings[up]) & ~(no_into | by_head)
            by_tail |= new_tail
            by_head |= new_head
        self._connected[key] = by_tail | by_head
        return by_tail | by_head

    def apply_rules(self, target: _Masks | None) -> dict[_Masks, _Step]:
        """Apply all rules to all terms; stop early once ``target`` is found."""
        steps: dict[_Masks, _Step] = dict.fromkeys(self.data, ("data", 0, ()))
        queue = list(steps)
        for term in queue:
            if term == target:
                break
            probability = chain(self._list_parts(term), self._list_products(term, steps))
            calculus = chain(
                self._apply_rule_1(term), self._apply_rule_2(term), self._apply_rule_3(term)
            )
            for new, step in chain(probability, calculus):
                if new not in steps:
                    steps[new] = step
                    queue.append(new)
        return steps

    def _list_parts(self, term: _Masks) -> _Moves:
        of, given, do = term
        for a in _list_bits(of) if of & (of - 1) else ():
            yield _Masks(of ^ a, given, do), ("marginalising", a, (term,))
            yield _Masks(of ^ a, given | a, do), ("conditioning", a, (term,))

    def _list_products(self, term: _Masks, known: Container[_Masks]) -> _Moves:
        """Multiply ``P(a | b, w)`` and ``P(b | w)``: one node a, as larger sets follow."""
        of, given, do = term
        for a in _list_bits(self.observed & ~(of | given | do)):
            if (other := _Masks(a, given | of, do)) in known:
                yield _Masks(a | of, given, do), ("product", 0, (other, term))
        for b in self.subsets[given & self.observed] if not of & (of - 1) else ():
            if (other := _Masks(b, given ^ b, do)) in known:
                yield _Masks(of | b, given ^ b, do), ("product", 0, (term, other))

    def _apply_rule_1(self, term: _Masks) -> _Moves:
        """Insert or delete the observation of one node, S included: sets follow."""
        of, given, do = term
        for z in _list_bits((self.observed | self.selection) & ~(of | do)):
            if not of & self.find_connected(z, given & ~z | do, do, 0):
                yield _Masks(of, given ^ z, do), ("rule 1", z, (term,))

    def _apply_rule_2(self, term: _Masks) -> _Moves:
        """Exchange the observation of a set for its action, or back."""
        of, given, do = term
        for z in chain(self.subsets[given & self.observed], self.subsets[do]):
            held, rest = do & ~z, given & ~z
            if not of & self.find_connected(z, held | rest, held, z):
                yield _Masks(of, given ^ z, do ^ z), ("rule 2", z, (term,))

    def _apply_rule_3(self, term: _Masks) -> _Moves:
        """Insert or delete the action on a set."""
        of, given, do = term
        for z in chain(self.subsets[do], self.subsets[self.observed & ~(of | given | do)]):
            held = do & ~z
            cut = held | z & ~self.find_ancestors(given, held, 0)
            if not of & self.find_connected(z, given | held, cut, 0):
                yield _Masks(of, given, do ^ z), ("rule 3", z, (term,))

    def list_names(self, mask: int) -> list[str]:
        return [self.names[bit.bit_length() - 1] for bit in _list_bits(mask)]

    def make_term(self, term: _Masks) -> Term:
        of, given, do = (frozenset(self.list_names(mask & self.observed)) for mask in term)
        return Term(of, given, do, bool(term.given & self.selection))

    def write_term(self, term: _Masks) -> str:
        of, given, do = (",".join(self.list_names(mask)) for mask in term)
        known = ", ".join(filter(None, [given, do and f"do({do})"]))
        return f"P({of}|{known})" if known else f"P({of})"

    def write_steps(self, steps: dict[_Masks, _Step], target: _Masks) -> list[str]:
        """Read the steps to ``target`` back, each once and after its premises."""
        rule, changed, premises = steps[target]
        before = chain.from_iterable(self.write_steps(steps, premise) for premise in premises)
        on = f" on {','.join(self.list_names(changed))}" if changed else ""
        of = f" of {' and '.join(map(self.write_term, premises))}" if premises else ""
        return list(dict.fromkeys([*before, f"{self.write_term(target)} : {rule}{on}{of}"]))


def _read_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else names)


def _list_bits(mask: int) -> Iterator[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1
