"""The whole of the offline half: what holds of every table of bounds."""

from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from boundit.bounds.count import PlanCounts
from boundit.bounds.derive import derive_bounds, derive_table
from boundit.bounds.plan import plan_bounds
from boundit.bounds.request import NoConfidence, read_request
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.table import CROSSED, EndsCross
from boundit.core.errors import BounditError, OptionError, OutsideDomain
from boundit.core.interval import Interval
from boundit.core.names import Nodes
from boundit.counts.log import Log, read_log
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import NEVER_LOGGED
from boundit.simulation.environments import make_paper_model, paper_environment
from boundit.simulation.scm import SCM
from tests.bounds.core import make_run
from tests.bounds.exact import as_log, ends, questions
from tests.paper import TABLE_1_ROWS

GOLDEN = Path(__file__).parents[1] / "golden" / "files"
CONFOUNDED = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
MEDIATED = parse("Z -> X -> M -> Y; Z -> Y")
ROWS: dict[str, list[object]] = {
    "Z": [0, 0, 1, 1, 0, 1],
    "X": [0, 1, 0, 1, 1, 0],
    "Y": [0, 1, 1, 1, 0, 0],
}


def test_the_papers_table_is_what_its_probabilities_imply() -> None:
    """Appendix, Table 1: 16 rows; the worst case over I1 brackets the effect in each.

    It is not sharp: the instrumental inequality by X1 narrows some rows further.
    """
    model, world = make_paper_model(), paper_environment()
    logged = model.log().condition_on(("X1", "X2", "U1", "U2", "I1")).at({"Y": 1})
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    chains = find_chains(world.graph, world.query).rules
    (worst_case,) = (chain for chain in chains if chain.name == "worst case over I1")
    low, high = worst_case.bound(make_run(model, world.query))

    for row in TABLE_1_ROWS:
        arm, context = (row["X1"], row["X2"]), (row["U1"], row["U2"])
        by_mediator = logged.at(row).values
        place = tuple(row[name] for name in ("X1", "X2", "U1", "U2"))
        assert low[place] == pytest.approx(by_mediator.min(), abs=1e-9)
        assert high[place] == pytest.approx(by_mediator.max(), abs=1e-9)
        found = table[arm, context]
        assert low[place] - 1e-9 <= found.lower < world.mean(arm, context)
        assert world.mean(arm, context) < found.upper <= high[place] + 1e-9
    assert len(table.intervals) == 16


def test_the_first_row_is_explained() -> None:
    world = paper_environment()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)

    said = f"{table.explain(arm=(0, 0), context=(0, 0))}\n"

    assert said == (GOLDEN / "explain_paper_row_1.txt").read_text()


