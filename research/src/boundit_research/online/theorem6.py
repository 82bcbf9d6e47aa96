"""Theorem 6's counterexample: a valid bound that rules out an arm and raises the regret (D-29).

Three arms without context earn 0.5, 0.499 and 0.05; LinUCB has one constant feature and
alpha = 2; the only bound is 0.4995 on the second arm. The pulls that the near-tie loses go to
the bad arm too.
"""

from collections.abc import Callable

from boundit.bandit.lin_ucb import LinUCB
from boundit.estimand.query import parse_query
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.regret import Regret
from boundit.simulation.scm import SCM
from boundit.simulation.simulate import simulate

MEANS, CAP, ALPHA, ROUNDS = (0.5, 0.499, 0.05), 0.4995, 2.0, 200


def make_near_tie_world() -> Environment:
    """Make a world of three arms, two of them nearly alike, in which a valid bound does harm.

    >>> list(make_near_tie_world().means().values())
    [0.5, 0.499, 0.05]
    """
    tables = {"X": ([], [1 / 3] * 3), "Y": (["X"], list(MEANS))}
    return Environment(SCM.of(tables), parse_query("Y | do(X)"), "the near tie")


def make_near_tie_bound() -> BoundTable:
    """Make the table of one bound: the second arm earns at most 0.4995, which is true.

    >>> make_near_tie_bound()[1, ()].upper
    0.4995
    """
    rows = [{"X": x, "lower": 0.0, "upper": CAP if x == 1 else 1.0} for x in range(len(MEANS))]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))


def run_theorem6(
    *,
    runs: int = 200_000,
    rounds: int = ROUNDS,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Regret:
    """Play LinUCB with and without a valid bound, between two almost equal arms.

    Gives the regrets; the paper's Theorem 6 says that the bound helps.
    """
    policies = {
        "LinUCB": LinUCB(alpha=ALPHA, features=_make_constant_feature),
        "LinUCB-PCB": LinUCB(
            alpha=ALPHA, features=_make_constant_feature, prior=make_near_tie_bound()
        ),
    }
    return simulate(
        make_near_tie_world(),
        policies,
        rounds=rounds,
        runs=runs,
        seed=seed,
        progress=lambda _, done, __: progress(done, runs),
    )


def _make_constant_feature(_: Context, __: Arm) -> list[float]:
    """Give every arm and context the feature vector ``[1]``: LinUCB learns a mean for each arm."""
    return [1.0]
