"""What a stress test found: every missing edge with its consequences, as text, page and record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from boundit.bounds.candidates import unite_tables
from boundit.checks.report import Finding
from boundit.core.codec import encode
from boundit.core.errors import shorten
from boundit.core.frames import FrameKind
from boundit.core.message import Note
from boundit.decisions.compare import Comparison
from boundit.decisions.pages import make_page
from boundit.report.frame import make_frame
from boundit.report.page import Page
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice, write_promise
from boundit.results.text import align_columns, join_words, name_mean, write_arm, write_levels

if TYPE_CHECKING:
    from boundit.decisions.stress import MissingEdge

_MOST_NAMED = 3
_MOST_LINES = 30
_HEAD = ("edge", "meaning", "verdict", "choice", "max regret", "mean width", "data")
NOT_COVERED = (
    "two missing edges at once, reversed edges, and causes of three or more variables",
)


@dataclass(frozen=True, slots=True)
class StressedEdge:
    """A missing edge, and what is concluded after it is added.

    ``changed`` maps contexts in which another arm is chosen to the arms that are best then, and
    ``undecided`` are contexts whose best arm is not certain any more. ``regret`` is the maximum
    regret of the arms that were chosen without the edge. ``test`` is the finding of ``check``
    on the two variables. A ``refusal`` says why there is not any table.
    """

    edge: "MissingEdge"
    meaning: str
    table: BoundTable | None = field(default=None, compare=False, repr=False)
    changed: tuple[tuple[Context, tuple[Arm, ...]], ...] = ()
    undecided: tuple[Context, ...] = ()
    regret: float | None = None
    comparison: Comparison | None = field(default=None, compare=False, repr=False)
    verdict_changes: bool = False
    test: Finding | None = field(default=None, repr=False)
    refusal: Note = ""

    @property
    def mean_width(self) -> float | None:
        """The mean width of the bounds after the edge is added."""
        return None if self.table is None else measure_width(self.table)

    def rank(self) -> tuple[float | str, ...]:
        """The most harmful first: to the verdict, to choices, to certainty, then to widths."""
        if self.mean_width is None or self.regret is None:
            return (1, 0, 0, 0, 0.0, 0.0, str(self.edge))
        harm = (self.verdict_changes, len(self.changed), len(self.undecided), self.mean_width)
        return (0, *(-each for each in harm), -self.regret, str(self.edge))

    @property
    def conclusion(self) -> str:
        """What becomes of the choice, in a few words."""
        if self.refusal:
            return str(self.refusal)
        if self.changed:
            n = len(self.changed)
            return "changes" if n == 1 == len(self.list_contexts()) else f"changes in {n}"
        return "best arm uncertain" if self.undecided else "same"

    def list_contexts(self) -> tuple[Context, ...]:
        """The contexts of the question."""
        return () if self.table is None else tuple(self.table.contexts)

    @property
    def data(self) -> str:
        """What the data say of the edge, and how strong an association would have been found."""
        test = self.test
        if test is None or test.status == "untestable":
            return "untestable"
        if test.status == "contradicted":
            return "suggest the edge"
        if test.detectable in {None, inf}:
            return "consistent without it, no power"
        return f"consistent without it (V >= {test.detectable:.2g} would be found)"

    def record(self) -> dict[str, object]:
        """Write the edge as an object for JSON, but for its table."""
        found: dict[str, object] = {
            "edge": str(self.edge),
            "meaning": self.meaning,
            "mean_width": self.mean_width,
            "regret": self.regret,
            "changed": [
                {"context": encode(where, Context), "arms": encode(arms, tuple[Arm, ...])}
                for where, arms in self.changed
            ],
            "undecided": encode(self.undecided, tuple[Context, ...]),
            "data": self.data,
            "test": None if self.test is None else self.test.row(),
            "refusal": str(self.refusal),
        }
        if self.comparison is not None:
            ends = self.comparison.interval
            found["verdict"] = self.comparison.verdict
            found["difference"] = [ends.lower, ends.upper]
        return found


@dataclass(frozen=True)
class StressReport:
    """Conclusions after each missing edge is added, the most harmful edge first.

    ``table`` are the bounds of the graph itself and ``choice`` what is chosen by them.
    ``excluded`` are edges that would change the question, with the reason, and ``not_reached``
    those that no time was left for. ``comparison`` is that of the two policies. If the log
    refutes the graph, ``refutation`` says how, and ``choice`` is None.
    """

    graph: str
    query: str
    table: BoundTable
    choice: Choice | None
    edges: tuple[StressedEdge, ...]
    excluded: "tuple[tuple[MissingEdge, str], ...]" = ()
    not_reached: "tuple[MissingEdge, ...]" = ()
    notes: tuple[Note, ...] = ()
    comparison: Comparison | None = None
    refutation: Note = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is concluded, a sentence each, the first about the choice."""
        return tuple(_summarize(self))

    @property
    def summary(self) -> str:
        """What is concluded, in words."""
        return " ".join(self.sentences)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader should know of the tests."""
        return tuple(map(str, self.notes))

    def unite(self) -> BoundTable:
        """The hull of the bounds under the graph and under each added edge.

        It is valid, at the confidence of one table, if at most one of these edges is missing.
        """
        own = {} if self.refutation else {"the graph": self.table}
        larger = {f"with {e.edge}": e.table for e in self.edges if e.table is not None}
        return unite_tables(own | larger or {"the graph": self.table})

    def rows(self) -> list[dict[str, object]]:
        """Write the edges as a list of mappings, for a data frame."""
        return [
            {
                "edge": str(each.edge),
                "meaning": each.meaning,
                "choice": each.conclusion,
                "changed": len(each.changed),
                "undecided": len(each.undecided),
                "regret": each.regret,
                "mean_width": each.mean_width,
                "data": each.data,
            }
            for each in self.edges
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the report as an object for JSON."""
        return {
            "summary": self.summary,
            "graph": self.graph,
            "query": self.query,
            "confidence": self.table.confidence,
            "mean_width": measure_width(self.table),
            "refutation": str(self.refutation),
            "choice": None if self.choice is None else self.choice.record(),
            "edges": [each.record() for each in self.edges],
            "excluded": [{"edge": str(e), "reason": reason} for e, reason in self.excluded],
            "not_reached": list(map(str, self.not_reached)),
            "caveats": list(self.caveats),
            "comparison": None if self.comparison is None else self.comparison.record(),
        }

    def __repr__(self) -> str:
        return f"<StressReport {shorten(self.summary, 200)}>"

    def __str__(self) -> str:
        return self.format()

    def format(self, *, all_rows: bool = False) -> str:
        """Write the report as text; of more than 30 edges all with ``all_rows``."""
        title = f"Stress test of {name_mean(self.table)}: each missing edge added in turn"
        lines = [title, "", *self.sentences]
        shown = self.edges if all_rows else self.edges[:_MOST_LINES]
        if shown:
            columns = list(zip(*map(_write_cells, shown), strict=True))
            kept = [i for i, column in enumerate(columns) if i != 1 and any(column)]
            table = align_columns([_HEAD[i] for i in kept], [columns[i] for i in kept])
            lines += ["", table]
        if left := len(self.edges) - len(shown):
            lines.append(f"and {left:,} more edges (--all-rows, or .frame(), has all)")
        lines += ["", *(f"not added: {reason}" for reason in self.list_reasons())]
        lines += [f"not covered: {what}" for what in NOT_COVERED]
        return "\n".join(lines)

    def list_reasons(self) -> tuple[str, ...]:
        """Each reason why edges were not added, after a few of these edges."""
        by_reason = dict[str, list[str]]()
        for edge, reason in self.excluded:
            by_reason.setdefault(reason, []).append(str(edge))
        for edge in self.not_reached:
            by_reason.setdefault("the time limit was reached", []).append(str(edge))
        return tuple(
            f"{join_words(edges, most=_MOST_NAMED)} ({reason})"
            for reason, edges in by_reason.items()
        )

    def _repr_html_(self) -> str:
        return self.page().write_snippet()

    def page(self) -> Page:
        """Make the page of the report."""
        verdict, *said = self.sentences
        chosen = () if self.choice is None else self.choice.values()
        rows = [
            (write_levels(self.table.context, one.context) or "everyone", one.summary)
            for one in chosen
        ]
        return make_page(
            f"Stress test of {name_mean(self.table)}",
            [verdict, *said],
            [
                ("Choice without them", ["context", "arm"], rows, ""),
                ("Missing edges, the most harmful first", _HEAD,
                 [_write_cells(each) for each in self.edges], ""),
            ],
            self.table.confidence,
            caveats=self.notes,
            notes={
                "Not added": self.list_reasons(),
                "Not covered": NOT_COVERED,
                "The graph": (self.graph,),
            },
        )  # fmt: skip


