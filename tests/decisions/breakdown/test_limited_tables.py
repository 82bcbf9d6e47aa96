"""Tables under growing limits: derived once each, the log counted once."""

from math import inf

import pytest

from boundit.bounds.request import read_request
from boundit.decisions.breakdown.claims import Earns
from boundit.decisions.breakdown.limited_tables import LimitedClaim, LimitedTables
from boundit.graph.text import parse
from tests.decisions.breakdown.logs import BOW, make_law

LAW = make_law([0.6, 0.4], [0.3, 0.6])


def read_tables(of: str = "X <-> Y") -> LimitedTables:
    request = read_request(BOW, "Y | do(X)", LAW, confidence=None, confounding_limit={of: 2})
    return LimitedTables.read(request, of)


def test_a_table_is_derived_once_and_counts_are_kept() -> None:
    told = list[str]()
    tables = read_tables()
    tables.progress = lambda what, *_: told.append(what)

    one, again, other = tables.find(1.5), tables.find(1.5), tables.find(inf)

    assert one is again
    assert one is not None
    assert other is not None
    assert one.confounding_limit == {"X <-> Y": 1.5}
    assert other.confounding_limit == {}
    assert told == ["bound under the limit 1.5", "bound under the limit inf"]
    assert tables.stated == 2.0


def test_a_limit_that_the_log_contradicts_proves_everything() -> None:
    tables = read_tables()
    tables.tables[1.0] = None
    claim = LimitedClaim(tables, Earns(1, 0.99))

    assert claim.is_proved(1.0)
    assert not claim.is_proved(2.0)


def test_the_number_at_a_limit_is_at_least_that_at_a_larger_one() -> None:
    claim = LimitedClaim(read_tables(), Earns(1, 0.5), {4.0: 0.7, 8.0: 0.2})

    assert claim.measure(2.0) == 0.7
    assert claim.measure(8.0) == 0.2


def test_selection_is_limited_and_freed() -> None:
    graph = parse("X -> Y -> [S]")
    request = read_request(graph, "Y | do(X)", LAW, confidence=None, selection_rate=0.5)
    tables = LimitedTables.read(request, "selection")

    assert tables.limit(2.0).facts.limit == 2.0
    assert tables.limit(inf).facts.limit is None
    assert tables.limit(inf).facts.rate == (0.5, 0.5)
    assert tables.stated == 1.0


def test_an_edge_is_named_as_the_graph_does() -> None:
    assert read_tables("Y <-> X").of == "X <-> Y"
    with pytest.raises(Exception, match="must name an edge"):
        LimitedTables.read(read_tables().request, "X")


def test_the_time_is_for_all_tables() -> None:
    """What no time was left for is wider, and proves nothing that was not proved."""
    request = read_request(
        BOW, "Y | do(X)", LAW, confidence=None, confounding_limit={"X <-> Y": 2}, time_limit=0
    )
    tables = LimitedTables.read(request, "X <-> Y")
    one, whole = tables.find(1.5), read_tables().find(1.5)

    assert one is not None
    assert whole is not None
    assert one[1, ()].lower <= whole[1, ()].lower
    assert one[1, ()].upper >= whole[1, ()].upper
    assert tables.budget.is_over()
