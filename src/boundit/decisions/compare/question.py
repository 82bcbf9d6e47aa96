"""What ``compare`` is asked, checked: which samples it reads, and how they share the error."""

from dataclasses import dataclass
from typing import final

from boundit.bounds.request import require_confidence
from boundit.core.errors import BounditError
from boundit.core.message import ANY, Option
from boundit.counts.log import Log, read_log
from boundit.decisions.compare.measured import Logged
from boundit.decisions.compare.shares import ANY_CONTEXTS, is_sample
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import open_walk
from boundit.results.bound_table import BoundTable

LOG_CONTEXTS = "log"
"""What users write for the log's own shares of contexts, and for what the log did."""


class CannotCompare(BounditError):
    """A comparison that lacks what one of its sides needs."""


@final
@dataclass(frozen=True, eq=False)
class CompareRequest:
    """The evidence of a comparison beside its bounds, and how the error is shared.

    ``contexts`` is what ``read_shares`` takes. ``chance`` is that with which each of the
    ``claims`` that are read off samples may miss: shares, what the log did, an estimate.
    """

    table: BoundTable
    contexts: object
    log: Log | None
    graph: CausalGraph | None
    asks_logged: bool
    propensity: object
    chance: float
    claims: int

    @property
    def log_confidence(self) -> float | None:
        """With which chance what the log did is bounded; None where chance is no matter."""
        sampled = self.log is not None and not self.log.exact
        return 1 - self.chance if self.chance and sampled else None


def read_question(
    table: BoundTable,
    sides: tuple[object, object],
    *,
    contexts: object,
    log: object,
    graph: GraphLike | None,
    propensity: object,
    confidence: float | None,
) -> CompareRequest:
    """Check what a comparison is given, open its log, and share the error out over samples."""
    require_confidence(confidence)
    if not isinstance(table, BoundTable):
        raise CannotCompare(
            f"policies are compared by a BoundTable, found {type(table).__name__}"
        )
    graph = None if graph is None else require_graph(graph)
    opened = None if log is None else read_log(log)
    asks_logged = any(map(_is_logged, sides))
    if all(map(_is_logged, sides)):
        raise CannotCompare("both sides are what the log did; nothing is to be compared")
    if asks_logged:
        _require_for_logged(opened, graph)
    if propensity is not None:
        _require_for_propensity(opened, graph)
    weighing = _choose_contexts(contexts, table, opened, graph, drawn=propensity is not None)
    sampled = opened is not None and not opened.exact
    claims = sum(
        (is_sample(weighing, table), asks_logged and sampled, bool(propensity) and sampled)
    )
    chance = 0.0 if confidence is None or not claims else (1 - confidence) / claims
    return CompareRequest(
        table, weighing, opened, graph, asks_logged, propensity, chance, claims
    )


def _is_logged(side: object) -> bool:
    """Tell whether a side of a comparison is what the log did."""
    return isinstance(side, Logged) or (isinstance(side, str) and side == LOG_CONTEXTS)


def _require_for_logged(log: Log | None, graph: CausalGraph | None) -> None:
    """Refuse to say what the log did without its rows, or without the graph of selection."""
    if log is None:
        raise CannotCompare("what the log did is read off its rows; pass ", Option("log", ANY))
    if graph is None:
        raise CannotCompare(
            "whether rows were selected decides what the log did; pass ", Option("graph", ANY)
        )
    if log.adaptive:
        raise CannotCompare(
            "a policy that learned while it wrote the log did not do one thing; compare with "
            "what it would do now, or with a bd.Measured value"
        )


def _require_for_propensity(log: Log | None, graph: CausalGraph | None) -> None:
    """Refuse an estimate from propensities without a log, or from a selected one."""
    if log is None:
        raise CannotCompare("propensities weigh the rows of a log; pass ", Option("log", ANY))
    if graph is not None and graph.selection is not None:
        raise CannotCompare(
            "propensities do not weigh a selected log rightly; leave out ", Option("propensity")
        )


def _choose_contexts(
    contexts: object,
    table: BoundTable,
    log: Log | None,
    graph: CausalGraph | None,
    *,
    drawn: bool,
) -> object:
    """Choose what says how often contexts come: as asked, the log's own rows, or anything.

    With propensities (``drawn``) it is the log's own, which the estimate speaks of.
    """
    if not table.context:
        return ANY_CONTEXTS
    if isinstance(contexts, str) and contexts == LOG_CONTEXTS:
        return _require_shares(table, log, graph, drawn=drawn)
    if drawn and contexts is not None:
        raise CannotCompare(
            "an estimate from propensities speaks of the log's own contexts; leave out ",
            Option("contexts"),
        )
    if contexts is not None:
        return contexts
    tells = drawn or (graph is not None and _tells_shares(graph, table))
    return log if log is not None and tells else ANY_CONTEXTS


def _require_shares(
    table: BoundTable, log: Log | None, graph: CausalGraph | None, *, drawn: bool
) -> Log:
    """Give the log whose rows have contexts as often as everyone, or say why they may not."""
    if log is None or (graph is None and not drawn):
        raise CannotCompare(
            Option("contexts", LOG_CONTEXTS), " needs ", Option("log", ANY), " and ",
            Option("graph", ANY),
        )  # fmt: skip
    if graph is not None and not _tells_shares(graph, table):
        raise CannotCompare(
            "selection may have changed how often contexts are logged; give their shares as ",
            Option("contexts", ANY),
        )
    return log


def _tells_shares(graph: CausalGraph, table: BoundTable) -> bool:
    """Tell whether logged rows have contexts as often as everyone, by the graph."""
    if graph.selection is None:
        return True
    return not open_walk(graph, table.context, graph.selection)
