"""Named worlds: the paper's, worlds where bias flips the best arm, random ones, a fixed suite.

In every world here the mean of an arm is linear in the context, so that a linear policy with a
model for each arm can learn it; in the paper's and the flipped ones it is linear in the arm as
well, as policies with one model for all need.
"""

from typing import TYPE_CHECKING

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.estimand.query import parse_query
from boundit.simulation.model import Model
from boundit.simulation.options import read_seed
from boundit.simulation.world import World

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
"""How the paper's appendix draws each variable of its model."""


def make_paper_model() -> Model:
    """Build the paper's model: the graph of Figure 2 with the appendix's probabilities.

    U1, U2 are user features, X1, X2 item features, I1 lies between, Y is the reward, and the
    hidden C1 moves both I1 and Y. Rows are logged by I1.

    >>> print(make_paper_model().graph)
    I1 -> [S]; I1 -> Y; U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; I1 <-> Y
    >>> round(make_paper_model().selection_rate(), 5)
    0.47625
    """
    return Model.of(PAPER_TABLES, hidden="C1", selection="S")


def paper_world() -> World:
    """Make the world of the paper: its model, and what each item earns with each user.

    Users try things in it; ``simulate`` of the command line knows it as a named world.

    >>> round(paper_world().mean(arm=(0, 0), context=(0, 0)), 6)
    0.254167
    """
    query = parse_query("Y | do(X1, X2), U1, U2")
    return World(make_paper_model(), query, "the paper's world")


def flipped_world(strength: float = 1.0) -> World:
    """Make a world whose log prefers the worst arm to the best, in every context.

    Two item features X1, X2 and a user feature U. Users who are keen (Z = 1, one in four) like
    the plain item (0, 0), the others the rich one (1, 1), which is best on the whole. A hidden
    taste makes users keen and gets them items whose features match (confounding), and a visit
    of somebody who is not keen is seldom logged (selection). ``strength`` scales both, from 0,
    where the log tells the truth, to 1; from 0.8 on both naive estimates flip in every context.
    The bounds come from conditioning on Z. They hold, are narrower than a half for every arm
    and context, and rule out both mixed items.

    >>> world = flipped_world()
    >>> [round(world.mean(arm, (0,)), 4) for arm in ((0, 0), (0, 1), (1, 0), (1, 1))]
    [0.3125, 0.425, 0.425, 0.5375]
    """
    if not 0 <= strength <= 1:
        raise BadOption("strength", "a number from 0 to 1", strength)
    model = Model.of(
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
    name = f"the flipped world of strength {strength:g}"
    return World(model, parse_query("Y | do(X1, X2), U"), name)


def random_world(
    seed: int,
    *,
    arms: int = 4,
    contexts: int = 2,
    hidden: bool = True,
    selection: bool = True,
) -> World:
    """Draw a world shaped as the paper's: arms X, ``contexts`` binary features, a middle I.

    The features move what was shown and the reward; I lies between X and the reward, a
    ``hidden`` cause moves I and the reward, and with ``selection`` rows are logged by I. The
    chance of a reward is a sum, so that every arm's mean is linear in the context.

    >>> world = random_world(3, arms=5, contexts=1)
    >>> world.name, len(world.environment.arms), len(world.environment.contexts)
    ('random world 3, 5 arms, 2 contexts', 5, 2)
    """
    if arms < 2 or contexts < 0:
        found = (arms, contexts)
        raise BadOption("arms and contexts", "2 or more and 0 or more", found, option="arms")
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
    model = Model.of(tables, hidden=secret, selection="S" if selection else None)
    asked = ", ".join(["do(X)", *features])
    name = f"random world {seed}, {arms} arms, {2**contexts} contexts"
    return World(model, parse_query(f"Y | {asked}"), name)


def make_suite() -> tuple[World, ...]:
    """Make the twelve worlds that claims about regret are held against: always the same.

    >>> len({world.name for world in make_suite()})
    12
    """
    shapes = ((2, 0), (2, 1), (3, 1), (4, 0), (4, 1), (4, 2), (6, 1), (8, 2), (10, 3))
    return (
        paper_world(),
        flipped_world(0.5),
        flipped_world(1.0),
        *(random_world(i, arms=a, contexts=k) for i, (a, k) in enumerate(shapes)),
    )
