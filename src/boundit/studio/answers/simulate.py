"""Regret of policies with and without bounds, in environments that fit the log."""

from collections.abc import Iterator

from msgspec import Struct

from boundit.core.long_work import Progress
from boundit.simulation.fit import fit_environments
from boundit.simulation.policies import OfflineTables, pick_policies
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import Line
from boundit.studio.answers.bound import CountKeeper
from boundit.studio.ask import AskedProject
from boundit.studio.errors import StudioError

ENVIRONMENTS, SEED = 5, 0
"""Number of environments that fit the log, and the seed of all draws."""
MOST_POINTS = 200
"""How many points of a curve are sent."""


class RegretCurve(Struct, frozen=True):
    """The mean regret of one policy over the rounds, with a 95 % interval at each."""

    rounds: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class PlayedPolicy(Struct, frozen=True):
    """What one policy lost by the end, and by how much less than the first."""

    policy: str
    mean: float
    low: float
    high: float
    less: float
    less_low: float
    less_high: float
    words: str


class SimulateAnswer(Struct, frozen=True):
    """Curves by policy, and what they come to."""

    sentence: str
    curves: dict[str, RegretCurve]
    policies: tuple[PlayedPolicy, ...]
    environments: str
    caption: str
    caveats: tuple[str, ...]


def answer_simulate(asked: AskedProject, _: CountKeeper, progress: Progress) -> SimulateAnswer:
    """Play policies in environments that fit the log, started from its bounds.

    A worker finds it in ``ANSWERS`` for the kind "simulate".
    """
    how = asked.project.simulate
    if not how.policies:
        raise StudioError("refused", "no policy is chosen", where="simulate.policies")
    graph, query, log = asked.graph, asked.query, asked.open_log()
    options = asked.options
    environments = fit_environments(
        graph,
        query,
        log,
        n=ENVIRONMENTS,
        seed=SEED,
        confidence=options["confidence"],
        selection_rate=options["selection_rate"],
        outcome_range=options["outcome_range"],
        domain=options["domain"],
        progress=progress,
    )
    offline = OfflineTables.from_log(graph, query, log, environments.bounds)
    players = pick_policies(how.policies, offline, exact=False)
    progress("play runs", 0, how.runs * len(environments))
    pooled = simulate(
        environments,
        players,
        rounds=how.rounds,
        runs=how.runs,
        seed=SEED,
        progress=progress,
    )
    bands = {band.policy: band for band in pooled.bands()}
    curves = dict[str, RegretCurve]()
    for name, band in bands.items():
        at = band.at.tolist()
        kept = _thin(len(at))
        curves[name] = RegretCurve(
            tuple(at[i] for i in kept),
            *(
                tuple(part.tolist()[i] for i in kept)
                for part in (band.mean, band.lower, band.upper)
            ),
        )
    finals = tuple(_describe(line, how.rounds) for line in pooled.summary())
    best = min(finals, key=lambda one: one.mean)
    return SimulateAnswer(
        f"{best.policy} loses least: {best.mean:,.1f} over {how.rounds:,} rounds on average, "
        f"in {len(environments)} environments that fit the log.",
        curves,
        finals,
        str(environments),
        pooled.caption,
        tuple(_list_unused(asked)),
    )


def _list_unused(asked: AskedProject) -> Iterator[str]:
    """List the settings that environments are not fitted to."""
    settings = asked.project.settings
    for name, given in (
        ("tables of everyone", settings.external),
        ("the selection limit", settings.selection_limit),
        ("the confounding limits", settings.confounding_limit),
        ("approximate inference", settings.inference == "approximate"),
    ):
        if given:
            yield f"{name}: not used here; environments are fitted to the log alone"


def _thin(n: int) -> list[int]:
    """Choose which points of a curve are sent, the last among them.

    >>> _thin(5), len(_thin(1_000)), _thin(1_000)[-1]
    ([0, 1, 2, 3, 4], 200, 999)
    """
    if n <= MOST_POINTS:
        return list(range(n))
    return sorted({round(i * (n - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)})


def _describe(line: Line, rounds: int) -> PlayedPolicy:
    """Say what a policy loses by the end; called by ``answer_simulate``.

    Of one run alone there is no interval.
    """
    said = f"{line.policy} loses {line.mean:,.1f} over {rounds:,} rounds on average"
    if line.mean_lower <= line.mean_upper:
        said += f", between {line.mean_lower:,.1f} and {line.mean_upper:,.1f} at 95 %"
    return PlayedPolicy(
        line.policy,
        line.mean,
        line.mean_lower,
        line.mean_upper,
        line.less,
        line.less_lower,
        line.less_upper,
        f"{said}.",
    )
