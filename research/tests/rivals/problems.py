"""Small problems that rivals are tried on: an environment, its bounds and its log's means."""

from functools import cache

from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import condition_only
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)


@cache
def make_problem(name: str) -> tuple[Environment, BoundTable, BoundTable]:
    """An environment, with the bounds of a log of it and the means of the log's rows."""
    made = {
        "paper": paper_environment(),
        "flipped": flipped_environment(),
        "random": random_environment(3),
    }[name]
    log = made.log(1_500, seed=4)
    bounds = derive_bounds(made.graph, made.query, log).intervals_only()
    return made, bounds, condition_only(made.graph, made.query, log)
