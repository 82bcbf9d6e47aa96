"""Named environments: the paper's, flipped ones and random ones.

The mean of an arm is linear in the context in all of them, so that a linear policy with a model
for each arm can learn it. In the paper's and the flipped ones it is linear in the arm as well,
which a model shared by all arms needs.
"""

from typing import TYPE_CHECKING

import numpy as np

from boundit.estimand.query import parse_query
from boundit.simulation.environment import Environment
from boundit.simulation.options import read_number, read_seed, read_whole
from boundit.simulation.scm import SCM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundit.simulation.tables import TableSpec


PAPER_TABLES: "Mapping[str, TableSpec]" = {
    "U1": ([], 0.4),
    "U2": ([], 0.6),
    "C1": ([], 0.5),
    "X1": (["U1"], lambda u1: (u1 + 0.5) / 2),
    "X2": (["U2"], lambda u2: (u2 + 0.3) / 2),
    "I1": (["X1", "C1"], lambda x1, c1: (x1 + c1) / 4 + 0.3),
    "Y": (["C1", "U1", "X2", "I1"], lambda c1, u1, x2, i1: (c1 + u1 + x2 + i1) / 6 + 0.1),
    "S": (["I1"], [0.1, 0.8]),
}
"""The probabilities of the paper's appendix."""


def make_paper_model() -> SCM:
    """Build the paper's model: the graph of Figure 2 with the appendix's probabilities.

    U1 and U2 are user features, X1 and X2 item features, I1 is a mediator, Y the reward, and
    the hidden C1 a common cause of I1 and Y. Selection depends on I1.

    >>> print(make_paper_model().graph)
    I1 -> [S]; I1 -> Y; U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; I1 <-> Y
    >>> round(make_paper_model().selection_rate(), 5)
    0.47625
    """
    return SCM.of(PAPER_TABLES, hidden="C1", selection="S")


def paper_environment() -> Environment:
    """Make the environment of the paper: ``Y | do(X1, X2), U1, U2`` in its model.

    >>> round(paper_environment().mean(arm=(0, 0), context=(0, 0)), 6)
    0.254167
    """
    query = parse_query("Y | do(X1, X2), U1, U2")
    return Environment(make_paper_model(), query, "the paper's environment")


def flipped_environment(strength: float = 1.0) -> Environment:
    """Make an environment whose log ranks the worst arm above the best, in every context.

    Two item features X1, X2 and a user feature U. Keen users (Z = 1, one in four) like the plain
    item (0, 0), the others the rich one (1, 1), which is best on average. A hidden taste makes
    users keen and gets them items whose features match (confounding), and a visit of a user who
    is not keen is seldom logged (selection). Bounds come from the worst case over Z.

    Parameters
    ----------
    strength : float
        Size of both biases, from 0 (none) to 1. From 0.8 on both naive estimates rank the arms
        the wrong way round in every context.

    Examples
    --------
    >>> environment = flipped_environment()
    >>> [round(environment.mean(arm, (0,)), 4) for arm in ((0, 0), (0, 1), (1, 0), (1, 1))]
    [0.3125, 0.425, 0.425, 0.5375]
    """
    read_number("strength", strength, "a number from 0 to 1")
    model = SCM.of(
        {
            "U": ([], 0.5),
            "H": ([], 0.5),
            "Z": (["H"], lambda h: 0.25 + 0.2 * strength * (2 * h - 1)),
            "X1": (["U"], lambda u: 0.45 + 0.1 * u),
            "X2": (
                ["X1", "H"],
                lambda x1, h: 0.5 + 0.3 * strength * (2 * h - 1) * (2 * x1 - 1),
            ),
            "Y": (
                ["U", "X1", "X2", "Z"],
                lambda u, x1, x2, z: (
                    0.2 + 0.2 * (x1 + x2) + (0.45 - 0.35 * (x1 + x2)) * z + 0.1 * u
                ),
            ),
            "S": (["Z"], [0.9 - 0.85 * strength, 0.9]),
        },
        hidden="H",
        selection="S",
    )
    name = f"the flipped environment of strength {strength:g}"
    return Environment(model, parse_query("Y | do(X1, X2), U"), name)


def random_environment(
    seed: int,
    *,
    arms: int = 4,
    contexts: int = 2,
    hidden: bool = True,
    selection: bool = True,
) -> Environment:
    """Draw an environment with the structure of the paper's.

    Parameters
    ----------
    seed : int
        The same arguments give the same environment.
    arms : int
        Number of values of the treatment X.
    contexts : int
        Number of binary context variables; they affect treatment and reward.
    hidden : bool
        Whether the mediator I and the reward have a hidden common cause.
    selection : bool
        Whether rows are logged depending on I.

    Examples
    --------
    >>> environment = random_environment(3, arms=5, contexts=1)
    >>> environment.name, len(environment.finite.arms), len(environment.finite.contexts)
    ('random environment 3, 5 arms, 2 contexts', 5, 2)
    """
    read_whole("arms", arms, least=2)
    read_whole("contexts", contexts, least=0)
    rng = np.random.default_rng([read_seed(seed), arms, contexts])
    features = [f"U{k + 1}" for k in range(contexts)]
    base, gain = rng.uniform(0.25, 0.5, arms), rng.uniform(-0.2, 0.2, arms)
    slopes = rng.uniform(0, 0.2 / max(contexts, 1), (arms, contexts))
    shift = rng.uniform(0.04, 0.08) if hidden else 0.0
    reach, pull = rng.uniform(0.15, 0.6, arms), rng.uniform(0.1, 0.3) if hidden else 0.0

    def reward(*at: int) -> float:
        *u, x, i, c = at if hidden else (*at, 0)
        return float(base[x] + slopes[x] @ u + gain[x] * i + shift * c)

    shown = rng.dirichlet(np.ones(arms), size=(2,) * contexts)
    tables: dict[str, TableSpec] = {name: ([], rng.uniform(0.3, 0.7)) for name in features}
    tables["X"] = (features, 0.04 / arms + 0.96 * shown)
    if hidden:
        tables["C"] = ([], 0.5)
    secret = ["C"] if hidden else []
    tables["I"] = (["X", *secret], lambda x, c=0: float(reach[x] + pull * c))
    tables["Y"] = ([*features, "X", "I", *secret], reward)
    if selection:
        tables["S"] = (["I"], [rng.uniform(0.05, 0.3), rng.uniform(0.6, 0.95)])
    model = SCM.of(tables, hidden=secret, selection="S" if selection else None)
    asked = ", ".join(["do(X)", *features])
    name = f"random environment {seed}, {arms} arms, {2**contexts} contexts"
    return Environment(model, parse_query(f"Y | {asked}"), name)