def test_the_printed_method_says_nothing_of_its_own_example() -> None:
    """Figure 2: no c-factor of the reward and no substitute is recovered, so [0, 1]."""
    world = paper_environment()
    table = derive_bounds(world.graph, world.query, world.exact_log(), profile="paper")

    assert {(b.lower, b.upper) for b in table.bounds.values()} == {(0.0, 1.0)}
    said = "critical: P(context) was read from the selected rows, not the population"
    assert said in table.caveats
    assert "whole range (both bounds)" in str(table.explain((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("n", "seed", "zeros", "worth"),
    [(35, 1, 0.0, 2), (35, 2, 0.3, 2), (20, 3, 0.9, 2), (25, 4, 0.0, 3), (25, 5, 0.3, 3)],
)
def test_no_bound_misses_the_truth(n: int, seed: int, zeros: float, worth: int) -> None:
    """Exact laws in: zeros in the tables, rewards of three levels with effects of their own.

    ``boundit audit`` asks the same of ten thousand models.
    """
    for asked in questions(n, seed, zeros=zeros, worth=worth):
        truth = asked.truth()
        lower, upper = ends(asked.bounds(*asked.tables), truth.shape)

        missed = (truth < lower - 1e-9) | (truth > upper + 1e-9)
        assert not missed.any(), (asked.model, asked.query, asked.tables)


@pytest.mark.parametrize(
    ("n", "seed", "zeros"),
    [
        (6, 7, 0.2),
        *(pytest.param(35, 6, zeros, marks=pytest.mark.full) for zeros in (0.0, 0.2)),
    ],
)
def test_more_information_never_widens_a_bound(n: int, seed: int, zeros: float) -> None:
    """Adding unselected tables one by one: every interval lies within the one before it."""
    for asked in questions(n, seed, zeros=zeros, selection=True):
        shape = asked.truth().shape
        tables = asked.tables
        lower, upper = ends(asked.bounds(), shape)
        for k in range(1, len(tables) + 1):
            low, high = ends(asked.bounds(*tables[:k]), shape)
            assert (low >= lower - 1e-9).all()
            assert (high <= upper + 1e-9).all()
            lower, upper = low, high
        again = ends(asked.bounds(*reversed(tables)), shape)
        assert np.allclose(lower, again[0])
        assert np.allclose(upper, again[1])


def test_a_reward_with_effects_and_a_wider_range_is_not_taken_for_its_success() -> None:
    """Z depends on Y, not on a success half as often as Y is 1."""
    model = SCM(
        parse("X; Y -> Z; Y -> [S]"),
        {
            "X": ([], 0.5),
            "Y": ([], 0.3),
            "Z": (["Y"], [0.2, 0.7]),
            "S": (["Y"], [0.9, 0.2]),
        },
    )
    log, everyone = as_log(model.log()), as_log(model.distribution("Y"))
    asked = {"external": [everyone], "confidence": None}
    known = derive_bounds(model.graph, "Y | do(X), Z", log, **asked)  # type: ignore[arg-type]
    wider = derive_bounds(
        model.graph,
        "Y | do(X), Z",
        log,
        outcome_range=(0, 2),
        external=[everyone],
        confidence=None,
    )

    assert known[1, 1].lower == pytest.approx(0.6)
    assert 0.6 in wider[1, 1]


def test_numeric_rewards_are_bounded_on_their_own_scale() -> None:
    columns = ROWS | {"Y": [0, 20, 15, 5, -10, 0]}
    table = derive_bounds(
        CONFOUNDED, "Y | do(X), Z", columns, confidence=None, outcome_range=(-10, 30)
    )

    assert table[1, 0] == Interval(5.0, 5.0)
    assert table[0, 1] == Interval(7.5, 7.5)
    assert derive_bounds(
        CONFOUNDED, "Y | do(X)", columns, confidence=None, outcome_range=(-10, 30)
    )[0, ()] == Interval(0.0, 7.5)


def test_levels_keep_the_type_they_have_in_the_log() -> None:
    columns = {
        "Z": [date(2024, 1, 1), date(2024, 1, 2)] * 3,
        "X": ["a", "b", "b", "a", "a", "b"],
        "Y": [True, False, True, False, False, True],
    }
    table = derive_bounds(CONFOUNDED, "Y | do(X), Z", columns, confidence=None)

    assert table.arms == (("a",), ("b",))
    assert table.contexts == ((date(2024, 1, 1),), (date(2024, 1, 2),))
    assert table["b", date(2024, 1, 1)] == table[("b",), (date(2024, 1, 1),)]
    flags = derive_bounds(CONFOUNDED, "Y | do(X)", ROWS | {"X": [True, False] * 3})
    assert flags.arms == ((False,), (True,))
    assert flags[True, ()] == flags[1, ()]


def test_text_is_no_number_and_the_error_says_so() -> None:
    table = derive_bounds(CONFOUNDED, "Y | do(X), Z", ROWS)

    with pytest.raises(OutsideDomain, match=r"no level '1' \(str\); did you mean 1 \(int\)\?"):
        _ = table["1", 0]


def test_a_declared_level_that_was_never_logged_gets_the_range_and_a_mark() -> None:
    domain = {"X": [0, 1, 2], "Z": [7]}
    table = derive_bounds(CONFOUNDED, "Y | do(X), Z", ROWS, domain=domain, confidence=None)

    assert table[2, 0] == table[0, 7] == Interval(0.0, 1.0)
    assert table.bounds[(2,), (0,)].marks == (NEVER_LOGGED,)
    assert NEVER_LOGGED in str(table.explain(2, 0))
    assert table[1, 1] == Interval(1.0, 1.0)


def test_rows_with_nulls_are_dropped_and_the_table_says_so() -> None:
    table = derive_bounds(CONFOUNDED, "Y | do(X)", ROWS | {"Z": [0, 0, 1, None, 0, 1]})

    assert any("with a null were dropped: Z (1)" in note for note in table.caveats)


def test_a_wrong_graph_is_refuted_by_an_exact_law() -> None:
    """The graph denies that X acts on Y past M: the ways by Z and by M then differ."""
    model = SCM.of(
        {
            "Z": ([], 0.5),
            "X": (["Z"], [0.2, 0.7]),
            "M": (["X"], [0.3, 0.6]),
            "Y": (["M", "Z", "X"], lambda m, z, x: 0.1 + 0.2 * m + 0.1 * z + 0.5 * x),
        }
    )

    with pytest.raises(EndsCross) as caught:
        derive_bounds(MEDIATED, "Y | do(X)", as_log(model.distribution()), confidence=None)

    said = str(caught.value)
    assert "\n" not in said
    assert "the data refute the graph" in said
    assert all(f"X={x}" in said for x in (0, 1))
    assert len(caught.value.rows) == 2
    for row in caught.value.rows:  # the two rules that exclude each other, not one twice
        one, other = row.partition("(")[2].rstrip(")").split(" against ")
        assert one != other


def test_plug_in_ends_that_cross_leave_the_narrowest_rule_and_a_mark() -> None:
    """Few rows of a graph that holds: rules differ by chance."""
    columns = {
        "Z": [0, 0, 0, 1, 1, 1, 0, 1, 0, 1],
        "X": [0, 1, 0, 1, 0, 1, 1, 0, 0, 1],
        "M": [0, 0, 1, 1, 0, 1, 1, 1, 0, 0],
        "Y": [0, 1, 1, 1, 0, 0, 1, 1, 0, 1],
    }
    table = derive_bounds(MEDIATED, "Y | do(X)", columns, confidence=None)

    marked = [bound for bound in table.bounds.values() if CROSSED in bound.marks]
    assert marked
    for bound in marked:
        assert bound.lower_rule == bound.upper_rule
        assert bound.lower <= bound.upper


def test_crossing_ends_are_noise_when_an_external_table_was_counted() -> None:
    model = make_paper_model()
    few = {"U1": [0, 1, 1], "U2": [0, 0, 1], "I1": [1, 0, 1], "X1": [0, 0, 1]}

    table = derive_bounds(
        model.graph,
        "Y | do(X1, X2), U1, U2",
        as_log(model.log()),
        external=[few],
        confidence=None,
    )

    assert len(table.bounds) == 16


def test_without_selection_the_log_outweighs_a_small_table() -> None:
    """A table of two rows must not replace what a thousand rows say."""
    graph = parse("Z -> X -> Y; Z -> Y")
    columns = {name: column * 50 for name, column in ROWS.items()}
    alone = derive_bounds(graph, "Y | do(X)", columns, confidence=None)
    beside = derive_bounds(graph, "Y | do(X)", columns, external=[{"Z": [1]}], confidence=None)

    assert alone.rows() == beside.rows()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"query": "Y, Z | do(X)"}, "bounds are for one reward"),
        ({"query": "Y | Z"}, "has no treatment"),
        ({"query": "Z | do(X), Y"}, "is an effect of the treatments"),
        ({"query": 5}, "a query is read from text such as"),
        (
            {"log": ROWS | {"Y": [0, 1, 2, 1, 0, 1]}},
            "Declare its possible range with outcome_range",
        ),
        ({"outcome_range": (0, 0.5)}, "outside outcome_range"),
        ({"outcome_range": (1, 0)}, "low < high"),
        ({"profile": "best"}, "no profile 'best'"),
        ({"domain": ["X"]}, "domain must be a mapping"),
        ({"domain": {"X": ["1"]}}, "both 1 and '1'"),
        ({"domain": {"Q": [1]}}, "no node 'Q'"),
        ({"max_condition": -1}, "max_condition must be a whole number"),
        ({"time_limit": "soon"}, "time_limit must be seconds"),
        ({"external": "pop.csv"}, "external must be a list of tables"),
        ({"external": read_log(ROWS)}, "external must be a list of tables"),
        ({"external": [{"Q": [1]}]}, "none of which is in the graph"),
        ({"external": [{"Z": ["0", "1"]}]}, "both 0 and '0'"),
        ({"log": {"X": [0], "Y": [1]}}, "no column 'Z'"),
        ({"log": ROWS | {"S": [1, 1, 0, 1, 1, 1]}}, "Filter the log to S = 1"),
        ({"log": ROWS | {"Y": list("abcabc")}}, "which cannot be added up"),
    ],
)
def test_bad_input_gets_one_clear_line(change: dict[str, object], said: str) -> None:
    asked: dict[str, object] = {"graph": CONFOUNDED, "query": "Y | do(X)", "log": ROWS}

    with pytest.raises(BounditError) as caught:
        derive_bounds(**(asked | change))  # type: ignore[arg-type]

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_time_limit_leaves_holds_and_says_so() -> None:
    world = paper_environment()
    table = derive_bounds(
        world.graph, world.query, world.exact_log(), confidence=None, time_limit=0
    )

    assert all(world.mean(*key) in table[key] for key in table.bounds)
    assert any(
        note.startswith("skipped: part of the search for rules, because time_limit=0 s")
        for note in table.caveats
    )


