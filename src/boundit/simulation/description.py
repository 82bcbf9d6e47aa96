"""What was simulated, in plain records that a result carries with it."""

from collections.abc import Mapping

from boundit.bandit.policy import Policy
from boundit.simulation.options import SimulationOptions, make_policy
from boundit.simulation.world import World
from boundit.terms.saving.bound_file import compute_checksum


def describe_simulation(asked: SimulationOptions) -> dict[str, object]:
    """Describe world, policies and options as a JSON object, to be kept in ``Regret.settings``.

    Of policies that are made for each run, that of the first run.
    """
    found: dict[str, object] = {
        "world": describe_world(asked.world),
        "observed": asked.observed,
    }
    if asked.feedback is not None:
        found["feedback"] = asked.feedback.to_record()
    policies = dict[str, object]()
    for name, source in asked.policies.items():
        record = describe_policy(make_policy(name, source, 0))
        policies[name] = record if isinstance(source, Policy) else {**record, "run": 0}
    return found | {"policies": policies}


def describe_world(world: World) -> dict[str, object]:
    """Describe a world: its name, question, graph, and a checksum of its tables.

    >>> from boundit.simulation.worlds import paper_world
    >>> describe_world(paper_world())["query"]
    'P(Y | do(X1, X2), U1, U2)'
    """
    tables = {
        node: [list(table.axes), table.values.tolist()]
        for node, table in world.model.tables.items()
    }
    return {
        "name": world.name,
        "query": str(world.query),
        "graph": str(world.graph),
        "tables": compute_checksum(tables),
    }


def describe_policy(policy: Policy) -> dict[str, object]:
    """Describe a policy: its kind, options and watch; of each table its profile and checksum.

    >>> from boundit.bandit.policies.ucb import UCB
    >>> record = describe_policy(UCB(horizon=100))
    >>> record["kind"], record["prior"]
    ('UCB', None)
    """
    state = policy.state()
    monitor = _get_record(state, "monitor")
    options = dict(_get_record(state, "options"))
    if warm := _get_record(options, "warm_start"):
        options["warm_start"] = {
            "rows": warm["rows"],
            **_describe_table(_get_record(warm, "estimates")),
        }
    prior = _get_record(monitor, "prior")
    return {
        "kind": type(policy).__name__,
        "options": options,
        "prior": _describe_table(prior) if prior else None,
        "watch": monitor.get("watch"),
    }


def _get_record(record: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Look up a JSON object inside another by its name; an empty one where there is none."""
    found = record.get(name, {})
    return found if isinstance(found, Mapping) else {}


def _describe_table(record: Mapping[str, object]) -> dict[str, object]:
    """Describe a bound table by its profile, confidence and checksum."""
    names = ("profile", "confidence")
    return {name: record.get(name) for name in names} | {"checksum": compute_checksum(record)}
