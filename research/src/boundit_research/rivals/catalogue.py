"""The rivals by name, as their papers have them and with a tuned constant.

``GLUE`` is the paper's, ``GLUE*`` has the constant that did best of several on the two worlds
on which ours were chosen too, and ``GLUE@0.5`` any other. What the constant is, the file of each
rival says; of LinUCB it is ``alpha``, and of its warm start how many rows an estimate counts for,
all that were logged unless told.
"""

from dataclasses import dataclass
from math import inf

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ridge import WarmStart
from boundit.results.bound_table import BoundTable
from boundit_research.rivals.kl_ucb import KLUCB
from boundit_research.rivals.r_oful import ROFUL
from boundit_research.rivals.tables import KINDS, Rival

WARM = "Warm start"
"""LinUCB from the log's means, biased as they are: the paper's LinUCB_CP."""
_LIN_UCB, _KL_UCB, _R_OFUL = "LinUCB", "B-kl-UCB", "R-OFUL"
_NAMES = (_KL_UCB, _R_OFUL, *KINDS, WARM)
TUNED = {
    _KL_UCB: 0.2,
    "B-TS": 0.7,
    "GLUE": 0.5,
    _R_OFUL: 0.35,
    "MIN-UCB": 0.15,
    "EXP3-IX": 1.41,
    WARM: 1.0,
    _LIN_UCB: 1.2,
}
"""The constant that did best, where it is not the paper's own; research/docs/rivals.md has
the commands."""
RIVALS = (*_NAMES, *(f"{name}*" for name in TUNED))
"""All rivals, as they are and tuned; LinUCB as it is stands beside them in every study."""


@dataclass(frozen=True)
class RunStart:
    """What one run starts from: bounds, None where the log refutes the graph, and log means."""

    bounds: BoundTable | None
    logged: BoundTable


def is_rival(name: str) -> bool:
    """Tell whether a name is that of a rival, tuned or with a constant behind it or not.

    >>> is_rival("GLUE@0.5"), is_rival("GLUE@much"), is_rival("LinUCB@2"), is_rival("LinUCB")
    (True, False, True, False)
    """
    base, constant = _split_name(name)
    if base != name:
        return constant is not None and 0 < constant < inf and base in (*_NAMES, _LIN_UCB)
    return base in _NAMES


def make_rival(name: str, start: RunStart) -> Policy:
    """Make a rival by its name for one run."""
    base, constant = _split_name(name)
    scale, bounds = constant or 1.0, start.bounds and start.bounds.intervals_only()
    if base == _LIN_UCB:
        return LinUCB(alpha=scale)
    if base == WARM:
        return LinUCB(warm_start=WarmStart(start.logged, constant or "counts"))
    if base == _KL_UCB:
        return KLUCB(bounds, scale=scale)
    if base == _R_OFUL:
        return ROFUL(bounds, scale=scale)
    return Rival(bounds, kind=base, logged=start.logged, scale=scale)


def _split_name(name: str) -> tuple[str, float | None]:
    """Split a rival's name from its constant; None where the paper's is meant, or no number."""
    if name.endswith("*"):
        return name[:-1], TUNED.get(name[:-1])
    base, _, constant = name.partition("@")
    try:
        return base, float(constant) if constant else None
    except ValueError:
        return base, None