def test_a_level_that_selection_hides_is_warned_of_and_counts_once_declared() -> None:
    """M = 2 is never logged: without it the interval misses, with it nothing is known."""
    model = SCM.of(
        {
            "X": ([], 0.5),
            "M": (["X"], [[0.3, 0.3, 0.4], [0.2, 0.2, 0.6]]),
            "Y": (["M"], [0.2, 0.4, 1.0]),
            "S": (["M"], [0.5, 0.5, 0.0]),
        },
        selection="S",
    )
    law = model.log()
    seen = [(*place, share) for place, share in np.ndenumerate(law.values) if share > 0]
    columns = dict(zip((*law.axes, "share"), map(list, zip(*seen, strict=True)), strict=True))
    log = read_log(columns, weight="share", exact=True)
    short = derive_bounds(model.graph, "Y | do(X)", log, confidence=None)
    whole = derive_bounds(model.graph, "Y | do(X)", log, confidence=None, domain={"M": [2]})
    truth = float(model.effect(outcomes="Y", treatments="X").at({"X": 0, "Y": 1}))

    assert truth not in short[0, ()]
    assert any("M has no values besides" in note for note in short.caveats)
    assert whole[0, ()].width == 1
    assert not any(note.kind == "assumes" for note in whole.caveats)


@pytest.mark.parametrize("arm", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_what_is_known_of_selection_narrows_and_still_holds(arm: tuple[int, int]) -> None:
    """3.5 on the paper's model: selection rate .47625, reweighting at most 4.7625."""
    world = paper_environment()
    rate = world.model.selection_rate()
    tables = [
        derive_bounds(world.graph, world.query, world.exact_log(), confidence=None, **facts)
        for facts in (
            {},
            {"selection_rate": (0.2, 0.9)},
            {"selection_rate": rate},
            {"selection_rate": rate, "selection_limit": 4.7625 + 1e-9},
        )
    ]

    for context in world.means():
        key = arm, context[1]
        truth = world.mean(*key)
        widths = [table[key].width for table in tables]
        assert all(t[key].lower - 1e-9 <= truth <= t[key].upper + 1e-9 for t in tables)
        assert all(more <= less + 1e-6 for less, more in pairwise(widths))
        assert widths[2] < 0.7 * widths[0]


def test_with_the_rate_known_all_arms_but_the_best_are_dominated() -> None:
    """3.8 on the paper's model: 12 of 16 pairs."""
    world = paper_environment()
    log, rate = world.exact_log(), world.model.selection_rate()

    free = derive_bounds(world.graph, world.query, log, confidence=None)
    known = derive_bounds(world.graph, world.query, log, confidence=None, selection_rate=rate)

    assert [len(t.ruled_out(c)) for t in (free, known) for c in t.contexts] == [2] * 4 + [3] * 4


def test_facts_that_no_population_could_have_are_refused() -> None:
    world = paper_environment()
    survey = read_log({"I1": [0, 1], "share": [0.9, 0.1]}, weight="share", exact=True)

    with pytest.raises(FactsRefuted, match="selection limit"):
        derive_bounds(
            world.graph,
            world.query,
            world.exact_log(),
            confidence=None,
            external=[survey],
            selection_limit=1.1,
        )


@pytest.mark.parametrize(
    "facts", [{"selection_rate": 0}, {"selection_rate": (0.6, 0.3)}, {"selection_limit": 0.5}]
)
def test_facts_that_make_no_sense_are_refused(facts: dict[str, object]) -> None:
    world = paper_environment()

    with pytest.raises(OptionError):
        derive_bounds(world.graph, world.query, world.exact_log(), confidence=None, **facts)  # type: ignore[arg-type]


def test_an_exact_log_beside_a_counted_table_has_a_confidence() -> None:
    model = paper_environment().model
    counted = {name: model.sample(50, np.random.default_rng(0))[name] for name in ("U1", "U2")}
    asked = ("Y | do(X1, X2), U1, U2", as_log(model.log()))

    table = derive_bounds(model.graph, *asked, external=[counted])
    assert table.confidence == 0.95
    with pytest.raises(NoConfidence):
        derive_bounds(model.graph, *asked, external=[as_log(model.distribution(("U1", "U2")))])


def test_a_declared_range_whose_middle_selection_may_hide_is_noted() -> None:
    graph = parse("X -> Y -> [S]")
    log = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1]}
    note = "assumes: Y has no values besides 0 and 1"

    declared = derive_bounds(graph, "Y | do(X)", log, outcome_range=(0, 1))
    assert any(caveat.startswith(note) for caveat in declared.caveats)
    plain = derive_bounds(graph, "Y | do(X)", log)
    assert not any(caveat.startswith(note) for caveat in plain.caveats)


