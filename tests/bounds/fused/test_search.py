"""The search finds a plan where there is one, the best first, and never much too late."""

from itertools import combinations

from boundit.bounds.fused.pooled_law import LawReader
from boundit.bounds.fused.scheme import Scheme, WeightSource
from boundit.bounds.fused.search import LONGEST, MOST_LAWS, MOST_PLACES, SchemeSearch
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes
from tests.bounds.exact import questions


def find(
    graph: CausalGraph | str,
    query: EffectQuery | str,
    *,
    tables: tuple[Nodes, ...] = (),
    n_pairs: int = 4,
    levels: int = 2,
    budget: float | None = None,
) -> Scheme | None:
    drawn = parse(graph) if isinstance(graph, str) else graph
    asked = parse_query(query) if isinstance(query, str) else query
    return SchemeSearch(
        LawReader(drawn, asked, tables=tables),
        drawn.observed,
        dict.fromkeys(drawn.nodes, levels),
        n_pairs,
        TimeBudget(budget),
    ).find()


def names(scheme: Scheme | None) -> list[tuple[str, ...]]:
    assert scheme is not None
    return [factor.variables for factor in scheme.factors]


def test_nothing_is_gone_over_where_the_log_shows_the_mean_itself() -> None:
    scheme = find("C -> X; C -> Y; X -> Y; C -> [S]", "Y | do(X), C")

    assert scheme is not None
    assert (scheme.factors, scheme.source) == ((), WeightSource.ROWS)


def test_fewer_numbers_to_learn_are_better() -> None:
    """Ten contexts share what M does, and all arms what M earns."""
    graph, query = "C -> X; X -> M; M -> Y; C -> Y", "Y | do(X), C"

    few, many = (find(graph, query, levels=levels) for levels in (2, 10))

    assert few is not None
    assert many is not None
    assert few.factors == ()
    levels = {"C": 10, "X": 10, "M": 2, "Y": 2}
    reader = LawReader(parse(graph), parse_query(query))
    best = SchemeSearch(reader, frozenset("CXMY"), levels, 100).find()
    assert names(best) == [("M",)]
    assert best is not None
    assert best.rank(levels)[1] == 10 * 2 + 10


def test_a_covariate_that_moves_arm_and_weights_comes_into_the_chain() -> None:
    """FUSED (W2): W alone would be a smaller plan, and its weights no draws."""
    scheme = find("Z -> X; Z -> W; X -> W; W -> Y; X -> Y", "Y | do(X)")

    assert scheme is not None
    assert scheme.source is WeightSource.ROWS
    assert "Z" in scheme.variables


def test_variables_that_select_together_are_one_factor_with_one_tilt() -> None:
    scheme = find("X -> V; X -> W; V -> Y; W -> Y; V -> [S]; W -> [S]", "Y | do(X)")

    assert names(scheme) == [("V", "W")]
    assert scheme is not None
    assert scheme.source is WeightSource.TILT


def test_a_chain_has_a_factor_given_the_one_before() -> None:
    """Z is drawn by rows, M given Z and X too; neither alone makes cells."""
    scheme = find("Z -> X; X -> M; M -> Y; Z -> Y; Z -> M; X <-> M", "Y | do(X)")

    assert scheme is None or scheme.source is not WeightSource.ROWS
    scheme = find("Z -> X; Z -> [S]; X -> M; M -> Y; Z -> Y; M -> [S]", "Y | do(X)")
    assert scheme is not None
    assert set(scheme.variables) == {"M", "Z"}


def test_an_unselected_table_gives_the_weights() -> None:
    graph = "X -> W -> Y; W -> [S]"

    tilted, known = (
        find(graph, "Y | do(X)"),
        find(graph, "Y | do(X)", tables=(frozenset("XW"),)),
    )

    assert tilted is not None
    assert known is not None
    assert (tilted.source, known.source) == (WeightSource.TILT, WeightSource.ROWS)
    assert known.factors[0].tables == (0,)
    without_x = find(graph, "Y | do(X)", tables=(frozenset("W"),))
    assert without_x == tilted


def test_it_finds_a_plan_exactly_where_some_set_passes() -> None:
    """By going through all sets of all variables, effects of the reward among them."""
    found = 0
    for asked in questions(120, 21):
        graph, query = asked.model.graph, asked.query
        named = set(query.outcomes + query.treatments + query.context)
        reader = LawReader(graph, query)
        passing = any(
            reader.are_draws(reader.find_law(frozenset(query.outcomes), frozenset(some)))
            for size in range(LONGEST + 1)
            for some in combinations(sorted(graph.observed - named), size)
        )
        assert (find(graph, query) is not None) == passing
        found += passing
    assert 30 < found < 100


def test_the_best_of_all_schemes_is_found() -> None:
    """Without pruning by rank, and with every subset tried, nothing better comes out."""
    for asked in questions(60, 22):
        graph, query = asked.model.graph, asked.query
        levels = dict(asked.model.n_levels)
        search = SchemeSearch(LawReader(graph, query), graph.observed, levels, 4)
        best = search.find()
        if best is None:
            continue
        ranks = [scheme.rank(levels) for scheme in _list_schemes(search)]
        assert best.rank(levels) == min(ranks)


def _list_schemes(search: SchemeSearch) -> list[Scheme]:
    query = search.reader.query
    named = set(query.outcomes + query.treatments + query.context)
    free = sorted(search.reader.graph.observed - named)
    found = []
    for size in range(LONGEST + 1):
        for some in combinations(free, size):
            reward = search.reader.find_law(frozenset(query.outcomes), frozenset(some))
            if search.reader.are_draws(reward):
                for parts in _partition(some):
                    before, factors = frozenset[str](), []
                    for part in parts:
                        factors.append(search._make_factor(part, before))
                        before |= set(part)
                    found.append(Scheme(reward, tuple(factors)))
    return found


def _partition(some: tuple[str, ...]) -> list[list[tuple[str, ...]]]:
    """All ways to go over some variables in turn, one or several at a time."""
    if not some:
        return [[]]
    return [
        [first, *rest]
        for size in range(1, len(some) + 1)
        for first in combinations(some, size)
        for rest in _partition(tuple(name for name in some if name not in first))
    ]


def test_too_many_combinations_are_not_gone_over() -> None:
    graph = "X -> W -> Y; W -> [S]"

    assert find(graph, "Y | do(X)", levels=64) is not None
    assert find(graph, "Y | do(X)", levels=65) is None
    assert find(graph, "Y | do(X)", n_pairs=MOST_PLACES) is None
    assert find("X -> Y", "Y | do(X)", n_pairs=MOST_PLACES) is not None
    assert find("X -> Y", "Y | do(X)", n_pairs=MOST_PLACES + 1) is None


def test_it_stops_when_the_time_is_over() -> None:
    assert find("X -> Y", "Y | do(X)", budget=0) is None


def test_on_a_large_graph_few_laws_are_looked_at() -> None:
    """A promise of cost, counted: laws, whatever the number of variables."""
    n = 400
    edges = [(f"V{i}", f"V{i + 1}") for i in range(n)]
    more = [(f"V{i}", f"V{i + 7}") for i in range(n - 7)]
    graph = CausalGraph.of(directed=[*edges, *more, (f"V{n}", "S")], selection="S")
    query = EffectQuery((f"V{n - 1}",), ("V0",), ())
    reader = LawReader(graph, query)
    levels = dict.fromkeys(graph.nodes, 2)

    SchemeSearch(reader, graph.observed, levels, 2).find()

    assert reader.n_laws < MOST_LAWS / 10
