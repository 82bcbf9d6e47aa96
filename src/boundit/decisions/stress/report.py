"""What missing edges would do to the bounds, the choice and what is told surely."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from boundit.bounds.candidates import unite_tables
from boundit.core.codec import encode
from boundit.core.errors import shorten
from boundit.core.frames import FrameKind
from boundit.core.message import Note
from boundit.core.public_names import find_forwarded
from boundit.decisions.compare import Comparison
from boundit.decisions.stress.edge_tests import EdgeTest
from boundit.decisions.stress.edges import ApartEdge, MissingEdge
from boundit.decisions.stress.standing import ContextStanding
from boundit.report.frame import make_frame
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable
from boundit.results.choice import ChoiceRule, write_promise
from boundit.results.text import align_columns, write_arm, write_levels

AS_IT_IS = "the graph as it is"
"""What the reasons of united bounds call the graph to which nothing was added."""
MOST_LINES = 20
"""How many edges the text of a report has lines for."""
TRIED_HEAD = (
    "edge",
    "verdict",
    "choice",
    "sure",
    "its regret",
    "mean width",
    "widest",
    "on the log",
)
"""What stands above the cells that ``write_tried_row`` writes."""
MOST_NAMED = 3
"""How many edges the summary names."""


@dataclass(frozen=True, slots=True)
class TriedEdges:
    """What the bounds become if an edge were missing from the graph.

    ``widened`` are the arms and contexts whose interval grows. ``fallen`` maps contexts whose
    choice falls to the arms that do best instead; several do equally well where nothing tells
    them apart. ``lost`` are contexts in which it is no longer sure which arm is best.
    ``regret`` is the worst-case regret of today's choice. ``comparison`` is that of two
    policies, where it was asked for, and ``unsettled`` says that its verdict falls. ``test`` is
    what ``check`` says of the two variables, where it tests that no edge joins them. With a
    ``refusal`` there are no bounds: it says why, as where the data refute the larger graph too.
    An edge ``rescues`` a graph that the log refutes if it does not refute the larger one; all
    its choices are then new and in ``fallen``, and ``regret`` is theirs.
    """

    edges: tuple[MissingEdge, ...]
    mean_width: float | None = None
    worst_width: float | None = None
    widened: tuple[Key, ...] = ()
    fallen: tuple[tuple[Context, tuple[Arm, ...]], ...] = ()
    lost: tuple[Context, ...] = ()
    regret: float | None = None
    test: EdgeTest | None = None
    refusal: Note = ""
    table: BoundTable | None = field(default=None, compare=False, repr=False)
    comparison: Comparison | None = field(default=None, compare=False, repr=False)
    unsettled: bool = False
    rescues: bool = False

    @property
    def name(self) -> str:
        """The edges as a graph would have them, as in ``X <-> Y``."""
        return "; ".join(map(str, self.edges))

    @property
    def words(self) -> str:
        """What it would mean that these edges were missing."""
        return " and ".join(edge.words for edge in self.edges)

    @property
    def survives(self) -> bool:
        """Whether the choice stays the same in every context."""
        return not self.fallen and not self.refusal

    @property
    def harm(self) -> tuple[float, ...]:
        """How much harm it does, the most first: to choices, to verdicts, then to widths."""
        if self.refusal or self.regret is None or self.mean_width is None:
            return (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        harm = (self.unsettled, len(self.fallen), len(self.lost), self.mean_width, self.regret)
        return (0.0, *(-float(each) for each in harm))

    def __repr__(self) -> str:
        told = str(self.refusal) or ("survives" if self.survives else "the choice falls")
        return f"<TriedEdges {self.name}: {told}>"

    def record(self) -> dict[str, object]:
        """Write what was found as an object for JSON, but for the table."""
        return {
            "edges": list(map(str, self.edges)),
            "words": self.words,
            "survives": self.survives,
            "rescues": self.rescues,
            "mean_width": self.mean_width,
            "worst_width": self.worst_width,
            "regret": self.regret,
            "fallen": [
                {"context": encode(where, Context), "chosen": encode(arms, tuple[Arm, ...])}
                for where, arms in self.fallen
            ],
            "lost": encode(self.lost, tuple[Context, ...]),
            "widened": encode(self.widened, tuple[Key, ...]),
            "test": None if self.test is None else encode(self.test),
            "refusal": str(self.refusal),
            **self._record_verdict(),
        }

    def _record_verdict(self) -> dict[str, object]:
        """Write what becomes of the verdict on two policies, where it was asked for."""
        if self.comparison is None:
            return {}
        ends = self.comparison.interval
        return {
            "verdict": self.comparison.verdict,
            "difference": [ends.lower, ends.upper],
            "unsettled": self.unsettled,
        }


@dataclass(frozen=True)
class StressReport:
    """What would overturn the bounds of one question, the most harmful edge first.

    ``table`` are the bounds of the graph as it is, and ``standing`` what they say to do;
    ``sure`` says how surely, under each graph by itself.
    ``tried`` are single edges. ``apart`` are edges that would change the question,
    ``unreached`` those that no time was left for; ``not_varied`` says what was not looked at.
    ``comparison`` is that of two policies under the graph as it is, where it was
    asked for. ``refutation`` says how the log refutes the graph as it is, empty where it does
    not; its bounds are then the whole range.
    """

    graph: str
    query: str
    rule: ChoiceRule
    sure: str
    table: BoundTable
    standing: tuple[ContextStanding, ...]
    tried: tuple[TriedEdges, ...]
    apart: tuple[ApartEdge, ...] = ()
    unreached: tuple[MissingEdge, ...] = ()
    not_varied: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    comparison: Comparison | None = None
    refutation: Note = ""

    @property
    def has_choice(self) -> bool:
        """Whether there is a choice to overturn: some context in which one arm does best."""
        return any(each.choice is not None for each in self.standing)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader should know of the tests and of edges that could not be tried."""
        return tuple(map(str, self.notes))

    @property
    def fallen(self) -> tuple[TriedEdges, ...]:
        """The single edges under which the choice falls, the most harmful first."""
        return tuple(each for each in self.tried if each.fallen)

    @property
    def summary(self) -> str:
        """The answer in a sentence or two."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer, a sentence each; the first says whether the choice survives."""
        return tuple(_summarize(self))

    def unite(self) -> BoundTable:
        """Unite the bounds of the graph and of all single edges that were tried.

        The table holds, at the confidence of one, if no more than one of these edges is
        missing. A graph that the log refutes has no part in it.
        """
        own = {AS_IT_IS: self.table}
        grown = {f"with {t.name}": t.table for t in self.tried if t.table is not None}
        return unite_tables((grown or own) if self.refutation else own | grown)

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each edge that was tried, in the report's order."""
        return [
            {
                "edges": each.name,
                "words": each.words,
                "survives": each.survives,
                "fallen": len(each.fallen),
                "lost": len(each.lost),
                "regret": each.regret,
                "mean_width": each.mean_width,
                "worst_width": each.worst_width,
                "refusal": str(each.refusal),
            }
            for each in self.tried
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the report as an object for JSON, with the rows of the graph's own bounds."""
        return {
            "summary": self.summary,
            "refutation": str(self.refutation),
            "graph": self.graph,
            "query": self.query,
            "rule": self.rule,
            "confidence": self.table.confidence,
            "sure": self.sure,
            "standing": [encode(each) for each in self.standing],
            "tried": [each.record() for each in self.tried],
            "apart": [{"edge": str(a.edge), "reason": a.reason} for a in self.apart],
            "unreached": list(map(str, self.unreached)),
            "not_varied": list(self.not_varied),
            "caveats": list(self.caveats),
            "comparison": None if self.comparison is None else self.comparison.record(),
        }

    def __repr__(self) -> str:
        return f"<StressReport {shorten(self.summary, 200)}>"

    def _repr_html_(self) -> str:
        """Show what would overturn the answer in a notebook, the most harmful first."""
        shown: str = find_forwarded("make_stress_page")(self).write_snippet()
        return shown

    def __str__(self) -> str:
        return "\n".join(_write_lines(self))


def rank_by_harm(found: Sequence[TriedEdges]) -> tuple[TriedEdges, ...]:
    """Sort what was tried by harm, the most first; what could not be judged comes last."""
    return tuple(sorted(found, key=lambda each: (each.harm, each.name)))


def _summarize(report: StressReport) -> Iterator[str]:
    """Yield the sentences that sum a report up."""
    judged = [each for each in report.tried if not each.refusal]
    if report.comparison is not None:
        yield _summarize_verdict(report.comparison, judged)
    yield _summarize_choice(report, judged)
    if lost := sum(bool(each.lost) for each in judged):
        yield (
            f"Under {lost} it is no longer sure which mean is highest, in places where it was."
        )
    if told := sum(e.test is not None and e.test.status == "contradicted" for e in judged):
        yield f"The log itself contradicts the absence of {told}: look at these first."
    if report.unreached:
        yield f"No time was left for {_count_edges(len(report.unreached))}."


def _summarize_refutation(report: StressReport, judged: Sequence[TriedEdges]) -> str:
    """Say that and how the log refutes the graph as drawn, and which edges mend it."""
    mended = f"It does not if {_name(judged)}." if judged else "No single edge mends that."
    why = str(report.refutation).removeprefix("the data refute the graph: ")
    return f"The log refutes the graph as drawn: {why}. {mended}"


def _summarize_choice(report: StressReport, judged: Sequence[TriedEdges]) -> str:
    """Say how many single edges the choice survives, and which it does not."""
    edges, fallen = _count_edges(len(judged)), report.fallen
    if report.refutation:
        return _summarize_refutation(report, judged)
    if not judged:
        return "No single edge could be tried."
    if not report.has_choice:
        widest = max(judged, key=lambda each: each.mean_width or 0.0)
        n_widened = sum(bool(each.widened) for each in judged)
        return (
            "There is no choice to overturn: in no context is one arm nearest to the "
            "highest mean. Of "
            f"{edges}, {n_widened} would widen the bounds, most if {widest.words}."
        )
    if not fallen:
        return f"The choice survives every one of {edges} that could be tried."
    kept = len(judged) - len(fallen) or "none"
    return f"The choice survives {kept} of {edges}; it falls if {_name(fallen)}."


def _summarize_verdict(comparison: Comparison, judged: Sequence[TriedEdges]) -> str:
    """Say how many single edges the verdict on two policies survives, and which it does not."""
    answer, edges = comparison.summary, _count_edges(len(judged))
    if comparison.verdict == "inconclusive" or not judged:
        return answer
    fallen = [each for each in judged if each.unsettled]
    if not fallen:
        return f"{answer} The verdict survives every one of {edges} that could be tried."
    kept = len(judged) - len(fallen) or "none"
    return f"{answer} The verdict survives {kept} of {edges}; it falls if {_name(fallen)}."


def _name(fallen: Sequence[TriedEdges]) -> str:
    """Name the first edges under which something falls, and count the others."""
    named = "; or if ".join(each.words for each in fallen[:MOST_NAMED])
    rest = len(fallen) - MOST_NAMED
    return named + (f"; and under {rest} more" if rest > 0 else "")


def _count_edges(n: int) -> str:
    """Write a number of single edges in words."""
    return f"{n} single edge{'' if n == 1 else 's'}"


def _write_lines(report: StressReport) -> Iterator[str]:
    """Yield the text of a report, line by line."""
    yield from (report.summary, "")
    yield from _write_standing(report)
    if report.tried:
        yield from ("", "Single edges, the most harmful first:", _write_table(report.tried))
        if (rest := len(report.tried) - MOST_LINES) > 0:
            yield f"and {rest} more"
    if report.unreached:
        names = ", ".join(map(str, report.unreached[:MOST_LINES]))
        yield from ("", f"Not reached in time ({len(report.unreached)}): {names}")
    if report.apart:
        yield from ("", "Not tried, since they would change the question:")
    yield from (f"  {line}" for line in list_apart(report))
    yield from ("", "Not varied:", *(f"  {line}" for line in report.not_varied))


def _write_standing(report: StressReport) -> Iterator[str]:
    """Yield what the bounds of the graph as it is say to do."""
    table = report.table
    if report.refutation:
        yield "Of a graph that is refuted nothing follows: every arm may earn anything."
        return
    for each in report.standing[:MOST_LINES]:
        where, said = write_levels(table.context, each.context), describe_standing(table, each)
        yield f"{where}: {said}" if where else said
    yield report.sure


def describe_standing(table: BoundTable, standing: ContextStanding) -> str:
    """Say which arm to use in a context, whether that is sure, and what it may regret."""
    if standing.choice is None:
        return "several arms do equally well"
    regret = write_promise(standing.find_regret(standing.choice))
    sure = ", surely the highest mean" if standing.sure == standing.choice else ""
    return f"{write_arm(table.treatments, standing.choice)}{sure} (regret at most {regret})"


def list_apart(report: StressReport) -> Iterator[str]:
    """Yield each reason for which edges were not tried, behind a few of these edges."""
    reasons = dict[str, list[str]]()
    for each in report.apart:
        reasons.setdefault(each.reason, []).append(str(each.edge))
    for reason, edges in reasons.items():
        some = ", ".join(edges[:MOST_NAMED]) + (", ..." if len(edges) > MOST_NAMED else "")
        yield f"{some}: {reason}"


def _write_table(found: Sequence[TriedEdges]) -> str:
    """Write what was tried as a table of text, a line each."""
    rows = [write_tried_row(each) for each in found[:MOST_LINES]]
    columns = list(zip(*rows, strict=True))
    shown = [i for i, column in enumerate(columns) if any(column)]  # nobody asked for the rest
    return align_columns([TRIED_HEAD[i] for i in shown], [columns[i] for i in shown])


def write_tried_row(each: TriedEdges) -> tuple[str, ...]:
    """Write the line of what was tried, cell by cell, as ``TRIED_HEAD`` names them."""
    test = "-" if each.test is None else each.test.mark
    if each.regret is None or each.mean_width is None or each.worst_width is None:
        return each.name, "", str(each.refusal), "", "", "", "", test
    n = len(each.fallen)
    return (
        each.name,
        _write_verdict(each),
        "not refuted"
        if each.rescues
        else (f"falls in {n} context{'' if n == 1 else 's'}" if n else "survives"),
        "lost" if each.lost else "-",
        write_promise(each.regret),
        f"{each.mean_width:.3g}",
        f"{each.worst_width:.3g}",
        test,
    )


def _write_verdict(each: TriedEdges) -> str:
    """Write what two policies' comparison says if an edge is there, where it was asked for."""
    return "" if each.comparison is None else each.comparison.verdict