def test_kept_counts_serve_limits_and_confidences_that_read_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, counted = paper_environment(), list[object]()
    log = world.log(2_000, 1)
    kept = dict[tuple[CausalGraph, Nodes], PlanCounts]()
    count = Log.count

    def count_and_note(self: Log, *names: object, **options: object) -> CountTable:
        counted.append(names)
        return count(self, *names, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Log, "count", count_and_note)
    request = read_request(world.graph, world.query, log)
    tables = [derive_table(request.with_sensitivity(limit), kept) for limit in (4.0, 2.0)]
    derive_table(replace(request.with_sensitivity(2.0), confidence=0.5), kept)

    assert len(counted) == 1
    for limit, table in zip((4.0, 2.0), tables, strict=True):
        assert table == derive_bounds(world.graph, world.query, log, selection_limit=limit)


def test_what_does_not_fit_is_named_and_estimates_go_over_seen_cells() -> None:
    """Zip code, city and state have 10^8 cells, of which 1,000 are seen."""
    rng = np.random.default_rng(0)
    zips = rng.integers(0, 1000, 20_000)
    rows = {"Zip": zips, "City": zips // 2, "State": zips // 5, "X": rng.integers(0, 2, 20_000)}
    rows["Y"] = (rng.random(20_000) < 0.2 + 0.3 * rows["X"]).astype(int)
    graph = parse(
        "State -> City -> Zip; State -> Zip; Zip -> X; City -> X; State -> X;"
        "X -> Y; Zip -> Y; City -> Y; State -> Y"
    )
    columns = {name: column.tolist() for name, column in rows.items()}
    table = derive_bounds(graph, "Y | do(X)", columns, memory_limit="1 GB")

    for bound, truth in zip(table.bounds.values(), (0.2, 0.5), strict=True):
        assert (bound.lower, bound.upper) == (0, 1)
        assert truth - 0.02 < bound.lower_estimate <= bound.upper_estimate < truth + 0.02
    assert any(c.kind == "skipped" and "memory_limit allows" in c for c in table.caveats)


def test_a_tiny_memory_leaves_what_fits_and_never_fails() -> None:
    world = paper_environment()
    table = derive_bounds(world.graph, world.query, world.log(2_000, 1), memory_limit=2**20)

    assert all(world.mean(*key) in table[key] for key in table.bounds)


def test_progress_is_told_from_the_search_to_the_rules() -> None:
    heard: list[str] = []
    derive_bounds(
        CONFOUNDED, "Y | do(X)", ROWS, progress=lambda step, _, __: heard.append(step)
    )

    assert heard[0] == "look for rules"
    assert heard[1].startswith("count ")
    assert heard[2].startswith("try ")


def test_a_wide_plan_counts_only_what_chosen_rules_read() -> None:
    rng = np.random.default_rng(1)
    names = [f"A{i}" for i in range(16)]
    text = "; ".join(f"{name} -> Y" for name in names) + "; X -> W -> Y; X -> Y; W -> [S]"
    rows = {name: rng.integers(0, 2, 300).tolist() for name in [*names, "W", "X", "Y"]}
    heard: list[str] = []
    derive_bounds(
        parse(text), "Y | do(X)", rows, progress=lambda step, _, __: heard.append(step)
    )

    (looked,) = (step for step in heard if step.startswith("look at"))
    (counted,) = (step for step in heard if step.startswith("count"))
    assert int(looked.split()[2]) > 12
    assert int(counted.split()[1]) <= min(16, int(looked.split()[2]))


@pytest.mark.full
def test_columns_of_one_level_are_no_matter_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"A{i}" for i in range(70)]
    rows = {name: [3] * 60 for name in names} | {"X": [0, 1] * 30, "Y": [0, 0, 1] * 20}
    text = "; ".join(f"{name} -> X; {name} -> Y" for name in names) + "; X -> Y"
    plain = derive_bounds(parse("X -> Y"), "Y | do(X)", rows, confidence=None)
    plan = plan_bounds(parse(text), parse_query("Y | do(X)"))
    monkeypatch.setattr("boundit.bounds.derive.plan_bounds", lambda *_, **__: plan)
    for confidence in (None, 0.95):
        table = derive_bounds(parse(text), "Y | do(X)", rows, confidence=confidence)
        for key, bound in plain.bounds.items():
            assert table.bounds[key].lower_estimate == pytest.approx(bound.lower)


