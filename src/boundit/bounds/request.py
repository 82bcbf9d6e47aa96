"""What ``derive_bounds`` is asked: the question, the opened logs and every option, checked."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from os import PathLike
from typing import Literal, TypeAlias, Unpack, get_args

from boundit.bounds.confounding_limits import NO_LIMITS, ConfoundingLimits
from boundit.bounds.evidence import read_range
from boundit.bounds.models.estimators import load_scikit_learn
from boundit.bounds.models.options import Models, read_models
from boundit.bounds.options import DeriveOptions, complete
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.errors import BounditError, OptionError, QueryError, ReservedName, shorten
from boundit.core.long_work import read_time_limit
from boundit.core.message import ANY, Option
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.log import Log, read_log
from boundit.counts.memory import read_memory_limit
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.read import GraphLike, require_graph
from boundit.results.bound import MEASURES, Goal, read_goal
from boundit.results.sampling import ROWS, Inference

Profile: TypeAlias = Literal["sound", "paper"]
OUTCOME_IS_BINARY = (None, (0, 1))
"""Ranges of an outcome that may be a 0/1 variable.

With another range an outcome of two values still counts as the probability of a success, which
causes nothing of what the outcome causes: values between may exist that were never logged.
"""


class UnknownProfile(BounditError):
    """A profile that is none of ours."""

    def __init__(self, found: object) -> None:
        known = ", ".join(get_args(Profile))
        super().__init__(f"no profile {found!r}; there are {known}", option="profile")


class UnknownInference(BounditError):
    """A way to allow for chance that is none of ours."""

    def __init__(self, found: object) -> None:
        known = ", ".join(get_args(Inference))
        super().__init__(f"no inference {found!r}; there are {known}", option="inference")


class NoConfidence(BounditError):
    """A confidence that is none, or that an exact law has no use for."""


class NotABanditQuestion(QueryError):
    """A query that no arm and context answer."""


@dataclass(frozen=True, eq=False)
class BoundRequest:
    """A question, the graph to plan on, the opened logs, and the options, all of them checked.

    ``confidence`` is None for plug-in ends; the other options are as ``derive_bounds`` has
    them.
    """

    graph: CausalGraph
    query: EffectQuery
    log: Log
    external: tuple[Log, ...]
    profile: Profile
    confidence: float | None
    inference: Inference
    facts: SelectionFacts
    outcome_range: tuple[float, float] | None
    domain: Mapping[str, Sequence[object]]
    max_condition: int
    time_limit: float | None
    memory_limit: int
    cluster: str | None = None
    limits: ConfoundingLimits = NO_LIMITS
    models: Models | None = None
    goal: Goal = "max"

    @property
    def tables(self) -> list[Nodes]:
        """The variables of the graph that each external log measures without selection.

        Rules may use these laws as the population's.
        """
        return [frozenset(other.columns) & self.graph.observed for other in self.external]

    @property
    def units(self) -> str:
        """What the log is made of, as the promise of a confidence says it."""
        if any(log.adaptive for log in (self.log, *self.external)):
            return "rows that a policy chose while it learned"
        return ROWS if self.cluster is None else f"independent clusters by {self.cluster}"

    def under(self, graph: CausalGraph) -> "BoundRequest":
        """Make the same request on another graph, checked."""
        read_bandit_query(graph, self.query)
        self.facts.require_in(graph)
        limits = ConfoundingLimits.from_option(self.limits.by_edge, graph)
        if self.outcome_range not in OUTCOME_IS_BINARY:
            graph = hide_reward(graph, self.query.outcomes[0])
        return replace(self, graph=graph, limits=limits)

    def with_sensitivity(self, limit: float) -> "BoundRequest":
        """Make the same request with another selection limit, checked."""
        facts = SelectionFacts.from_options(
            selection_rate=self.facts.rate, selection_limit=limit
        )
        facts.require_in(self.graph)
        return replace(self, facts=facts)

    def with_confounding(self, edge: str, limit: float) -> "BoundRequest":
        """Make the same request with another limit on one edge, checked; infinite: without one."""
        given = dict(self.limits.by_edge)
        (name,) = ConfoundingLimits.from_option({edge: 1}, self.graph).by_edge
        given.pop(name, None)
        if limit != inf:
            given[name] = limit
        return replace(self, limits=ConfoundingLimits.from_option(given, self.graph))


def read_request(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    **options: Unpack[DeriveOptions],
) -> BoundRequest:
    """Check the question and every option, then open the logs; no row is read.

    The options are those of ``derive_bounds``.
    """
    graph, found = require_graph(graph), complete(options)
    profile, inference = found["profile"], found["inference"]
    if profile not in get_args(Profile):
        raise UnknownProfile(profile)
    if inference not in get_args(Inference):
        raise UnknownInference(inference)
    asked = read_bandit_query(graph, query)
    confidence = None if profile == "paper" else found["confidence"]
    require_confidence(confidence)
    check_limits(
        max_condition=found["max_condition"],
        time_limit=found["time_limit"],
        domain=found["domain"],
    )
    memory = read_memory_limit(found["memory_limit"])
    facts, limits = NOTHING_KNOWN, NO_LIMITS
    if found["selection_rate"] is not None or found["selection_limit"] is not None:
        facts = SelectionFacts.from_options(
            selection_rate=found["selection_rate"], selection_limit=found["selection_limit"]
        )
        facts.require_in(graph)
    if found["confounding_limit"] is not None:
        limits = ConfoundingLimits.from_option(found["confounding_limit"], graph)
        if limits and profile == "paper":
            paper = Option("profile", "paper")
            raise OptionError(
                paper, " knows no ", Option("confounding_limit"), "; leave it out"
            )
    outcome_range, planned = found["outcome_range"], graph
    if outcome_range is not None:
        outcome_range = read_range(outcome_range)
        if outcome_range not in OUTCOME_IS_BINARY:
            planned = hide_reward(graph, asked.outcomes[0])
    opened, others = read_log(log), list[Log]()
    if found["external"] != ():
        others = open_external_logs(graph, found["external"])
    models = None
    if found["models"] is not None:
        models = _read_models(found["models"], profile, inference, opened)
    if found["cluster"] is not None:
        opened.find_cluster(found["cluster"])
    if inference == "approximate":
        _require_chance(profile, confidence, (opened, *others))
    if confidence is not None and all(table.exact for table in (opened, *others)):
        none = Option("confidence", None)
        raise NoConfidence("an exact law has no sampling error; pass ", none)
    return BoundRequest(
        planned,
        asked,
        opened,
        tuple(others),
        profile,
        confidence,
        inference,
        facts,
        outcome_range,
        found["domain"] or {},
        found["max_condition"],
        found["time_limit"],
        memory,
        found["cluster"],
        limits,
        models,
        read_goal(found["goal"]),
    )


def _read_models(given: object, profile: Profile, inference: Inference, log: Log) -> Models:
    """Read the option ``models``, which goes with rows and approximate inference alone."""
    models = read_models(given)
    if profile == "paper":
        paper = Option("profile", "paper")
        raise OptionError(paper, " knows no ", Option("models"), "; leave them out")
    if inference != "approximate":
        raise OptionError(
            "intervals by ",
            Option("models"),
            " are approximate; pass ",
            Option("inference", "approximate"),
        )
    if log.exact:
        raise OptionError("an exact law has no rows to fit ", Option("models"), " on")
    load_scikit_learn()
    return models


def _require_chance(profile: Profile, confidence: float | None, logs: Collection[Log]) -> None:
    """Refuse approximate intervals where there is no chance that they could allow for."""
    approximate = Option("inference", "approximate")
    if all(log.exact for log in logs):
        raise NoConfidence("an exact law has no sampling error; leave out ", approximate)
    if any(log.adaptive for log in logs):
        raise NoConfidence(
            "a log that a learning policy wrote has exact intervals alone; leave out ",
            approximate,
        )
    if profile == "paper":
        paper = Option("profile", "paper")
        raise NoConfidence(paper, " neglects sampling error; leave out ", approximate)
    if confidence is None:
        some = Option("confidence", 0.95)
        raise NoConfidence(approximate, " allows for sampling error; pass a chance as ", some)


def require_confidence(confidence: float | None) -> None:
    """Refuse a ``confidence`` option that is neither None nor a number between 0 and 1."""
    if confidence is not None and not (
        isinstance(confidence, int | float) and 0 < confidence < 1
    ):
        raise NoConfidence(
            Option("confidence"),
            f" must be a chance such as 0.95, or None, found {confidence!r}",
        )


def read_bandit_query(graph: CausalGraph, query: EffectQuery | str) -> EffectQuery:
    """Read and check a query: it asks for one reward, under arms, in contexts known beforehand."""
    asked = query if isinstance(query, EffectQuery) else parse_query(query)
    asked.require_in(graph)
    if len(asked.outcomes) != 1:
        shown = ", ".join(asked.outcomes)
        raise NotABanditQuestion(f"bounds are for one reward, found {shown}; ask for one")
    if not asked.treatments:
        raise NotABanditQuestion(f"{asked} has no treatment; write the arms as do(...)")
    for name in asked.treatments + asked.context:
        if name in MEASURES:
            raise ReservedName(name, MEASURES)
    late = graph.descendants(asked.treatments).intersection(asked.context)
    if late:
        raise NotABanditQuestion(
            f"the context {sort_names(late)[0]!r} is an effect of the treatments; "
            "a context is known before the arm is chosen"
        )
    return asked


def hide_reward(graph: CausalGraph, outcome: str) -> CausalGraph:
    """Redraw the graph for the success that stands for a reward that is no 0/1 variable.

    The success follows the reward and causes nothing; the reward itself is then hidden. Where
    the reward causes nothing either, the graph stays as it is.

    >>> from boundit.graph.text import parse
    >>> print(hide_reward(parse("X -> Y -> [S]"), "Y"))
    X -> [S]; X -> Y; [S] <-> Y
    """
    if not graph.links[outcome].children:
        return graph
    hidden = f"{outcome} itself"
    names = {outcome: hidden}
    drawn = CausalGraph.of(
        [names.get(n, n) for n in graph.nodes],
        directed=[
            *((names.get(a, a), names.get(b, b)) for a, b in graph.directed),
            (hidden, outcome),
        ],
        bidirected=[(names.get(a, a), names.get(b, b)) for a, b in graph.bidirected],
        selection=graph.selection,
    )
    return project(drawn, hidden)


def check_limits(*, max_condition: object, time_limit: object, domain: object) -> None:
    """Refuse bad options: limits that are no numbers or negative, a domain without names."""
    if (
        not isinstance(max_condition, int)
        or isinstance(max_condition, bool)
        or max_condition < 0
    ):
        raise OptionError(
            Option("max_condition"),
            f" must be a whole number from 0 on, found {max_condition!r}",
        )
    read_time_limit(time_limit)
    if domain is not None and not isinstance(domain, Mapping):
        shown = shorten(repr(domain), 40)
        raise OptionError(
            Option("domain"), f" must be a mapping such as {{'X': [0, 1]}}, found {shown}"
        )


def open_external_logs(graph: CausalGraph, sources: Iterable[object]) -> list[Log]:
    """Open the logs of unselected rows that users pass beside the selected one.

    Each must hold variables of the graph.
    """
    alone = isinstance(sources, str | PathLike | Mapping | Log) or hasattr(sources, "columns")
    if alone or not isinstance(sources, Iterable):
        found = type(sources).__name__
        raise OptionError(
            Option("external"), f" must be a list of tables, as in [table], found {found}"
        )
    opened = [read_log(source) for source in sources]
    for log in opened:
        if not graph.observed.intersection(log.columns):
            has, wanted = shorten(", ".join(log.columns)), shorten(join_names(graph.observed))
            raise OptionError(
                f"{log.source.label}, given as ",
                Option("external", ANY),
                f", has {has}, none of which is in the graph ({wanted})",
            )
    return opened
