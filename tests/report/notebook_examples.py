"""One of everything that shows itself in a notebook, with names that must be escaped."""

from functools import cache

import boundit as bd

ODD = "<b>B</b> & $5, $7"


@cache
def make_odd_bounds() -> bd.BoundTable:
    """A table whose names and levels are hostile."""
    rows = [
        {"<i>Ad</i>": arm, "Age": age, "lower": 0.1 + k / 4, "upper": 0.3 + k / 4}
        for k, arm in enumerate(("A", ODD))
        for age in ("young", "old</script><script>alert(1)</script>")
    ]
    names = {"outcome": "Click<", "treatments": ["<i>Ad</i>"], "context": ["Age"]}
    return bd.BoundTable.from_rows(rows, outcome_range=(0, 1), **names)  # type: ignore[arg-type]


@cache
def make_results() -> dict[str, object]:
    """Everything that has a ``_repr_html_``."""
    world = bd.simulation.flipped_environment()
    graph, query, log = world.graph, world.query, world.log(2000, seed=1)
    bounds = bd.derive_bounds(graph, query, log)
    policies: dict[str, bd.Policy] = {"LinUCB": bd.LinUCB(), "Fused": bd.Fused(prior=bounds)}
    return {
        "graph": bd.parse_graph('"<b>X</b>" -> Y; "<b>X</b>" <-> Y; Y -> [S]'),
        "bounds": bounds,
        "odd bounds": make_odd_bounds(),
        "recovery": bd.identify("X -> M -> Y; X <-> Y", "Y | do(X)"),
        "no recovery": bd.identify("X -> Y; X <-> Y", "Y | do(X)"),
        "check": bd.check("U -> X1; Z -> Y; X2", log),
        "choice": bounds.choose(),
        "odd choice": make_odd_bounds().choose(),
        "decision": bd.Fused(prior=bounds, seed=1).decide(bounds.contexts[0], id="<7>"),
        "comparison": bd.compare(bounds, bounds.choose(), bounds.arms[0]),
        "stress": bd.stress(graph, query, log),
        "suggestions": bd.suggest(graph, query, log, trial_size=100),
        "worlds": bd.fit_environments(graph, query, log, n=1),
        "sensitivity": bd.sensitivity(graph, query, log, limit="selection", values=(1.5, 3, 6)),
        "regret": bd.simulate(world, policies, rounds=60, runs=4, seed=0),
    }