def test_time_that_is_over_while_rows_are_compared_is_said() -> None:
    world = paper_environment()
    log = world.exact_log()
    table = derive_bounds(world.graph, world.query, log, confidence=None, time_limit=1e-9)

    assert any("was reached before all arms were compared" in note for note in table.caveats)


@pytest.mark.parametrize(("levels", "listed"), [(150, 150), (1_200, 0)])
def test_the_cells_behind_a_row_are_listed_unless_there_are_too_many(
    levels: int, listed: int
) -> None:
    rng = np.random.default_rng(2)
    rows = {"W": rng.permutation(np.arange(12_000) % levels), "X": rng.integers(0, 2, 12_000)}
    rows["Y"] = rng.integers(0, 2, 12_000)
    columns = {name: column.tolist() for name, column in rows.items()}
    table = derive_bounds(parse("X -> Y; W -> Y; W -> [S]"), "Y | do(X)", columns)

    assert {len(bound.lower_cells) for bound in table.bounds.values()} == {listed}


def test_a_table_keeps_the_edges_of_its_own_bins(tmp_path: Path) -> None:
    rows = {
        "Z": [20 + i % 40 for i in range(80)],
        "W": [i % 7 for i in range(80)],
        "X": [0, 1] * 40,
        "Y": [0, 1, 1, 1] * 20,
    }
    graph = parse("Z -> X -> Y; Z -> Y; W -> Y; W -> X")
    log = read_log(rows, bins={"Z": [30, 45.5], "W": [3]})
    assert log.count(["Z", "X"]).bins == {"Z": (30.0, 45.5)}
    table = derive_bounds(graph, "Y | do(X), Z", log)
    # Those of W too: a policy may be told W, by which its plan counts.
    assert table.bins == {"Z": (30.0, 45.5), "W": (3.0,)}
    table.save(tmp_path / "table.json")
    assert BoundTable.load(tmp_path / "table.json").bins == table.bins
    alone = parse("Z -> X; X -> Y; W -> X; W -> Z")
    assert derive_bounds(alone, "Y | do(X)", log).bins == {}


