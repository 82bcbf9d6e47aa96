"""What can be known exactly, and by which steps: what ``boundit identify`` says."""

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.estimand.derivation import Step
from boundit.estimand.identify import identify
from boundit.studio.answers.bound import CountKeeper, ReasonStep
from boundit.studio.ask import AskedProject
from boundit.studio.claims import LitParts, light_walk, make_lighter
from boundit.studio.drawing import make_draft


class IdentifyAnswer(Struct, frozen=True):
    """Whether the log determines the effect, by which formula, and why."""

    found: bool
    sentence: str
    formula: str | None
    latex: str | None
    steps: tuple[ReasonStep, ...]


def answer_identify(asked: AskedProject, _: CountKeeper, progress: Progress) -> IdentifyAnswer:
    """Say whether the log determines the effect; no row is read.

    A worker finds it in ``ANSWERS`` for the kind "identify".
    """
    progress("look for a formula", 0, 1)
    graph, query = asked.graph, asked.query
    external = [frozenset(table.columns) & graph.observed for table in asked.open_external()]
    found = identify(graph, query, external=external)
    formula = None if found.expression is None else str(found)
    if formula is None:
        sentence = f"The log does not determine {query}: {found}. Bounds say what it does tell."
    else:
        sentence = f"The log determines {query} exactly, but for chance."
    draft, light = make_draft(asked.project.graph), make_lighter(asked.project.graph, graph)

    def light_step(step: Step) -> LitParts:
        walk = step.fact.walk if step.fact else None
        return light_walk(draft, walk) if walk else light(step.record)

    return IdentifyAnswer(
        bool(found),
        sentence,
        formula,
        None if formula is None else found.latex(),
        tuple(ReasonStep(str(step), light_step(step)) for step in found.steps),
    )
