"""Schemes are ranked by where weights come from, then by how much there is to learn."""

from dataclasses import replace

from boundit.bounds.fused.pooled_law import LawReader
from boundit.bounds.fused.scheme import Scheme, SchemeFactor, WeightSource
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

LEVELS = {"X": 2, "V": 3, "W": 2, "Y": 2}
READER = LawReader(parse("X -> W -> Y; V -> Y; W -> [S]"), parse_query("Y | do(X)"))


def factor(names: str, source: WeightSource) -> SchemeFactor:
    law = READER.find_law(frozenset(names))
    return SchemeFactor(tuple(names), law, source)


def scheme(*factors: SchemeFactor) -> Scheme:
    names = frozenset(name for each in factors for name in each.variables)
    return Scheme(READER.find_law(frozenset("Y"), names), factors)


def test_the_worst_source_counts_first() -> None:
    many = scheme(factor("V", WeightSource.ROWS), factor("W", WeightSource.ROWS))
    few = scheme(factor("W", WeightSource.TILT))

    assert many.source is WeightSource.ROWS
    assert scheme().source is WeightSource.ROWS
    assert many.rank(LEVELS) < few.rank(LEVELS)
    assert (
        scheme(factor("W", WeightSource.ROUNDS), factor("V", WeightSource.ROWS)).source
        is WeightSource.ROUNDS
    )


def test_then_the_means_of_cells_and_the_weights_of_pools() -> None:
    _, n_unknown, n_factors, names = scheme(factor("W", WeightSource.TILT)).rank(LEVELS)

    assert factor("W", WeightSource.TILT).count_unknown(LEVELS) == 2 * (2 - 1)
    assert factor("V", WeightSource.TILT).count_unknown(LEVELS) == 1 * (3 - 1)
    assert (n_unknown, n_factors, names) == (2 + 2, 1, ("W",))


def test_reasons_name_what_is_shared_and_what_must_hold() -> None:
    cells, pooling, rounds = scheme(factor("W", WeightSource.TILT)).list_reasons()

    assert cells.startswith("rows and rounds with the same W have one mean of Y")
    assert "Rule 3: drop do(X)" in pooling
    assert "chosen by the context" in rounds
    assert factor("W", WeightSource.ROUNDS).explain("so it is") == (
        "P(W | do(X)) is learned from rounds alone: so it is; P(W | do(X)) depends on X"
    )
    assert "one tilt by W" in factor("W", WeightSource.TILT).explain("so it is")
    assert factor("W", WeightSource.ROWS).explain("").startswith("rows of the log are draws")
    *_, unused = scheme(factor("W", WeightSource.TILT)).list_reasons(n_external=1)
    assert unused.startswith("1 external table of rows: not counted")
    external = replace(factor("W", WeightSource.ROWS), tables=(0,))
    assert external.explain("").startswith("rows of an external table are draws")
    assert len(scheme(external).list_reasons(n_external=1)) == 3
    (alone, *_) = Scheme(READER.find_law(frozenset("V"))).list_reasons()
    assert "whatever else they hold" in alone