def test_an_adaptive_log_widens_intervals_and_says_so() -> None:
    rng = np.random.default_rng(4)
    z, x = rng.integers(2, size=500), rng.integers(2, size=500)
    rows = {"Z": z.tolist(), "X": x.tolist(), "Y": rng.integers(2, size=500).tolist()}
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    plain = derive_bounds(graph, "Y | do(X)", rows)
    log = read_log(rows, adaptive=True)
    learned = derive_bounds(graph, "Y | do(X)", log)
    for key, bound in learned.bounds.items():
        assert bound.lower < plain.bounds[key].lower
        assert bound.upper > plain.bounds[key].upper
        assert bound.lower_estimate == plain.bounds[key].lower_estimate
    said = [note for note in learned.caveats if note not in plain.caveats]
    assert any("a policy that learned" in note for note in said)
    assert any(
        "X has no values besides those in the data, which may depend" in of for of in said
    )
    declared = derive_bounds(graph, "Y | do(X)", log, domain={"X": [0, 1]})
    assert declared.bounds == learned.bounds
    assert not any(note.code == "adaptive-levels" for note in declared.caveats)
    estimates = derive_bounds(graph, "Y | do(X)", log, confidence=None)
    assert estimates.bounds == derive_bounds(graph, "Y | do(X)", rows, confidence=None).bounds


