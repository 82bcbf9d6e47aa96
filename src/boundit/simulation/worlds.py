"""Named worlds, the paper's first."""

from boundit.estimand.query import parse_query
from boundit.simulation.model import Model
from boundit.simulation.world import World


def paper_model() -> Model:
    """Build the paper's model: the graph of Figure 2 with the appendix's probabilities.

    U1, U2 are user features, X1, X2 item features, I1 lies between, Y is the reward, and the
    hidden C1 moves both I1 and Y. Rows are logged by I1.

    >>> print(paper_model().graph)
    I1 -> [S]; I1 -> Y; U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; I1 <-> Y
    >>> round(paper_model().selection_rate(), 5)
    0.47625
    """
    return Model.of(
        {
            "U1": ([], 0.4),
            "U2": ([], 0.6),
            "C1": ([], 0.5),
            "X1": (["U1"], lambda u1: (u1 + 0.5) / 2),
            "X2": (["U2"], lambda u2: (u2 + 0.3) / 2),
            "I1": (["X1", "C1"], lambda x1, c1: (x1 + c1) / 4 + 0.3),
            "Y": (
                ["C1", "U1", "X2", "I1"],
                lambda c1, u1, x2, i1: (c1 + u1 + x2 + i1) / 6 + 0.1,
            ),
            "S": (["I1"], [0.1, 0.8]),
        },
        hidden="C1",
        selection="S",
    )


def paper_world() -> World:
    """The paper's model with its question: what each item earns with each user.

    >>> round(paper_world().mean(arm=(0, 0), context=(0, 0)), 6)
    0.254167
    """
    return World(paper_model(), parse_query("Y | do(X1, X2), U1, U2"))
