"""A log for each run: its law, what it hangs on, and who starts from it."""

import numpy as np
import pytest

from boundit.bandit.policy import Policy
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.errors import InvalidSimulation
from boundit_research.online.run_tables import FRESH, PLAIN, RunTables, make_sources
from boundit_research.online.wrong_graphs import AssumedWorld

FLIPPED = AssumedWorld.right(flipped_environment())


def test_a_run_has_its_own_log_and_the_same_one_again() -> None:
    tables, again = (RunTables(FLIPPED, 2_000, 3) for _ in range(2))
    one, two = tables.find_table(0), tables.find_table(1)

    assert one is not None
    assert two is not None
    assert one.bounds != two.bounds
    assert tables.find_table(0) is one
    found = again.find_table(0)
    assert found is not None
    assert found.bounds == one.bounds


def test_a_log_of_counts_has_the_law_of_a_drawn_one() -> None:
    """Selected rows of n: as many as are logged, each cell by its share."""
    world = paper_environment()
    counted = RunTables(AssumedWorld.right(world), 200_000, 0).draw_log(0)
    names = tuple(sorted(world.graph.observed))
    found = counted.count(names).marginalize(names).align(names)
    law = world.model.log().align(names)

    assert found.sum() == pytest.approx(200_000 * world.model.selection_rate(), rel=0.01)
    assert np.abs(found / found.sum() - law).max() < 0.004


def test_policies_start_from_their_runs_log_or_from_nothing() -> None:
    tables = RunTables(FLIPPED, 2_000, 3)
    sources = make_sources((*PLAIN, *FRESH), tables)

    assert [name for name, source in sources.items() if isinstance(source, Policy)] == [*PLAIN]
    for name in FRESH:
        source = sources[name]
        assert not isinstance(source, Policy)
        policy = source(1)
        assert policy.prior.table is not None
    with pytest.raises(InvalidSimulation, match="did you mean 'LinUCB-PCB'"):
        make_sources(("LinUCB-PBC",), tables)


def test_a_log_that_refutes_the_graph_gives_no_bounds() -> None:
    class Refuted(RunTables):
        """Tables whose log contradicts the assumed graph."""

        def find_table(self, run: int) -> None:  # noqa: ARG002
            return None

    for name, source in make_sources(tuple(FRESH), Refuted(FLIPPED, 10, 0)).items():
        assert not isinstance(source, Policy), name
        assert source(0).prior.table is None
