"""Policies by name, each with and without the bounds of a log."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policy import Policy
from boundit.bandit.ridge import WarmStart
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import adjust_for_confounding_only, condition_only
from boundit.counts.log import Log
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.errors import InvalidSimulation

KINDS: Mapping[str, Callable[[BoundTable | None], Policy]] = {
    "LinUCB": LinUCB,
    "LinUCB-shared": lambda prior: LinUCB(prior, shared=True),
    "UCB": UCB,
    "TS": TS,
    "LinTS": LinTS,
    "OAM": OAM,
}
"""Policies that start with bounds or without."""
FUSED: Mapping[str, Callable[[BoundTable | None], Policy]] = {
    "Fused": Fused,
    "Fused-trusting": lambda prior: Fused(prior, doubt=0.0),
}
"""Policies that pool the logged rows."""
PCB = "-PCB"
"""Suffix of a policy that starts from bounds."""
WEIGHTS: tuple[float | str, ...] = (1, 10, 100, "counts")
"""Number of rows that an estimate of a warm start stands for."""


@dataclass(frozen=True, slots=True)
class OfflineTables:
    """What policies start from: the bounds of a log, and the two biased estimates.

    ``exact`` are bounds without sampling error, ``logged`` those of a log at 95% confidence,
    both as intervals only. ``pooled`` is the whole table, with the plan that ``Fused`` uses.
    """

    exact: BoundTable
    logged: BoundTable
    pooled: BoundTable
    cp: BoundTable
    biased: BoundTable

    @classmethod
    def from_environment(
        cls, environment: Environment, *, size: int = 30_000, seed: int = 0
    ) -> "OfflineTables":
        """Draw a log of ``size`` rows before selection, and derive bounds and estimates."""
        asked, log = (environment.graph, environment.query), environment.log(size, seed=seed)
        names = environment.graph.observed
        domain = {name: environment.list_levels(name) for name in names}
        values = _declare(environment.outcome_range)
        pooled = derive_bounds(*asked, log, domain=domain, outcome_range=values)
        whole = environment.exact_log()
        exact = derive_bounds(*asked, whole, confidence=None, outcome_range=values)
        return replace(cls.from_log(*asked, log, pooled), exact=exact.intervals_only())

    @classmethod
    def from_log(
        cls, graph: CausalGraph, query: EffectQuery | str, log: Log, bounds: BoundTable
    ) -> "OfflineTables":
        """Take a user's log: its bounds, which are both kinds, and the biased estimates."""
        plain, values = bounds.intervals_only(), _declare(bounds.outcome_range)
        cp = condition_only(graph, query, log, outcome_range=values)
        biased = adjust_for_confounding_only(graph, query, log, outcome_range=values)
        return cls(plain, plain, bounds, cp, biased)


def _declare(outcome_range: tuple[float, float]) -> tuple[float, float] | None:
    """Write a range as the option that declares it: an outcome of 0 and 1 needs none."""
    return None if outcome_range == (0, 1) else outcome_range


def make_policies(
    kinds: Sequence[str], priors: Mapping[str, BoundTable], estimates: Mapping[str, BoundTable]
) -> dict[str, Policy]:
    """Make policies without bounds and with each prior, and warm starts of LinUCB.

    The keys of ``priors`` are suffixes of a kind's name, those of ``estimates`` of ``LinUCB_``.

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
    """Make the policies with these names, such as ``LinUCB-PCB``.

    With ``exact`` they start from bounds without sampling error; ``Fused`` needs rows, so that
    it always starts from the log.
    """
    prior = offline.exact if exact else offline.logged
    estimates = {"CP": offline.cp, "Biased": offline.biased}
    known = make_policies(list(KINDS), {PCB: prior}, estimates)
    known |= {name: make(offline.pooled) for name, make in FUSED.items()}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(known)}."
            raise InvalidSimulation(f"{name} is not a policy. {hint}", option="policies")
    return {name: known[name] for name in names}
