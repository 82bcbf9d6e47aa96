r"""A question as a bilinear program: Tian's Identify on a distribution known up to a reweighting.

Let M be the Markov blanket of selection S. Then ``P(v) = P(v | m, S=1) theta(m)`` with
``theta(m) = P(m)``, and only ``theta`` is unknown (Bareinboim and Pearl 2012). Each run of a
c-component in causal order has a kernel with ``P(before, run) = k(run | pillow) P(before)`` *at
every value of what comes before* (Tian and Pearl 2002): a number where both sides are
proportional as forms in ``theta``, else one product of two unknowns. Together the kernels state
all independences among everyone (Richardson 2003), which is what limits ``theta``.

Identify is then run on the kernels. Where it stops, response types of the c-component take over
(``types``). In every model of the graph the true ``theta``, kernels and types satisfy all of it.
With cell intervals, cells of the population are variables, ``low theta <= P(cell) <= high theta``.
A value of M that was never logged may have any mass, spread in any way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import inf, prod
from typing import NamedTuple

import numpy as np

from boundit.bounds.evidence import SUCCESS, Probabilities
from boundit.bounds.program.bilinear import BilinearProgram, Entry, FormPair, bound_ratios
from boundit.bounds.program.types import (
    MAX_LISTED,
    MAX_OTHERS,
    IndependentTypes,
    TypeBlock,
    Variable,
    World,
)
from boundit.bounds.selection_facts import SelectionFacts
from boundit.core.names import Nodes
from boundit.core.rounding import EXACT_ROUNDING
from boundit.counts.formula import Formula, Pair, normalise
from boundit.counts.named_array import Floats
from boundit.estimand.expression import P
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk

MAX_EXTRA = 2_000  # types beside one variable's, where a block only limits the reweighting
MAX_JOINT = 300  # joint types of variables without a common hidden cause
At = Mapping[str, int]


class Independence(NamedTuple):
    """``run`` is independent of ``rest`` given ``given`` among everyone."""

    run: tuple[str, ...]
    rest: tuple[str, ...]
    given: tuple[str, ...]


class Entries(NamedTuple):
    """Entries with named axes, as ``Q[inside](inside | outside)``."""

    axes: tuple[str, ...]
    cells: Mapping[tuple[int, ...], Entry]

    def at(self, levels: At) -> Entry:
        """The entry at some levels, of which it may need only a part."""
        return self.cells[tuple(levels[axis] for axis in self.axes)]


class Shares:
    """Conditional probabilities of the log, between two endpoints, each table read once.

    Without ``numbers`` nothing is known of them: a dry run, which shows what would be read.
    """

    def __init__(
        self, levels: Mapping[str, int], numbers: Probabilities | None = None, *, logged: bool
    ) -> None:
        self.levels, self.numbers, self.logged = levels, numbers, logged
        self.formulas: dict[P, Formula] = {}
        self._read: dict[tuple[Sequence[str], Sequence[str], bool], Pair] = {}

    def read(
        self, of: Sequence[str], given: Sequence[str], *, logged: bool | None = None
    ) -> Pair:
        """Both endpoints of ``P(of | given)``; the axes are ``given``, then ``of``."""
        logged = self.logged if logged is None else logged
        names = (*given, *of)
        key = names, of, logged
        if key not in self._read:
            shape = [self.levels[name] for name in names]
            if not of:
                self._read[key] = np.ones(shape), np.ones(shape)
                return self._read[key]
            term = P(frozenset(of), frozenset(given), logged)
            formula = self.formulas.setdefault(term, normalise(term))
            if self.numbers is None:
                self._read[key] = np.full(shape, 0.1), np.full(shape, 0.9)
            else:
                low, high = self.numbers.read(formula, names)
                self._read[key] = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        return self._read[key]


class Compiler:
    """The program of one graph and its facts; questions are asked of it row by row."""

    def __init__(
        self,
        graph: CausalGraph,
        shares: Shares,
        facts: SelectionFacts,
        tables: Iterable[Nodes] = (),
    ) -> None:
        self.whole, self.shares, self.facts = graph, shares, facts
        self.graph = graph.induced(graph.observed)
        self.levels, self.program = shares.levels, BilinearProgram()
        self.independences: dict[Independence, None] = {}
        self._blocks: dict[object, TypeBlock | None] = {}
        self.order = self._order(graph.selecting())
        self.shield = self.sort(self._find_shield(graph.nodes)) if graph.selection else ()
        self._add_theta()
        if graph.selection and graph.links[graph.selection].siblings:
            self._add_ancestral_shields()
        for table in sorted(map(self.sort, tables)) if graph.selection else ():
            low, high = shares.read(table, (), logged=False)
            margin = self.margin(table)
            for at in np.ndindex(low.shape):
                ends = float(low[at]) - EXACT_ROUNDING, float(high[at]) + EXACT_ROUNDING
                self.program.add_row([(1.0, margin.cells[at])], *ends)
        # Where a c-factor is unknown, what response types can show limits the reweighting.
        for part, factor in self._factorize(frozenset(self.order), None).items():
            if len(part) > 1 and any(
                isinstance(cell, Variable) for cell in factor.cells.values()
            ):
                self._make_types(part, factor, MAX_EXTRA)

    # Axes and orders

    def sort(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in causal order."""
        kept = frozenset(names)
        return tuple(name for name in self.order if name in kept)

    def assign(self, names: Sequence[str]) -> Iterator[dict[str, int]]:
        """Every combination of levels of some variables."""
        for levels in product(*(range(self.levels[name]) for name in names)):
            yield dict(zip(names, levels, strict=True))

    def tabulate(
        self, names: Iterable[str], make: Callable[[dict[str, int]], Entry]
    ) -> Entries:
        """Make an entry for every combination of levels."""
        axes = tuple(names)
        return Entries(axes, {tuple(at.values()): make(at) for at in self.assign(axes)})

    def _order(self, first: Nodes) -> tuple[str, ...]:
        """Causes first, those of selection before all; a c-component side by side if it can be."""
        graph, placed = self.graph, list[str]()
        home = {v: part for part in graph.components() for v in part}
        while len(placed) < len(graph.nodes):
            ready = [
                v
                for v in graph.order
                if v not in placed and set(graph.links[v].parents) <= set(placed)
            ]
            ready = [v for v in ready if v in first] or ready
            beside = (v for v in ready if placed and home[v] == home[placed[-1]])
            placed.append(next(beside, ready[0]))
        return tuple(placed)

    # The population

    def _find_shield(self, nodes: Nodes) -> Nodes:
        """What separates selection from all other ``nodes``, an ancestral set.

        That is the rest of its c-component and the parents of that (Richardson 2003).
        """
        s = str(self.whole.selection)
        own = next(part for part in self.whole.induced(nodes).components() if s in part)
        return (own | self.whole.parents(own)) - {s}

    def _limit(self, names: tuple[str, ...]) -> Pair:
        """Endpoints of ``P(names)`` by the facts alone: ``least P(.|S=1) <= P <= G P(.|S=1)``."""
        shape = [self.levels[name] for name in names]
        if not self.facts or not names:
            return np.full(shape, 0.0 if names else 1.0), np.ones(shape)
        low, high = self.shares.read(names, ())
        most = np.array([self.facts.find_greatest_share(float(h)) for h in high.flat])
        least = self.facts.least_ratio * low * (1 - EXACT_ROUNDING)
        return least, np.minimum(1.0, most.reshape(shape) * (1 + EXACT_ROUNDING))

    def _add_theta(self) -> None:
        if not self.shield:
            self.theta = self.tabulate((), lambda _: 1.0)
            return
        low, high = self._limit(self.shield)

        def make(at: At) -> Variable:
            place = tuple(at.values())
            theta = self.program.add_variable(float(low[place]), float(high[place]))
            self.program.forms[theta] = {theta: 1.0}, {theta: 1.0}
            return theta

        self.theta = self.tabulate(self.shield, make)
        self.program.add_row([(1.0, theta) for theta in self.theta.cells.values()], 1.0, 1.0)

    def margin(self, asked: Iterable[str]) -> Entries:
        """``P(names) = sum over m of P(names | m, S=1) theta(m)`` of the population."""
        names = self.sort(asked)
        key = "margin", names
        if key in self.program.made:
            found: Entries = self.program.made[key]
            return found
        others = tuple(name for name in names if name not in self.shield)
        more = tuple(name for name in self.shield if name not in names)
        low, high = self.shares.read(others, self.shield)
        is_whole, is_exact = len(names) == len(self.order), not (low < high).any()
        if not is_whole and not is_exact:
            self.margin(self.order)  # whose cells are added up

        def read_ends(at: At) -> tuple[float, float]:
            place = tuple(at[name] for name in (*self.shield, *others))
            return float(low[place]), float(high[place])

        def add_up(at: At) -> Entry:
            places = [{**at, **rest} for rest in self.assign(more)]
            total = self.program.total(
                self._add_mass((*names, *more), place, *read_ends(place)) for place in places
            )
            if isinstance(total, Variable) and self.shield:
                thetas = [self.theta.at(place) for place in places]
                forms: FormPair = ({}, {})
                for theta, place in zip(thetas, places, strict=True):
                    if isinstance(theta, Variable):
                        forms[0][theta], forms[1][theta] = read_ends(place)
                self.program.forms.setdefault(total, forms)
            return total

        margin = self.program.made[key] = self.tabulate(names, add_up)
        # Follows from the rest, but not where bounds are propagated row by row.
        self.program.add_row([(1.0, cell) for cell in margin.cells.values()], 1.0, 1.0)
        if is_whole and not is_exact:
            for m in self.assign(self.shield):
                cells = [(1.0, margin.at({**m, **rest})) for rest in self.assign(others)]
                self.program.add_row([*cells, (-1.0, self.theta.at(m))])
        return margin

    def _add_mass(self, names: tuple[str, ...], at: At, low: float, high: float) -> Entry:
        """The mass of a cell that names all of m: its share among rows like m, times theta."""
        theta, rest = self.theta.at(at), [name for name in self.order if name not in names]
        if low == high:
            return self.program.multiply(low, theta)
        mass: Entry
        if rest:
            whole = self.margin(self.order)
            mass = self.program.total(whole.at({**at, **more}) for more in self.assign(rest))
        else:
            mass = self.program.add_variable()
        self.program.add_row([(1.0, mass), (-low, theta)], 0.0, inf)
        self.program.add_row([(1.0, mass), (-high, theta)], -inf, 0.0)
        return mass

    def _add_ancestral_shields(self) -> None:
        """In an ancestral margin fewer variables may shield selection, if it has hidden causes.

        ``P(a) = P(a | m', S=1) P(m')`` is linear in the margins.
        """
        s, seen = str(self.whole.selection), {self.whole.nodes}
        for size in range(len(self.order)):
            for chosen in combinations(self.order, size):
                nodes = self.whole.ancestors({s, *chosen})
                if nodes in seen:
                    continue
                seen.add(nodes)
                shield = self.sort(self._find_shield(nodes))
                rest = self.sort(nodes - {s} - set(shield))
                if not rest:
                    continue
                low, high = self.shares.read(rest, shield)
                inner, outer = self.margin(shield), self.margin((*shield, *rest))
                for at in self.assign((*shield, *rest)):
                    place, total = tuple(at.values()), inner.at(at)
                    for share, ends in (
                        (low, (-EXACT_ROUNDING, inf)),
                        (high, (-inf, EXACT_ROUNDING)),
                    ):
                        row = [(1.0, outer.at(at)), (-float(share[place]), total)]
                        self.program.add_row(row, *ends)

    # Identify

    def sum_to(self, factor: Entries, kept: Iterable[str]) -> Entries:
        """Sum over all axes but those kept."""
        names = frozenset(kept)
        gone = [axis for axis in factor.axes if axis not in names]
        return self.tabulate(
            (axis for axis in factor.axes if axis in names),
            lambda at: self.program.total(
                factor.at({**at, **rest}) for rest in self.assign(gone)
            ),
        )

    def multiply(self, factors: Sequence[Entries], axes: Iterable[str]) -> Entries:
        """The product of factors at every level of ``axes``."""
        return self.tabulate(
            axes, lambda at: self.program.multiply_all(factor.at(at) for factor in factors)
        )

    def _factorize(self, inside: Nodes, factor: Entries | None) -> dict[Nodes, Entries]:
        """Split ``Q[inside]`` into c-factors (Tian and Pearl 2002, Lemma 4).

        Without a ``factor`` it is the margin of the population. Members of a c-component that
        follow each other are divided out at once.
        """
        graph, order = self.graph.induced(inside), self.sort(inside)
        parts = graph.components()
        outside = [a for a in factor.axes if a not in inside] if factor else []
        if len(parts) == 1:
            return {parts[0]: factor or self._find_kernel(order, (), ())}
        home = {v: part for part in parts for v in part}
        kernels: dict[Nodes, list[Entries]] = {part: [] for part in parts}
        start = 0
        for end in range(1, len(order) + 1):
            if end < len(order) and home[order[end]] == home[order[end - 1]]:
                continue
            run, before = order[start:end], (*outside, *order[:start])
            # The pillow: the pieces of c-components so far that the run is in, and their parents.
            pieces = graph.induced(order[:end]).components()
            own = frozenset[str]().union(*(piece for piece in pieces if piece & set(run)))
            near = own | self.graph.parents(own)
            given = tuple(name for name in before if name in near)
            rest = tuple(name for name in before if name not in near)
            kernel = (
                self._find_kernel(run, given, rest, own)
                if factor is None
                else self._divide(
                    self.sum_to(factor, (*before, *run)),
                    self.sum_to(factor, before),
                    run,
                    given,
                    rest,
                    own,
                )
            )
            kernels[home[run[0]]].append(kernel)
            start = end
        found = dict[Nodes, Entries]()
        for part in parts:
            axes, names = self.sort(part | self.graph.parents(part)), self.sort(part)
            found[part] = self.multiply(kernels[part], axes)
            for end in range(1, len(names)):
                # Summed over its last variables it does not depend on what acts on those alone.
                kept = [axis for axis in axes if axis not in names[end:]]
                self._drop_idle(self.sum_to(found[part], kept), frozenset(names[:end]))
        return found

    def _find_kernel(
        self,
        run: tuple[str, ...],
        given: tuple[str, ...],
        rest: tuple[str, ...],
        own: Nodes = frozenset(),
    ) -> Entries:
        """The kernel of a run in a margin of the population."""
        if self.whole.selection is None:  # then it is a conditional probability of the log
            return self.read_conditional(run, given)
        if rest:
            self.independences[Independence(run, rest, given)] = None
        top, bottom = self.margin((*rest, *given, *run)), self.margin((*rest, *given))
        if not given and not rest:  # the margin itself
            return top
        return self._divide(top, bottom, run, given, rest, own, self.bound_kernel(run, given))

    def _divide(
        self,
        top: Entries,
        bottom: Entries,
        run: tuple[str, ...],
        given: tuple[str, ...],
        rest: tuple[str, ...],
        own: Nodes,
        known: Pair | None = None,
    ) -> Entries:
        """The kernel ``top = k(run | given) bottom`` at every value of ``rest``.

        It belongs to the pieces ``own`` of c-components, and is one number where the bottom is 0.
        """

        def make(at: At) -> Entry:
            places = [{**at, **more} for more in self.assign(rest)]
            pairs = [(top.at(place), bottom.at(place)) for place in places]
            place = tuple(at.values())
            ends = (float(known[0][place]), float(known[1][place])) if known else (0.0, 1.0)
            return self.program.divide(pairs, ends, cell=(own, run, given, place))

        kernel = self.tabulate((*given, *run), make)
        self.sum_to_one(kernel, run, given)
        return kernel

    def sum_to_one(self, kernel: Entries, run: Sequence[str], given: Sequence[str]) -> None:
        """State that a kernel is a distribution of ``run`` at every level of ``given``."""
        for at in self.assign(given):
            cells = [(1.0, kernel.at({**at, **drawn})) for drawn in self.assign(run)]
            self.program.add_row(cells, 1 - EXACT_ROUNDING, 1 + EXACT_ROUNDING)

    def read_conditional(self, run: tuple[str, ...], given: tuple[str, ...]) -> Entries:
        """``P(run | given)`` where nothing selects: numbers, or variables between endpoints."""
        key = "conditional", run, given
        if key not in self.program.made:
            low, high = self.shares.read(run, given)

            def make(at: At) -> Entry:
                place = tuple(at.values())
                ends = float(low[place]), float(high[place])
                return ends[0] if ends[0] == ends[1] else self.program.add_variable(*ends)

            self.program.made[key] = self.tabulate((*given, *run), make)
            self.sum_to_one(self.program.made[key], run, given)
        found: Entries = self.program.made[key]
        return found

    def bound_kernel(self, run: tuple[str, ...], given: tuple[str, ...]) -> Pair:
        """Both endpoints of ``P(run | given)`` of the population, read off the log by itself.

        Where selection does not change it, it is the log's; else the ratio of two margins, over
        all reweightings by what shields selection from these variables.
        """
        s, names = str(self.whole.selection), (*given, *run)
        if self.whole.selection is None or open_walk(self.whole, run, s, given=given) is None:
            return self.shares.read(run, given)
        key = "range", run, given
        if key not in self.program.made:
            shield = self.sort(self._find_shield(self.whole.ancestors({s, *names})))
            forms = [self._spread(kept, names, shield) for kept in (names, given)]
            (top_low, top_high), (bottom_low, bottom_high) = forms
            low, high = (end.ravel() for end in self._limit(shield))
            shape = [self.levels[name] for name in names]
            least = bound_ratios(-1, top_low, bottom_high, low, high) - EXACT_ROUNDING
            most = bound_ratios(1, top_high, bottom_low, low, high) + EXACT_ROUNDING
            ends = np.maximum(least, 0.0).reshape(shape), np.minimum(most, 1.0).reshape(shape)
            self.program.made[key] = ends
        found: Pair = self.program.made[key]
        return found

    def _spread(
        self, kept: tuple[str, ...], names: tuple[str, ...], shield: tuple[str, ...]
    ) -> tuple[Floats, Floats]:
        """Coefficients of ``P(shield)`` in ``P(kept)``, a row for each value of ``names``."""
        others = tuple(name for name in kept if name not in shield)
        axes = (*shield, *others)
        shape = [self.levels[name] for name in (*names, *shield)]
        grids = np.indices(shape, sparse=True)
        at_name = dict(zip(names, grids, strict=False))
        at_shield = dict(zip(shield, grids[len(names) :], strict=True))
        fits = np.ones(shape, dtype=bool)
        for name in kept:
            if name in at_shield:
                fits &= at_name[name] == at_shield[name]
        index = tuple(at_shield[axis] if axis in at_shield else at_name[axis] for axis in axes)
        n_rows = prod(self.levels[name] for name in names)
        low, high = (
            (np.broadcast_to(end[index], shape) * fits).reshape(n_rows, -1)
            for end in self.shares.read(others, shield)
        )
        return low, high

    def _drop_idle(self, factor: Entries, inside: Nodes) -> Entries:
        """``Q[inside]`` is equal at all levels of outside variables that are not its parents."""
        parents = self.graph.parents(inside)
        idle = [a for a in factor.axes if a not in inside and a not in parents]
        if not idle:
            return factor
        first = dict.fromkeys(idle, 0)
        kept = self.tabulate(
            (axis for axis in factor.axes if axis not in idle),
            lambda at: factor.at({**at, **first}),
        )
        for at in self.assign(factor.axes):
            one, other = kept.at(at), factor.at(at)
            if one is not other and (isinstance(one, Variable) or isinstance(other, Variable)):
                slack = self.program.slack
                self.program.add_row([(1.0, one), (-1.0, other)], -slack, slack)
        return kept

    def find_factor(self, wanted: Nodes) -> Entries:
        """``Q[wanted]`` by Identify as far as it goes (Tian and Pearl 2002), then by types."""
        inside = self.graph.ancestors(wanted)
        factor: Entries | None = None
        while True:
            parts = self._factorize(inside, factor)
            home = next(part for part in parts if wanted <= part)
            found = parts[home]
            if home == wanted:
                return found
            above = self.graph.induced(home).ancestors(wanted)
            if above == home:
                return self._aim_at_types(wanted, home, found)
            kept = [axis for axis in found.axes if axis in above or axis not in home]
            inside, factor = above, self._drop_idle(self.sum_to(found, kept), above)

    # Response types

    def _make_types(
        self, part: Nodes, factor: Entries, most: int = MAX_OTHERS
    ) -> TypeBlock | None:
        """Types of a c-component that show its c-factor at every value of its outside parents.

        None where they are too many. Types of variables without a common hidden cause are
        independent; that is linear where one has no causes, as its type is its level.
        """
        key = part, tuple(factor.cells.values())
        if key in self._blocks:
            return self._blocks[key]
        names = self.sort(part)
        parents = {v: self.sort(self.graph.links[v].parents) for v in names}
        block = TypeBlock(names, self.levels, parents)
        if not block.fits(most):
            self._blocks[key] = None
            return None
        self._blocks[key] = block
        program, outside = self.program, [a for a in factor.axes if a not in part]
        program.blocks.append(block)
        for held in self.assign(outside):
            cells = [program.fix(factor.at({**held, **drawn})) for drawn in self.assign(names)]
            block.worlds.append(World(held, names, cells))
        for v in names if block.count_types(*names) <= MAX_LISTED else ():
            far = tuple(u for u in names if u != v and u not in self.graph.links[v].siblings)
            sizes = block.count_types(v), block.count_types(*far)
            if not far or prod(sizes) > MAX_JOINT:
                continue
            own: list[Entry] = [program.add_variable() for _ in range(sizes[0])]
            other: list[Entry] = [program.add_variable() for _ in range(sizes[1])]
            if not parents[v]:
                share = self.sum_to(factor, (v, *outside))
                first = dict.fromkeys(outside, 0)
                own = [share.at({**first, v: level}) for level in range(self.levels[v])]
            for side in (own, other):
                program.add_row([(1.0, e) for e in side], 1 - program.slack, 1 + program.slack)
            both = [program.fix(program.multiply(a, b)) for a in own for b in other]
            block.joints.append(IndependentTypes((v, *far), both))
        return block

    def _aim_at_types(self, wanted: Nodes, home: Nodes, factor: Entries) -> Entries:
        """``Q[wanted]`` under the types of the c-component around it, its other members set."""
        block, names = self._make_types(home, factor), self.sort(wanted)
        outside = self.sort(self.graph.parents(wanted))
        found = self.tabulate((*outside, *names), lambda _: self.program.add_variable())
        rest = dict.fromkeys(sorted(home - wanted), 0)
        for held in self.assign(outside):
            cells = [
                self.program.fix(found.at({**held, **drawn})) for drawn in self.assign(names)
            ]
            self.program.add_row([(1.0, cell) for cell in cells], 1.0, 1.0)
            if block is not None:
                block.worlds.append(World({**rest, **held}, names, cells))
        return found


