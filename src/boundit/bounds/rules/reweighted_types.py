r"""Where both biases meet and an instrument helps: response types on a reweighted log.

Something unseen moves arm and reward, and rows were selected. In the *population* a program
over response types would do (``find_response_programs``): its weights reproduce
``P(e | z, f)`` at every value ``z`` of the instruments, where ``f`` is what has one value in
the whole program. The population is the log reweighted by an unknown ``r`` (``Populations``),
so that law is unknown too, but not free. With ``W_z(e)`` the types that run into the cell ``e``
when ``z`` comes in,

.. math:: P^*(e, z \mid f) = P^*(z \mid f)\; W_z(e)

is linear in ``r`` on the left and linear in the types on the right once ``P*(z | f)`` is known;
between two ends of it, it is two inequalities (``reweighted_type_program``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from boundit.bounds.lp.branch_and_bound import MOST_BOXES
from boundit.bounds.lp.response_types import ResponseTypes
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.claims import write_population_law, write_reweighting
from boundit.bounds.rules.find_response_programs import SearchBudget, find_response_programs
from boundit.bounds.rules.observed_program import find_observed_program
from boundit.bounds.rules.response_program import ProgramLayout, ResponseProgram
from boundit.bounds.rules.reweighted_type_program import PopulationProgram, ReweightedProgram
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import NamedArray
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.language.simplify import simplify
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question, lighten
from boundit.estimand.recovery.solver import Solver
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.message import Note
from boundit.terms.names import Nodes, join_names, sort_names

MOST_PROGRAMS = 2
"""How many of these programs are tried, those across the most instruments first."""
MOST_COLUMNS = 2_000
"""How many response types these programs may have; with more the rule is left out."""
MOST_SEARCHES = 400
"""How many ends are searched for; with more the rule is left out."""
WORK = 20_000
"""Where types only limit the reweighting: how many all boxes of all ends may have together."""
FEWEST_BOXES = 4
"""Where fewer boxes than this are left for an end, such a rule is left out."""


@dataclass(frozen=True)
class ReweightedTypes(BoundRule):
    """A program of the population, and the reweighting that leads there.

    ``given`` is ``f``: what the law of the variables with types is given, besides ``varied``.
    ``chances`` is ``P*(z | f)`` where log and tables give it.
    """

    query: EffectQuery
    program: ResponseProgram
    given: Nodes
    reweighting: Reweighting
    chances: Expression | None

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The terms of the reweighting, and the formula of the instruments' law if any."""
        own = self.reweighting.formulas
        return own if self.chances is None else (*own, self.chances)

    @property
    def range_variables(self) -> Nodes:
        """The variables of the reweighting besides the query's: all their levels must be known."""
        return self.reweighting.variables - {self.outcome, *self.axes}

    @property
    def n_unknown(self) -> int:
        """One: the law of the response types."""
        return 1

    @property
    def limits_reweighting(self) -> bool:
        """Whether arms are scenarios of the program: types then only limit the reweighting.

        Another rule reads the effect off the reweighted log as it is.
        """
        return frozenset(self.program.set_by_hand) <= frozenset(self.program.varied)

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """By what the log is reweighted to undo selection, and the facts that limit it.

        It is one entry.
        """
        return (self.reweighting,)

    def populate(self, numbers: Numbers) -> PopulationProgram:
        """Make the set of populations that the rule's programs go over, with their numbers.

        They are those that the log, facts and tables leave possible.
        """
        return PopulationProgram(self.reweighting, self.given, self.chances, numbers)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        inside, law = self.program.inside, self.reweighting
        varied, conditions = self.program.varied, self.given.union(self.program.varied)
        across = f" across {join_names(varied)}" if varied else ""
        every = f" at every {join_names(varied)}" if varied else ""
        claim = Sentence.of(
            self.query.formula,
            " lies between the least and the greatest ",
            self.program.asked.formula,
            " that agree with ",
            write_population_law(sort_names(inside), conditions),
            every,
            write_reweighting([law.steering], law.statement),
        )
        steps = (*self.program.steps, *law.steps)
        return RuleRecord(
            f"program over {join_names(inside)}{across}, reweighted", claim, steps
        )

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context by linear programs over response types and populations."""
        spec, populated = self.program, self.populate(numbers)
        layout = ProgramLayout(spec, numbers.levels, most=MOST_COLUMNS)
        own = spec.fixed + spec.set_by_hand
        shape = tuple(layout.count_levels(own).values())
        ends, notes = (np.zeros(shape), np.ones(shape)), dict[Note, None]()
        proofs = dict[tuple[Place, bool], WorstPopulation | None]()
        scenarios = list(range(len(layout.outer)))
        many = populated.has_too_many_cells or 2 * ends[0].size > MOST_SEARCHES
        for arm in layout.arms:
            runs = None if many else layout.list_types([arm], scenarios, MOST_COLUMNS)
            most = self._count_boxes(runs, 2 * ends[0].size)
            if runs is None or not most:
                notes |= self._note_left_out()
                break
            for fixed in layout.fixed:
                program = ReweightedProgram(
                    populated,
                    layout,
                    runs,
                    fixed,
                    budget,
                    most=most,
                    closely=self.limits_reweighting,
                )
                place = tuple((fixed | arm)[axis] for axis in own)
                for upper, (value, attained) in enumerate(program.find_ends()):
                    ends[upper][place] = value
                    proofs[place, bool(upper)] = attained
                if program.late:
                    notes[UNFINISHED] = None
        full = [numbers.levels[axis] for axis in self.axes]
        low, high = (
            np.broadcast_to(NamedArray(own, end).align(self.axes), full) for end in ends
        )

        def why(place: Place, upper: bool) -> WorstPopulation | None:  # noqa: FBT001
            at = dict(zip(self.axes, place, strict=True))
            return proofs.get((tuple(at[axis] for axis in own), upper))

        return Ends(low, high, proof=why, notes=tuple(notes))

    def _count_boxes(self, runs: ResponseTypes | None, n_ends: int) -> int:
        """Count the boxes to search for each of so many ends; 0 where it is not worth the time.

        ``runs`` are the response types; types that only limit the reweighting must be few.
        """
        if runs is None or not self.limits_reweighting:
            return MOST_BOXES
        most = min(WORK // (n_ends * runs.n_types), 2 * MOST_BOXES)
        return most if most >= FEWEST_BOXES else 0

    def _note_left_out(self) -> dict[Note, None]:
        """Note that programs were left out, unless others say nearly as much."""
        return {} if self.limits_reweighting else {LEFT_OUT: None}


def find_reweighted_types(
    graph: CausalGraph,
    query: EffectQuery,
    facts: SelectionFacts,
    tables: Sequence[Nodes],
    *,
    budget: TimeBudget = FOR_EVER,
) -> list[ReweightedTypes]:
    """List the rules that bound a confounded effect by response types on the reweighted log.

    Response types say how a variable answers to its causes; the log is reweighted to undo
    selection. With an instrument they say more than natural bounds; where an effect is seen as
    it is, they limit the reweighting.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; X <-> Y; Y -> [S]")
    >>> facts = SelectionFacts((0.5, 0.5))
    >>> for found in find_reweighted_types(graph, parse_query("Y | do(X)"), facts, ()):
    ...     print(found.program.inside, found.program.varied)
    ('X', 'Y') ('Z',)
    """
    if graph.selection is None or budget.is_over():
        return []
    found = sorted(_find_programs(graph, query, budget), key=_rank_program)[:MOST_PROGRAMS]
    everyone = graph.induced(graph.observed)
    y, x, c = map(frozenset, (query.outcomes, query.treatments, query.context))
    light, _ = lighten(everyone, Question(y, x, c))
    if program := find_observed_program(everyone, light):
        found.append((program, light.context))
    return [
        _make_types_rule(graph, query, program, given, facts, tables)
        for program, given in found
        # An instrument limits the reweighting even where nothing else is known of it.
        if (facts or tables or program.varied) and not budget.is_over()
    ]


def _find_programs(
    graph: CausalGraph, query: EffectQuery, budget: TimeBudget
) -> Iterator[tuple[ResponseProgram, Nodes]]:
    """Yield response-type programs on the graph without selection, with what they are given.

    Only those whose law, which types must reproduce, is one term ``P(variables with types |
    given)``.
    """
    everyone = graph.induced(graph.observed)
    y, x, c = map(frozenset, (query.outcomes, query.treatments, query.context))
    light, _ = lighten(everyone, Question(y, x, c))
    solver, effort = Solver(everyone), SearchBudget(everyone)
    for program in find_response_programs(everyone, light, solver, effort, budget=budget):
        law, inside = program.law, frozenset(program.inside)
        plain = not program.weights and not program.is_natural
        if plain and isinstance(law, P) and law.of == inside:
            yield program, law.given.difference(program.varied)


def _rank_program(found: tuple[ResponseProgram, Nodes]) -> tuple[int, int]:
    """Rank a response-type program: most instruments first, then fewest variables with types."""
    program, _ = found
    return -len(program.varied), len(program.inside)


def _make_types_rule(
    graph: CausalGraph,
    query: EffectQuery,
    program: ResponseProgram,
    given: Nodes,
    facts: SelectionFacts,
    tables: Sequence[Nodes],
) -> ReweightedTypes:
    """Make the rule of a response-type program whose law is that of the reweighted log."""
    members, varied = frozenset(program.inside), frozenset(program.varied)
    steering = find_boundary(graph, str(graph.selection), given=graph.observed)
    law = Reweighting.from_graph(graph, members | varied | given | steering, facts, tables)
    known = (
        Solver(graph, tables).solve(Question(varied, frozenset(), given)) if varied else None
    )
    chances = simplify(known.expression) if known and known.expression else None
    return ReweightedTypes(query, program, given, law, chances)