def test_where_every_rule_reads_how_arms_were_chosen_the_range_is_left() -> None:
    rows = {"X": [0, 1] * 50, "Y": [0, 1, 1, 1] * 25}
    graph = parse("X -> Y; X <-> Y")
    table = derive_bounds(graph, "Y | do(X)", read_log(rows, adaptive=True))
    assert {bound.interval for bound in table.bounds.values()} == {Interval(0, 1)}
    assert any("P(X, Y) changed while the policy learned" in note for note in table.caveats)
    assert derive_bounds(graph, "Y | do(X)", rows)[0, ()].width < 1


def test_a_log_read_three_times_is_as_wide_as_once_with_its_rows_as_clusters() -> None:
    rng = np.random.default_rng(3)
    rows = {
        "X": rng.integers(2, size=400).tolist(),
        "Y": rng.integers(2, size=400).tolist(),
        "id": list(range(400)),
    }
    thrice = {name: values * 3 for name, values in rows.items()}
    graph = parse("X -> Y; hidden U; U -> X; U -> Y")
    once = derive_bounds(graph, "Y | do(X)", rows)
    clustered = derive_bounds(graph, "Y | do(X)", thrice, cluster="id")
    assert clustered.bounds == once.bounds
    narrow = derive_bounds(graph, "Y | do(X)", thrice)
    assert narrow[0, ()].width < once[0, ()].width
    assert any("400 clusters by id" in note for note in clustered.caveats)
    with pytest.raises(BounditError, match="no column 'user'"):
        derive_bounds(graph, "Y | do(X)", rows, cluster="user")
    mixed = thrice | {"Y": [1 - y for y in rows["Y"]] + rows["Y"] * 2}
    with pytest.raises(BounditError, match="400 of 400 clusters by 'id'"):
        derive_bounds(graph, "Y | do(X)", mixed, cluster="id")


