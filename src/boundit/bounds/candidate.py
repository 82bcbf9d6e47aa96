"""Rules made ready for counts: what each reads, and how it comes to its ends."""

from collections.abc import Callable
from dataclasses import dataclass

from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.shared_unknown import SharedUnknown
from boundit.bounds.contrasts.type_differences import SharedTypes
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.rules.chain import Chain, bracket, seen_cells
from boundit.bounds.rules.chain import rule as chain_rule
from boundit.bounds.rules.factorization import Factorization
from boundit.bounds.rules.natural import NaturalReweighted, natural_ends
from boundit.bounds.rules.nested_chain import NestedChain, staged_ends
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.bounds.rules.reweighted_chain import ReweightedChain, reweighted
from boundit.bounds.rules.reweighted_chain import rule as reweighted_rule
from boundit.bounds.rules.reweighted_types import TypesReweighted, types_ends
from boundit.bounds.rules.substitution import Substitution
from boundit.bounds.time_budget import TimeBudget
from boundit.counts.evaluate import Evaluator
from boundit.estimand.language.expression import Expression, find_variables
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord
from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class Candidate:
    """One rule applied to one question, ready to be tried on counts.

    ``unknown`` counts variables whose law nothing is known of. ``joint`` tells which arms share
    an unknown. ``reweightings`` are what it supposes of selection.
    """

    rule: RuleRecord
    formulas: tuple[Expression, ...]
    variables: Nodes
    ends: Callable[[Numbers], Ends]
    cells: Callable[[Evaluator, tuple[int, ...]], list[tuple[dict[str, int], float]]]
    unknown: int = 0
    extremes: Nodes = frozenset()
    joint: SharedUnknown | None = None
    reweightings: tuple[Reweighting, ...] = ()

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels it reads."""
        return self.variables.union(*map(find_variables, self.formulas))


def from_chain(chain: Chain, graph: CausalGraph, query: EffectQuery) -> Candidate:
    """Make a candidate of a chain."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    return Candidate(
        chain_rule(chain, query),
        chain.formulas,
        frozenset(chain.variables),
        lambda numbers: bracket(chain, numbers, outcome=outcome, axes=axes),
        lambda evaluator, place: seen_cells(chain, evaluator, outcome, axes, place),
        sum(link.weights is None for link in chain.links),
        frozenset(chain.variables) if not any(k.weights for k in chain.links) else frozenset(),
        SharedChain.from_graph(graph, query, chain),
    )


def from_reweighted(
    chain: ReweightedChain, graph: CausalGraph, query: EffectQuery, clock: TimeBudget
) -> Candidate:
    """Make a candidate of a chain in which part of the log is reweighted."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    steered = (block.reweighting.variables for block in chain.blocks)
    return Candidate(
        reweighted_rule(chain, query),
        chain.formulas,
        frozenset(chain.variables).union(*steered) - {outcome, *axes},
        lambda numbers: reweighted(chain, numbers, outcome=outcome, axes=axes, budget=clock),
        _no_cells,
        chain.n_open,
        joint=SharedChain.from_graph(graph, query, chain),
        reweightings=tuple(block.reweighting for block in chain.blocks),
    )


def from_stage(stage: NestedChain, query: EffectQuery, clock: TimeBudget) -> Candidate:
    """Make a candidate of a chain that ends in a program, or in a chain of its own."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    links = stage.all_links
    known = any(link.weights for link in links) or isinstance(stage.core, ResponseProgram)
    variables = frozenset(link.variable for link in links)
    if isinstance(stage.core, ResponseProgram):
        variables |= frozenset(stage.core.inside + stage.core.varied) - {outcome}
    return Candidate(
        stage.rule(query),
        stage.formulas,
        variables,
        lambda numbers: staged_ends(stage, numbers, outcome=outcome, axes=axes, budget=clock),
        _no_cells,
        stage.n_unknown,
        frozenset() if known else frozenset(link.variable for link in links),
        _shared(stage),
    )


def _shared(stage: NestedChain) -> SharedTypes | None:
    """The law of types that arms share; natural bounds say no more of two arms than of each."""
    core = stage.inner
    if stage.links or not isinstance(core, ResponseProgram) or core.is_natural:
        return None
    return SharedTypes(core)


def from_natural(
    natural: NaturalReweighted, query: EffectQuery, clock: TimeBudget
) -> Candidate:
    """Make a candidate of natural bounds on a reweighted log."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    return Candidate(
        natural.rule(query),
        natural.formulas,
        natural.block.reweighting.variables - {outcome, *axes},
        lambda numbers: natural_ends(
            natural, numbers, outcome=outcome, axes=axes, budget=clock
        ),
        _no_cells,
        len(natural.chosen),
        reweightings=(natural.block.reweighting,),
    )


def from_types(found: TypesReweighted, query: EffectQuery, clock: TimeBudget) -> Candidate:
    """Make a candidate of response types on a reweighted log."""
    axes = query.treatments + query.context
    return Candidate(
        found.rule(query),
        found.formulas,
        found.variables - {*query.outcomes, *axes},
        lambda numbers: types_ends(found, numbers, axes=axes, budget=clock),
        _no_cells,
        1,
        joint=SharedTypes(found),
        reweightings=(found.reweighting,),
    )


def from_sum(sums: Factorization) -> Candidate:
    """Make a candidate of Theorem 3's sum."""
    return Candidate(
        sums.rule(), sums.formulas, frozenset(sums.summed), sums.ends, _no_cells, sums.n_lost
    )


def from_substitution(found: Substitution) -> Candidate:
    """Make a candidate of a substitute intervention."""
    acted = found.substitute.variables
    return Candidate(found.rule(), found.formulas, acted, found.ends, _no_cells, len(acted))


def _no_cells(_: Evaluator, __: tuple[int, ...]) -> list[tuple[dict[str, int], float]]:
    """A sum over many cells has no short list of numbers."""
    return []
