"""A log with everything that suggestions are about, evaluated as ``suggest`` does."""

from dataclasses import replace

from boundit.bounds.derive import derive_table
from boundit.bounds.request import read_request
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.decisions.suggest.counted_log import hold_counts
from boundit.decisions.suggest.evaluation import Evaluation
from boundit.estimand.query import parse_query
from boundit.graph.read import parse_graph
from boundit.simulation.environment import Environment
from boundit.simulation.fit import count_relevant, find_relevant, fit_to_counts
from boundit.simulation.fitted import FittedEnvironments
from boundit.simulation.scm import SCM

SMALL = Environment(
    SCM(
        parse_graph("Z -> X -> Y; Z -> Y; Z -> [S]"),
        {
            "Z": ([], 0.4),
            "X": (["Z"], [0.3, 0.6]),
            "Y": (["X", "Z"], [[0.2, 0.6], [0.5, 0.7]]),
            "S": (["Z"], [0.3, 0.8]),
        },
    ),
    parse_query("Y | do(X)"),
)


def evaluate(
    world: Environment, rows: int = 6_000, budget: TimeBudget = FOR_EVER, *, exact: bool = False
) -> Evaluation:
    """Bound a drawn log of a world, and make ready to change the request."""
    log = world.exact_log() if exact else world.log(rows, seed=1)
    asked = read_request(world.graph, world.query, log, confidence=None if exact else 0.95)
    counts = count_relevant(asked)
    graph = find_relevant(asked.graph, asked.query)
    request = replace(asked, graph=graph, log=hold_counts(counts))
    return Evaluation(request, counts, derive_table(request, {}), budget)


def fit(evaluation: Evaluation, n: int = 2) -> FittedEnvironments:
    """Draw worlds that fit the log of an evaluation."""
    return fit_to_counts(
        evaluation.request, evaluation.counts, evaluation.table, n=n, seed=0, budget=FOR_EVER
    )
