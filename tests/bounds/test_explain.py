"""Every row says what it was made from, in the user's own levels and units."""

from boundit.bounds.derive import derive_bounds
from boundit.counts.log import read_log
from boundit.graph.text import parse
from boundit.results.sampling import EndSampling, HeavyCell

ROWS = {
    "Plan": ["a", "a", "b", "b"],
    "Paid": [0, 10, 0, 10],
    "n": [30, 10, 20, 40],
}


def explained(graph: str, **facts: float) -> str:
    log = read_log(ROWS, weight="n")
    table = derive_bounds(
        parse(graph),
        "Paid | do(Plan)",
        log,
        confidence=None,
        outcome_range=(0, 10),
        **facts,  # type: ignore[arg-type]
    )
    return " ".join(str(table.explain("b")).split())


def test_a_worst_population_names_levels_rewards_and_the_fact_that_stops_it() -> None:
    written = explained("Plan -> Paid; Plan -> [S]; Paid -> [S]", selection_rate=0.5)

    assert (
        "attained when Paid=10, Plan=b: 0.2 of everyone, 0.4 of the log, the least" in written
    )
    assert "attained when Paid=0, Plan=b" in written


def test_natural_bounds_are_written_as_sums() -> None:
    written = explained("Plan -> Paid; Plan <-> Paid")

    assert "+ 1 x P(Plan=b, Paid=10) = 0.4" in written


def test_a_reweighted_natural_bound_names_its_population() -> None:
    written = explained("Plan -> Paid; Plan <-> Paid; Paid -> [S]", selection_rate=0.5)

    assert "natural bounds on Plan" in written
    assert "Plan=b: 0.2 of everyone, 0.4 of the log, the least allowed" in written


def test_plain_numbers_come_with_their_rows() -> None:
    written = explained("Plan -> Paid; Plan -> [S]")

    assert "mean Paid 6.67 (60 rows)" in written


def test_a_conditioning_bound_is_as_uncertain_as_the_cell_that_attains_it() -> None:
    """The least share gives the lower end, the greatest the upper one."""
    cells = {"C": [0, 0, 1, 1], "Y": [0, 1, 0, 1], "n": [80, 20, 30, 70]}
    log = read_log({**cells, "X": [0] * 4}, weight="n")
    table = derive_bounds(parse("C -> X -> Y; C -> Y; C -> [S]"), "Y | do(X)", log)
    found = table.bounds[(0,), ()].sampling

    assert found is not None
    assert found.lower == EndSampling(100.0, 0.0, (HeavyCell((("C", 0), ("X", 0)), 100.0, 1),))
    assert found.upper == EndSampling(100.0, 0.0, (HeavyCell((("C", 1), ("X", 0)), 100.0, 1),))


def test_plug_in_ends_are_not_moved_by_chance() -> None:
    log = read_log(ROWS, weight="n")
    table = derive_bounds(
        parse("Plan -> Paid"), "Paid | do(Plan)", log, confidence=None, outcome_range=(0, 10)
    )

    assert {row.sampling for row in table.bounds.values()} == {None}


def test_a_program_without_claims_attains_its_ends_at_no_single_cell() -> None:
    log = read_log(ROWS | {"Paid": [0, 10, 5, 10]}, weight="n")
    table = derive_bounds(
        parse("Plan -> Paid; Plan <-> Paid"), "Paid | do(Plan)", log, outcome_range=(0, 10)
    )

    assert "natural bounds on Plan" in table.rules


def test_a_sum_that_can_have_no_claim_says_why_its_cells_have_intervals() -> None:
    rows = {"Z": [0, 0, 1, 1] * 300, "X": [0, 1] * 600, "Y": [0, 1, 1, 0, 1, 1] * 200}
    log = read_log(rows, adaptive=True)
    table = derive_bounds(parse("Z -> X -> Y; Z -> Y"), "Y | do(X)", log)
    found = table.bounds[(0,), ()].sampling

    assert found is not None
    learned = "a policy learned while it wrote the log"
    assert found.lower == EndSampling(None, 0.0, (), learned)
