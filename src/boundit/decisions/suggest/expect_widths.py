"""How wide bounds will be, before there is a log: from rough rates and the graph alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import read_bandit_query
from boundit.decisions.suggest.evaluation import measure_width
from boundit.decisions.suggest.rough_model import draw_rough_model, read_shares
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike, require_graph
from boundit.report.frame import make_frame
from boundit.simulation.errors import RewardNotBinary
from boundit.simulation.fitted.fit_worlds import find_relevant
from boundit.simulation.law_source import open_expected_log
from boundit.simulation.model import Model
from boundit.simulation.options import read_seed, read_whole
from boundit.terms.long_work import TimeBudget, Told, read_time_limit, say_nothing
from boundit.terms.sampling import Inference
from boundit.terms.saving.codec import encode
from boundit.terms.saving.frames import FrameKind

ROWS = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
"""The sizes of a log that are asked about unless told."""
MANY = 2.0
"""From so many times the rate on, an interval is said to tell little."""


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """How wide bounds are on average at one size of the log, and how many times the rate.

    ``rows`` are logged rows, and None for endless ones. ``least`` and ``most`` are the widths
    over the models that were drawn.
    """

    rows: int | None
    width: float
    least: float
    most: float
    times: float


@dataclass(frozen=True, slots=True)
class ExpectedWidths:
    """How wide bounds will be at several sizes of a log, for a reward of some rate.

    ``sizes`` come smallest first, with endless rows last. ``models`` is how many models were
    drawn; their widths are averaged over all arms and contexts.
    """

    rate: float
    sizes: tuple[ExpectedWidth, ...]
    models: int
    confidence: float
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before any row is logged: where intervals are many times the rate.

        Users read it; also read by ``ExpectedWidths.__str__``.
        """
        said = [
            f"at a rate of {self.rate:g} intervals at {each.rows:,} rows are {each.times:.3g} "
            "times the rate"
            for each in self.sizes
            if each.rows is not None and each.times >= MANY
        ]
        last = self.sizes[-1] if self.sizes else None
        if last is not None and last.rows is None and last.times >= MANY:
            said.append(
                f"however many rows there are, intervals stay {last.times:.3g} times the rate: "
                "the graph leaves that open, and only other facts narrow it"
            )
        return tuple(said)

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each size of the log. Users make a data frame of them."""
        found: list[dict[str, object]] = [encode(each) for each in self.sizes]
        return found

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write everything as an object for JSON.

        Users keep it; ``plan`` of the command line prints it with --json.
        """
        found: dict[str, object] = encode(self)
        return found | {"warnings": list(self.warnings)}

    def __str__(self) -> str:
        lines = [
            f"expected mean width at confidence {self.confidence:g}, over {self.models} random "
            f"models with these rates (reward {self.rate:g}):",
            f"{'rows':>15}  {'width':>8}  {'from':>8}  {'to':>8}  {'times the rate':>14}",
        ]
        for each in self.sizes:
            rows = "endless" if each.rows is None else f"{each.rows:,}"
            lines.append(
                f"{rows:>15}  {each.width:8.4f}  {each.least:8.4f}  {each.most:8.4f}  "
                f"{each.times:14.3g}"
            )
        return "\n".join([*lines, *self.warnings, *(f"note: {note}" for note in self.notes)])


def expect_widths(
    graph: GraphLike,
    query: EffectQuery | str,
    *,
    rates: Mapping[str, float | Sequence[float]] | None = None,
    levels: Mapping[str, int] | None = None,
    selection_rate: float | None = None,
    rows: Iterable[int] = ROWS,
    models: int = 3,
    confidence: float = 0.95,
    inference: Inference = "exact",
    seed: int = 0,
    time_limit: float | None = None,
    told: Told | None = None,
) -> ExpectedWidths:
    """Say how wide bounds will be at several sizes of a log, before there is one.

    Random models with the given rates are drawn, and bounded on the counts that so many rows
    have on average; no row is drawn. Users call it before they log; also called by the command
    ``plan``.

    Parameters
    ----------
    graph, query
        As ``derive_bounds`` takes them. The reward is 0 or 1.
    rates
        For each variable the chance of level 1, or the shares of all its levels, as in
        ``{"Click": 0.004, "Ad": (0.7, 0.2, 0.1)}``. They are of everyone, logged or not. A
        variable without one has levels of equal shares.
    levels
        How many levels variables have; two unless told, or as many as ``rates`` has shares.
    selection_rate
        Which share of everyone is logged; one half unless told.
    rows
        The sizes of the log: logged rows.
    models, seed
        How many random models are drawn, and from which seed.
    confidence, inference
        As for ``derive_bounds``.
    time_limit
        Seconds for everything; a note says which sizes were not reached.
    told
        Hears of progress.

    Examples
    --------
    >>> from boundit.graph.read import parse_graph
    >>> graph = parse_graph("Ad -> Click; Ad <-> Click")
    >>> plan = expect_widths(
    ...     graph, "Click | do(Ad)", rates={"Click": 0.004}, rows=[10_000], models=1
    ... )
    >>> [round(size.width, 1) for size in plan.sizes]
    [0.5, 0.5]
    """
    graph = require_graph(graph)
    asked = read_bandit_query(graph, query)
    relevant = find_relevant(graph, asked)
    given, counts = rates or {}, levels or {}
    graph.require({*given, *counts})
    shares = read_shares(relevant, given, counts, selection_rate)
    rate = _find_reward_rate(asked, shares)
    sizes = sorted({read_whole("rows", n, least=1) for n in rows})
    n_models, number = read_whole("models", models, least=1), read_seed(seed)
    budget, tell = TimeBudget(read_time_limit(time_limit)), told or say_nothing
    budget.count_seconds()
    drawn = [
        draw_rough_model(relevant, shares, np.random.default_rng([number, i]))
        for i in range(n_models)
    ]
    found, late = list[ExpectedWidth](), list[str]()
    for i, size in enumerate([*sizes, None]):
        tell("bound expected logs", i, len(sizes) + 1)
        if budget.is_over():
            late.append("endless" if size is None else f"{size:,}")
            continue
        chance = None if size is None else confidence
        widths = [_measure_model(m, asked, size, chance, inference, budget) for m in drawn]
        mean = sum(widths) / len(widths)
        found.append(ExpectedWidth(size, mean, min(widths), max(widths), mean / rate))
    notes = (f"the time limit left no time for {', '.join(late)} rows",) if late else ()
    return ExpectedWidths(rate, tuple(found), n_models, confidence, notes)


def _find_reward_rate(query: EffectQuery, shares: Mapping[str, Sequence[float]]) -> float:
    """Find how often the reward is 1, or refuse one that is not 0/1.

    Called by ``expect_widths``.
    """
    (outcome,) = query.outcomes
    if (n := len(shares[outcome])) != 2:
        raise RewardNotBinary(outcome, n)
    return float(shares[outcome][1])


def _measure_model(
    model: Model,
    query: EffectQuery,
    rows: int | None,
    confidence: float | None,
    inference: Inference,
    budget: TimeBudget,
) -> float:
    """Measure how wide the bounds of a model's expected log of so many rows are.

    Called by ``expect_widths`` for every size and model.
    """
    log = open_expected_log(model, rows)
    (outcome,) = query.outcomes
    domain = {
        name: range(model.n_levels[name]) for name in model.graph.observed if name != outcome
    }
    table = derive_bounds(
        model.graph,
        query,
        log,
        confidence=confidence,
        inference="exact" if confidence is None else inference,
        reward_range=(0, 1),
        domain=domain,
        time_limit=budget.count_seconds(),
    )
    return measure_width(table)
