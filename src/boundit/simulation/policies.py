"""The policies that online studies compare: each without bounds and with them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from boundit.bandit.fused.policy import Fused
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB
from boundit.bandit.policy import Policy
from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import adjust_for_confounding_only, condition_only
from boundit.counts.log import Log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.world import World
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError

KINDS: Mapping[str, Callable[[BoundTable | None], Policy]] = {
    "LinUCB": lambda prior: LinUCB(prior=prior),
    "LinUCB-shared": lambda prior: LinUCB(prior=prior, shared=True),
    "UCB": lambda prior: UCB(prior=prior),
    "KL-UCB": lambda prior: KLUCB(prior=prior),
    "TS": lambda prior: TS(prior=prior, propensities=False),
    "LinTS": lambda prior: LinTS(prior=prior, propensities=False),
    "OAM": lambda prior: OAM(prior=prior),
}
"""Each policy by its name, to be given bounds or none."""
FUSED: Mapping[str, Callable[[BoundTable | None], Policy]] = {
    "Fused": lambda table: Fused(prior=table, propensities=False),
    "Fused-trusting": lambda table: Fused(prior=table, doubt=0.0, propensities=False),
}
"""The policy that we recommend, and the same without doubt; both count the rows of a log."""
PCB = "-PCB"
"""What the name of a policy gets when it starts from bounds."""
WEIGHTS: tuple[float | str, ...] = (1, 10, 100, "counts")
"""How many rows an estimate of a warm start may stand for."""


class UnknownPolicy(BounditError):
    """A name that no policy of the studies has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        near = get_close_matches(name, self.known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.known)}"
        super().__init__(f"there is no policy {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class OfflineTables:
    """What a log gives a policy to start from: bounds, and the two biased estimates.

    ``exact`` are the bounds of endless logging, ``logged`` those of a drawn log, which hold for
    every arm and context at once with confidence 0.95; the estimates are of the same log. The
    paper's algorithms know intervals alone, so the bounds have no contrasts. ``counted`` is all
    that the drawn log gives: its bounds, and the plan of its rows, which ``Fused`` counts.
    """

    exact: BoundTable
    logged: BoundTable
    counted: BoundTable
    cp: BoundTable
    biased: BoundTable

    @classmethod
    def from_world(
        cls, world: World, *, points: int = 30_000, seed: int = 0
    ) -> "OfflineTables":
        """Draw a log of a world, and make the bounds and estimates that policies start from.

        It has ``points`` rows before selection.
        """
        asked, log = (world.graph, world.query), world.log(points, seed=seed)
        domain = {name: world.list_levels(name) for name in world.graph.observed}
        counted = derive_bounds(*asked, log, confidence=0.95, domain=domain)
        return cls(
            derive_bounds(*asked, world.exact_log(), confidence=None).intervals_only(),
            counted.intervals_only(),
            counted,
            condition_only(*asked, log),
            adjust_for_confounding_only(*asked, log),
        )

    @classmethod
    def from_log(
        cls, graph: CausalGraph, query: EffectQuery | str, log: Log, bounds: BoundTable
    ) -> "OfflineTables":
        """Take a user's own log: its bounds, which are both kinds, and the biased estimates."""
        return cls(
            bounds.intervals_only(),
            bounds.intervals_only(),
            bounds,
            condition_only(graph, query, log),
            adjust_for_confounding_only(graph, query, log),
        )


def make_policies(
    kinds: Sequence[str], priors: Mapping[str, BoundTable], estimates: Mapping[str, BoundTable]
) -> dict[str, Policy]:
    """Make each kind of policy without bounds and with each prior, and LinUCB's warm starts.

    Gives them by name. A prior is a table of bounds, a warm start begins with an estimate. The
    keys of ``priors`` are put behind the name of a kind, those of ``estimates`` behind
    ``LinUCB_``.

    >>> list(make_policies(["UCB", "TS"], {}, {}))
    ['UCB', 'TS']
    """
    found: dict[str, Policy] = {}
    for kind in kinds:
        found[kind] = KINDS[kind](None)
        for suffix, prior in priors.items():
            found[kind + suffix] = KINDS[kind](prior)
    for name, table in estimates.items():
        for rows in WEIGHTS:
            start = WarmStart(table, rows)  # type: ignore[arg-type]
            found[f"LinUCB_{name}-{rows}"] = LinUCB(warm_start=start)
    return found


def pick_policies(
    names: Sequence[str], offline: OfflineTables, *, exact: bool
) -> dict[str, Policy]:
    """Make the policies that a user named, such as ``LinUCB-PCB``, in their order.

    Their bounds are of the world's exact law, or of the drawn log. ``Fused`` counts rows, so
    that it always starts from the drawn log.
    """
    prior = offline.exact if exact else offline.logged
    estimates = {"CP": offline.cp, "Biased": offline.biased}
    known = make_policies(list(KINDS), {PCB: prior}, estimates)
    known |= {name: make(offline.counted) for name, make in FUSED.items()}
    for name in names:
        if name not in known:
            raise UnknownPolicy(name, list(known))
    return {name: known[name] for name in names}