def measure_width(table: BoundTable) -> float:
    """The mean width of the intervals of a table."""
    widths = [bound.upper - bound.lower for bound in table.bounds.values()]
    return sum(widths) / len(widths)


def _summarize(report: StressReport) -> Iterator[str]:
    judged = [each for each in report.edges if not each.refusal]
    of = f"{len(judged)} missing edge{'' if len(judged) == 1 else 's'}"
    if report.comparison is not None:
        yield report.comparison.summary
        if report.comparison.verdict != "inconclusive" and judged:
            other = [each for each in judged if each.verdict_changes]
            yield _count("The verdict", other, of)
    if report.refutation:
        why = str(report.refutation).removeprefix("the data refute the graph: ")
        yield f"The data refute the graph: {why}."
        if judged:
            yield f"They do not with {_name(judged)}."
        else:
            yield "No single edge mends that."
        return
    if not judged:
        yield "No missing edge could be added."
    elif (chosen := _write_choice(report)) is None:
        widest = max(judged, key=lambda each: each.mean_width or 0.0)
        yield (
            f"No arm is chosen in any context. Of {of}, {widest.edge} widens the bounds most, "
            f"to a mean width of {widest.mean_width:.3f} from {measure_width(report.table):.3f}."
        )
    else:
        yield _count(chosen, [each for each in judged if each.changed], of)
    if lost := [each for each in judged if each.undecided and not each.changed]:
        yield f"Under {_name(lost)} the choice is the same, but no longer certain to be best."
    if suggested := [
        e for e in judged if e.test is not None and e.test.status == "contradicted"
    ]:
        yield f"The data suggest that {_name(suggested)} exists."
    if report.not_reached:
        n = len(report.not_reached)
        yield f"The time limit left out {n} edge{'' if n == 1 else 's'}."


def _write_choice(report: StressReport) -> str | None:
    """Name the arms that are chosen; None where there is a tie in every context."""
    choice, table = report.choice, report.table
    found = [] if choice is None else [one for one in choice.values() if not one.ties]
    if not found:
        return None
    if len(found) > _MOST_NAMED:
        return "The choice"
    named = [
        f"{', '.join(map(str, one.context))} {write_arm(table.treatments, one.single)}".lstrip()
        for one in found
    ]
    return f"The choice {', '.join(named)}"


def _count(what: str, changed: Sequence[StressedEdge], of: str) -> str:
    if not changed:
        return f"{what} stays the same under each of {of}."
    return f"{what} changes under {len(changed)} of {of}: {_name(changed)}."


def _name(edges: Sequence[StressedEdge]) -> str:
    return join_words([str(each.edge) for each in edges], most=_MOST_NAMED)


def _write_cells(each: StressedEdge) -> tuple[str, ...]:
    verdict = "" if each.comparison is None else each.comparison.verdict
    regret = "" if each.regret is None else write_promise(each.regret)
    width = "" if each.mean_width is None else f"{each.mean_width:.3f}"
    return str(each.edge), each.meaning, verdict, each.conclusion, regret, width, each.data
