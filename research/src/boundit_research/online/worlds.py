"""Environments of the study of logs: graphs that are right, and ones that are wrong by an edge.

Where the graph is wrong, the learner assumes that of Figure 2, and the environment is the paper's
but for one influence that the graph denies. Where the reward steers which rows are logged, or
shares a cause with X2, the means of the log's cells are wrong; where X2 moves I1, they are right,
and it is wrong that arms share the probabilities of I1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    PAPER_TABLES,
    flipped_environment,
    make_paper_model,
    paper_environment,
    random_environment,
)
from boundit.simulation.scm import SCM

if TYPE_CHECKING:
    from boundit.simulation.tables import TableSpec


@dataclass(frozen=True, slots=True)
class Assumed:
    """An environment, and the graph that a learner assumes of it, which may be wrong."""

    environment: Environment
    graph: CausalGraph

    @classmethod
    def right(cls, environment: Environment) -> "Assumed":
        """Take an environment whose own graph is assumed."""
        return cls(environment, environment.graph)


def make_shop() -> Environment:
    """Make a shop: three offers in three segments, carts that are logged more often than not.

    Who fills a cart and who buys depends on a hidden intent too, and on a score that nobody
    decides by.

    >>> make_shop().graph.selection
    'Logged'
    """
    base = np.array([[0.15, 0.25, 0.3], [0.15, 0.35, 0.2], [0.15, 0.2, 0.45]])
    tables: Mapping[str, TableSpec] = {
        "segment": ([], [0.6, 0.3, 0.1]),
        "score": ([], [0.5, 0.3, 0.2]),
        "U": ([], 0.4),
        "offer": (["score"], [[0.2, 0.2, 0.6], [0.4, 0.4, 0.2], [0.3, 0.65, 0.05]]),
        "cart": (
            ["segment", "offer", "score", "U"],
            lambda g, o, s, u: float(base[g, o]) + 0.2 * u + 0.05 * s,
        ),
        "buy": (["cart", "U", "score"], lambda c, u, s: 0.05 + 0.45 * c + 0.15 * u - 0.02 * s),
        "Logged": (["cart"], [0.35, 0.9]),
    }
    model = SCM.of(tables, hidden="U", selection="Logged")
    return Environment(model, parse_query("buy | do(offer), segment"), "shop")


def make_confounded() -> Environment:
    """Make an environment whose graph leaves no rows to pool: treatment and reward share a cause.

    >>> print(make_confounded().graph)
    C -> X; C -> Y; X -> Y; X <-> Y
    """
    tables: Mapping[str, TableSpec] = {
        "C": ([], 0.5),
        "U": ([], [0.5, 0.3, 0.2]),
        "X": (["C", "U"], lambda c, u: np.roll([0.6, 0.3, 0.1], u + c)),
        "Y": (
            ["C", "X", "U"],
            lambda c, x, u: (0.15, 0.3, 0.45)[(x + c) % 3] + (0.0, 0.2, 0.4)[u],
        ),
    }
    return Environment(SCM.of(tables, hidden="U"), parse_query("Y | do(X), C"), "confounded")


def make_wrong() -> tuple[Assumed, ...]:
    """Make the seven environments in which the paper's graph is wrong: always the same.

    The largest error of a mean that the exact log gives is about .25, .05, .03, 0, .28, 0 and
    0.

    >>> [wrong.environment.name for wrong in make_wrong()][:2]
    ['Y -> S flips X2', 'Y -> S mild']
    """
    return tuple(
        Assumed(_change_paper(name, tables), make_paper_model().graph)
        for name, tables in _CHANGES.items()
    )


def _change_paper(name: str, changes: "Mapping[str, TableSpec]") -> Environment:
    """Make the paper's world with other tables for some variables."""
    tables = {**PAPER_TABLES, **changes}
    hidden = [node for node in ("C1", "C2") if node in tables]
    model = SCM.of(tables, hidden=hidden, selection="S")
    return Environment(model, parse_query("Y | do(X1, X2), U1, U2"), name)


def _keep_rows(i1: int, y: int, against: float) -> float:
    """Compute the probability that a row is logged, lower by the share ``against`` where Y is 1.

    A negative share is taken where Y is 0. Used for the worlds in which the reward steers
    selection.
    """
    return (0.1, 0.8)[i1] * (1 - max(against, 0.0) * y - max(-against, 0.0) * (1 - y))


_CHANGES: "Mapping[str, Mapping[str, TableSpec]]" = {
    "Y -> S flips X2": {
        "S": (["I1", "Y", "X2"], lambda i1, y, x2: _keep_rows(i1, y, 0.66 if x2 else -0.5)),
    },
    "Y -> S mild": {
        "S": (["I1", "Y", "X1"], lambda i1, y, x1: _keep_rows(i1, y, 0.19 * x1)),
    },
    "X2 <-> Y": {
        "C2": ([], 0.5),
        "X2": (["U2", "C2"], lambda u2, c2: (u2 + 0.3) / 2 + 0.18 * (c2 - 0.5)),
        "Y": (
            ["C1", "C2", "U1", "X2", "I1"],
            lambda c1, c2, u1, x2, i1: (c1 + u1 + x2 + i1) / 6 + 0.1 + 0.1 * (c2 - 0.5),
        ),
    },
    "X2 -> I1": {
        "I1": (["X1", "X2", "C1"], lambda x1, x2, c1: (x1 + x2 + c1) / 5 + 0.2),
    },
    "Y -> S best arm": {
        "S": (
            ["I1", "Y", "X1", "X2"],
            lambda i1, y, x1, x2: _keep_rows(i1, y, 0.70 * x1 * x2),
        ),
    },
    "X2 -> I1 xor": {
        "I1": (["X1", "X2", "C1"], lambda x1, x2, c1: 0.1 + 0.6 * (x1 ^ x2) + 0.2 * c1),
    },
    "X2 -> I1 best arm": {
        "I1": (["X1", "X2", "C1"], lambda x1, x2, c1: 0.1 + 0.7 * x1 * x2 + 0.1 * c1),
    },
}
"""What is other than in the paper's model, for each world by its name."""


def _take(*make: Callable[[], Environment]) -> Callable[[], tuple[Assumed, ...]]:
    return lambda: tuple(Assumed.right(one()) for one in make)


GROUPS: Mapping[str, Callable[[], tuple[Assumed, ...]]] = {
    "paper": _take(paper_environment),
    "flipped": _take(flipped_environment),
    "shop": _take(make_shop),
    "confounded": _take(make_confounded),
    "random": _take(*(partial(random_environment, i) for i in range(10))),
    "wrong": make_wrong,
}
"""The environments that are summed up together; those with a wrong graph stay apart."""