def test_a_treatment_that_a_rule_also_sums_over_is_bounded_with_a_confidence() -> None:
    """Such a sum runs over another name of the variable, which no log has a column for."""
    graph = parse("A -> X; X -> [S]; C -> X; S <-> C; Y -> X; Y <-> X")
    rng = np.random.default_rng(0)
    log = {name: rng.integers(0, 2, 300).tolist() for name in "ACXY"}
    table = derive_bounds(graph, "Y | do(A, X), C", log)

    assert "worst case over C', X'" in table.rules
    assert all(b.lower <= 0.5 <= b.upper for b in table.bounds.values())


def draw_related_rows(n: int) -> dict[str, list[int]]:
    rng = np.random.default_rng(5)
    common = rng.random(n)
    a, b = rng.random(n) < common, rng.random(n) < common
    t = rng.random(n) < 0.2 + 0.3 * a + 0.2 * b
    y = rng.random(n) < 0.1 + 0.3 * t + 0.2 * a + 0.2 * b
    return {k: v.astype(int).tolist() for k, v in {"A": a, "B": b, "T": t, "Y": y}.items()}


def test_covariates_that_go_together_against_the_graph_get_a_caveat() -> None:
    """Arrows from A and B to T and Y say that A and B are independent; the log does not."""
    rows = draw_related_rows(3000)
    each, group = "A -> T; A -> Y; B -> T; B -> Y; T -> Y", "; A <-> B"

    wrong = derive_bounds(parse(each), "Y | do(T)", rows)
    right = derive_bounds(parse(each + group), "Y | do(T)", rows)

    assert [said for said in wrong.caveats if "A and B are dependent" in said]
    assert not right.caveats


def test_the_graph_is_held_against_the_counts_without_another_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes, count_rows = list[str](), Log.count

    def note_pass(log: Log, *names: object, **options: object) -> object:
        passes.append(str(log))
        return count_rows(log, *names, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Log, "count", note_pass)
    each = parse("A -> T; A -> Y; B -> T; B -> Y; T -> Y")
    table = derive_bounds(each, "Y | do(T)", draw_related_rows(1000))

    assert table.caveats[0].code == "contradiction"
    assert len(passes) == 1


def test_an_arm_that_causes_no_reward_in_the_graph_gets_a_caveat() -> None:
    rows = draw_related_rows(1000)
    base = "A -> T; A -> Y; B -> T; B -> Y; A <-> B"

    turned = derive_bounds(parse(f"{base}; Y -> T"), "Y | do(T)", rows)
    apart = derive_bounds(parse(f"{base}; T <-> Y"), "Y | do(T)", rows)
    right = derive_bounds(parse(f"{base}; T -> Y"), "Y | do(T)", rows)

    assert turned.caveats[0].startswith(
        "critical: The graph has no directed path from T to Y, but one from Y to T, so every"
    )
    assert "no directed path from T to Y, so every effect is zero" in apart.caveats[0]
    assert "add 'T -> Y'" in apart.caveats[0]
    assert not right.caveats


def test_the_log_of_the_package_tells_what_was_bounded(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("INFO", logger="boundit"):
        derive_bounds("X -> Y", "Y | do(X)", {"X": [0, 1] * 9, "Y": [0, 1] * 9})

    assert "bounded P(Y | do(X)): 2 intervals" in caplog.text
