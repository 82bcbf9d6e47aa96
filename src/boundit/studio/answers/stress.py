"""What would overturn the answer, the most harmful first: what ``boundit stress`` says."""

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.decisions.stress.report import TriedEdges
from boundit.decisions.stress.standing import measure_widths
from boundit.decisions.stress.stress import stress_request
from boundit.studio.answers.bound import CountKeeper
from boundit.studio.ask import AskedProject, write_for_page
from boundit.studio.project import DrawnEdge


class OverturnItem(Struct, frozen=True):
    """A missing edge, and what becomes of the answer if it is there."""

    sentence: str
    edge: DrawnEdge
    survives: bool
    width_before: float
    width_after: float | None
    regret: float | None
    fallen: int
    lost: int
    test: str | None
    refusal: str


class StressAnswer(Struct, frozen=True):
    """What would overturn the answer, the most harmful first."""

    sentence: str
    items: tuple[OverturnItem, ...]
    apart: tuple[str, ...]
    not_varied: tuple[str, ...]
    caveats: tuple[str, ...]


def answer_stress(asked: AskedProject, _: CountKeeper, progress: Progress) -> StressAnswer:
    """Add every edge that the drawing leaves out, one at a time.

    A worker finds it in ``ANSWERS`` for the kind "stress".
    """
    request = asked.make_request()
    found = stress_request(
        asked.graph,
        request,
        rule="minimax-regret",
        optimism=None,
        level=0.05,
        progress=progress,
        read_compared=lambda _: None,
    )
    before, _widest = measure_widths(found.table)
    return StressAnswer(
        found.summary,
        tuple(_describe(each, before) for each in found.tried),
        tuple(f"{each.edge}: {each.reason}" for each in found.apart),
        found.not_varied,
        tuple(map(write_for_page, found.notes)),
    )


def _describe(each: TriedEdges, before: float) -> OverturnItem:
    """Describe what one missing edge would do."""
    (edge,) = each.edges
    if each.refusal:
        said = f"If {each.words}: {write_for_page(each.refusal)}"
    elif each.rescues:
        said = f"If {each.words}, the log does not refute the graph."
    elif each.fallen:
        n = len(each.fallen)
        said = f"If {each.words}, the choice falls in {n} context{'' if n == 1 else 's'}."
    elif each.widened:
        said = f"If {each.words}, the intervals grow and the choice stays."
    else:
        said = f"If {each.words}, nothing changes."
    return OverturnItem(
        said,
        DrawnEdge(tail=edge.one, head=edge.other, kind=edge.kind),
        each.survives,
        before,
        each.mean_width,
        each.regret,
        len(each.fallen),
        len(each.lost),
        None if each.test is None else each.test.mark,
        write_for_page(each.refusal),
    )
