r"""Programs for effects that are seen as they are: treatments as instruments of mediators.

Where actions may be read as conditions, ``P(y | do(x), c)`` is ``P(y | x, c)`` of the
population, and needs no response types. But something unseen may move a mediator ``m`` and the
reward: then the treatment is an instrument for ``m``, and not every law ``P(m, y | x, c)`` has
types that reproduce it at every ``x`` (Pearl 1995). Where the population is known up to a
reweighting of the log, this says which reweightings can be.
"""

from boundit.bounds.rules.conditioned_graph import ConditionedGraph, condition_graph
from boundit.bounds.rules.find_response_programs import MOST_BETWEEN
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.estimand.language.expression import P
from boundit.estimand.recovery.question import Question, may_observe_treatments
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.names import join_names, sort_names

MOST_ANSWERS = 8
"""How many answers a type may consist of, with two levels each: 256 types at most."""


def find_observed_program(graph: CausalGraph, asked: Question) -> ResponseProgram | None:
    """Find the program of an effect that is seen as it is, on the graph of everyone.

    Types are those of the reward and of all that treatments move on the way to it; every value
    of the treatments is a scenario. None where the effect is not seen as it is, or where types
    would be too many, or say nothing, since no treatment is an instrument. The do-calculus must
    have dropped what it can of the question.

    >>> from boundit.graph.text import parse
    >>> asked = Question(frozenset("Y"), frozenset("X"))
    >>> found = find_observed_program(parse("X -> M -> Y; M <-> Y"), asked)
    >>> found.inside, found.arguments, found.varied
    (('M', 'Y'), (('X',), ('M',)), ('X',))
    """
    if not asked.treatments or not may_observe_treatments(graph, asked):
        return None
    moved = graph.descendants(asked.treatments) & graph.ancestors(asked.outcomes)
    between = moved - asked.variables
    if not between or len(between) > MOST_BETWEEN:
        return None
    inside, varied = between | asked.outcomes, asked.treatments
    left = condition_graph(
        graph, inside=inside, known=asked.context, varied=varied, done=frozenset()
    )
    if left is None or not _has_instrument(left, asked):
        return None
    order = tuple(left.graph.order)
    arguments = [sort_names(left.graph.parents(v) | left.influences[v]) for v in order]
    if sum(2 ** len(each) for each in arguments) > MOST_ANSWERS:
        return None
    return ResponseProgram(
        asked,
        order,
        tuple(map(tuple, arguments)),
        tuple(sort_names(varied)),
        P(inside, varied | asked.context),
        inside,
        (),
        (),
        (_write_step(asked, order),),
    )


def _has_instrument(left: ConditionedGraph, asked: Question) -> bool:
    """Tell whether a treatment moves the reward only through something confounded with it.

    ``left`` is the graph of the variables with types.
    """
    (reward,) = asked.outcomes
    joined = next(part for part in left.graph.components() if reward in part)
    return len(joined) > 1 and bool(asked.treatments - left.influences[reward])


def _write_step(asked: Question, inside: tuple[str, ...]) -> StepRecord:
    """Write the proof step that treatments are instruments and limit what the law can be."""
    return StepRecord(
        Sentence.of(
            "Rule 2: ",
            asked.formula,
            f" is seen as it is; response types of {join_names(inside)} must reproduce their "
            f"law at every {join_names(asked.treatments)}",
        )
    )
