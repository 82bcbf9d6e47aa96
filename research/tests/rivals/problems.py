"""Small problems that rivals are tried on: a world, its bounds and its log."""

from functools import cache

from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import condition_only
from boundit.simulation.world import World
from boundit.simulation.worlds import flipped_world, paper_world, random_world
from boundit.terms.bound_table import BoundTable
from boundit_research.rivals.facts import PairFacts


@cache
def make_problem(name: str) -> tuple[World, BoundTable, PairFacts]:
    """A world with the bounds of a log of it, and what rivals are told of both."""
    worlds = {"paper": paper_world(), "flipped": flipped_world(), "random": random_world(3)}
    world = worlds[name]
    log = world.log(1_500, seed=4)
    bounds = derive_bounds(world.graph, world.query, log)
    return world, bounds, PairFacts.of(bounds, condition_only(world.graph, world.query, log))
