"""Rules made ready for counts: what each reads, and how it comes to its ends."""

from collections.abc import Callable
from dataclasses import dataclass

from boundit.bounds.backwards import reweighted
from boundit.bounds.chain import Chain
from boundit.bounds.chain import rule as chain_rule
from boundit.bounds.confounded import Confounded
from boundit.bounds.factorization import Factorization
from boundit.bounds.joint import Joint, JointChain
from boundit.bounds.natural_reweighted import NaturalReweighted, natural_ends
from boundit.bounds.population import Reweighting
from boundit.bounds.reweighted_chain import ReweightedChain
from boundit.bounds.reweighted_chain import rule as reweighted_rule
from boundit.bounds.sequential import Ends, Numbers, bracket, seen_cells
from boundit.bounds.staged import Staged
from boundit.bounds.staged_ends import staged_ends
from boundit.bounds.substitution import Substitution
from boundit.bounds.type_contrast import JointTypes
from boundit.bounds.type_program import Clock
from boundit.bounds.types_and_masses import types_ends
from boundit.bounds.types_reweighted import TypesReweighted
from boundit.counts.evaluate import Evaluator
from boundit.estimand.expression import Expression, all_variables
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Rule
from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class Candidate:
    """One rule applied to one question, ready to be tried on counts.

    ``unknown`` counts variables whose law nothing is known of. ``joint`` tells which arms share
    an unknown. ``reweightings`` are what it supposes of selection.
    """

    rule: Rule
    formulas: tuple[Expression, ...]
    variables: Nodes
    ends: Callable[[Numbers], Ends]
    cells: Callable[[Evaluator, tuple[int, ...]], list[tuple[dict[str, int], float]]]
    unknown: int = 0
    extremes: Nodes = frozenset()
    joint: Joint | None = None
    reweightings: tuple[Reweighting, ...] = ()

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels it reads."""
        return self.variables.union(*map(all_variables, self.formulas))


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
        JointChain.of(graph, query, chain),
    )


def from_reweighted(
    chain: ReweightedChain, graph: CausalGraph, query: EffectQuery, clock: Clock
) -> Candidate:
    """Make a candidate of a chain in which part of the log is reweighted."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    steered = (block.reweighting.variables for block in chain.blocks)
    return Candidate(
        reweighted_rule(chain, query),
        chain.formulas,
        frozenset(chain.variables).union(*steered) - {outcome, *axes},
        lambda numbers: reweighted(
            chain, numbers, outcome=outcome, axes=axes, deadline=clock.deadline()
        ),
        _no_cells,
        chain.n_open,
        joint=JointChain.of(graph, query, chain),
        reweightings=tuple(block.reweighting for block in chain.blocks),
    )


def from_stage(stage: Staged, query: EffectQuery, clock: Clock) -> Candidate:
    """Make a candidate of a chain that ends in a program, or in a chain of its own."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    links = stage.all_links
    known = any(link.weights for link in links) or isinstance(stage.core, Confounded)
    variables = frozenset(link.variable for link in links)
    if isinstance(stage.core, Confounded):
        variables |= frozenset(stage.core.inside + stage.core.varied) - {outcome}
    return Candidate(
        stage.rule(query),
        stage.formulas,
        variables,
        lambda numbers: staged_ends(stage, numbers, outcome=outcome, axes=axes, clock=clock),
        _no_cells,
        stage.n_unknown,
        frozenset() if known else frozenset(link.variable for link in links),
        _shared(stage, clock),
    )


def _shared(stage: Staged, clock: Clock) -> JointTypes | None:
    """The law of types that arms share; natural bounds say no more of two arms than of each."""
    core = stage.inner
    if stage.links or not isinstance(core, Confounded) or core.is_natural:
        return None
    return JointTypes(core, clock)


def from_natural(natural: NaturalReweighted, query: EffectQuery, clock: Clock) -> Candidate:
    """Make a candidate of natural bounds on a reweighted log."""
    (outcome,) = query.outcomes
    axes = query.treatments + query.context
    return Candidate(
        natural.rule(query),
        natural.formulas,
        natural.block.reweighting.variables - {outcome, *axes},
        lambda numbers: natural_ends(
            natural, numbers, outcome=outcome, axes=axes, deadline=clock.deadline()
        ),
        _no_cells,
        len(natural.chosen),
        reweightings=(natural.block.reweighting,),
    )


def from_types(found: TypesReweighted, query: EffectQuery, clock: Clock) -> Candidate:
    """Make a candidate of response types on a reweighted log."""
    axes = query.treatments + query.context
    return Candidate(
        found.rule(query),
        found.formulas,
        found.variables - {*query.outcomes, *axes},
        lambda numbers: types_ends(found, numbers, axes=axes, clock=clock),
        _no_cells,
        1,
        joint=JointTypes(found, clock),
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