class Question:
    """``E[Y | do(x), c]`` as an entry, for every row of a table.

    ``sum over w of P(w | c) x (what the rest says)`` with w of non-descendants of the arms: a
    kernel, and nothing is divided by a product. Where a c-component is half in w, one ratio.
    """

    def __init__(self, compiler: Compiler, query: EffectQuery) -> None:
        graph, self.compiler = compiler.graph, compiler
        self.outcome = query.outcomes[0]
        self.treatments = frozenset(query.treatments) & graph.nodes
        self.context = compiler.sort(query.context)
        targets = {self.outcome, *self.context}
        cut = graph.without_edges_into(self.treatments)
        self.inside = cut.ancestors(targets) - self.treatments
        parts = graph.induced(self.inside).components()
        # What is as it is, whatever is done. An outcome that causes a context is in it.
        untouched = frozenset(
            v for v in self.inside if not graph.ancestors({v}) & self.treatments
        )
        tried = (
            (untouched, graph.ancestors(self.context)) if untouched >= set(self.context) else ()
        )
        early = next(
            (some for some in tried if all(part <= some or not part & some for part in parts)),
            None,
        )
        self.early: tuple[str, ...] | None = None
        if early is None:
            named = self.treatments | set(self.context)
            wanted = [p for p in parts if not (p | graph.parents(p)) <= named]
        else:
            wanted = [part for part in parts if not part <= early]
        self.factors = [compiler.find_factor(part) for part in wanted]
        if early is not None:
            read = {self.outcome}.union(*(factor.axes for factor in self.factors))
            self.early = compiler.sort((early & read) - set(self.context))
            if self.early and compiler.whole.selection:
                compiler.margin((*self.context, *self.early))
                compiler.margin(self.context)

    def ask(self, at: At) -> Entry:
        """The effect in one row, written into the compiler's program."""
        program = self.compiler.program
        fixed = {a: at[a] for a in (*self.treatments, *self.context)}
        if self.early is None:
            won, lost = (
                self._eliminate(self.factors, {**fixed, self.outcome: y})
                for y in (SUCCESS, 1 - SUCCESS)
            )
            return program.divide([(won, program.total((won, lost)))])
        factors = list(self.factors)
        if self.early:
            factors.append(self._find_early(fixed))
        return self._eliminate(factors, {**fixed, self.outcome: SUCCESS})

    def _find_early(self, fixed: At) -> Entries:
        """``P(w | c)`` at the row's context."""
        compiler, early = self.compiler, tuple(self.early or ())
        if compiler.whole.selection is None:
            kernel = compiler.read_conditional(early, self.context)
            return compiler.tabulate(early, lambda w: kernel.at({**fixed, **w}))
        top, bottom = compiler.margin((*self.context, *early)), compiler.margin(self.context)
        low, high = compiler.bound_kernel(early, self.context)

        def make(w: At) -> Entry:
            place = tuple({**fixed, **w}[name] for name in (*self.context, *early))
            ends = float(low[place]), float(high[place])
            pair = top.at({**fixed, **w}), bottom.at(fixed)
            return compiler.program.divide([pair], ends, cell=(early, place))

        found = compiler.tabulate(early, make)
        compiler.sum_to_one(found, early, ())
        return found

    def _eliminate(self, factors: Sequence[Entries], fixed: At) -> Entry:
        """Sum a product over all variables that are not fixed, the last in causal order first."""
        compiler = self.compiler
        tables = list[Entries]()
        for factor in factors:
            axes = [axis for axis in factor.axes if axis not in fixed]
            cells = {
                tuple(at.values()): factor.at({**fixed, **at}) for at in compiler.assign(axes)
            }
            tables.append(Entries(tuple(axes), cells))
        for v in reversed(compiler.sort(self.inside - fixed.keys())):
            mine = [table for table in tables if v in table.axes]
            if mine:
                names = compiler.sort(a for table in mine for a in table.axes)
                joint = compiler.multiply(mine, names)
                kept = compiler.sum_to(joint, (a for a in names if a != v))
                tables = [*(table for table in tables if v not in table.axes), kept]
        return compiler.multiply(tables, ()).cells[()]
