import numpy as np

from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from tests.bounds.approximate.logs import BACK_DOOR, read_counts, read_evidence

SELECTED = plan_sound(
    parse("A -> X -> Y; A -> Y; B -> X; B -> Y; A -> B; B -> [S]; A -> [S]"),
    parse_query("Y | do(X)"),
    [frozenset("A")],
)


def make_finder(
    plan: BoundPlan, name: str, log: CountTable, *external: CountTable
) -> FormulaEnds:
    counts = read_counts(read_evidence(plan, log, *external))
    rule = next(p.rule for p in plan.rules if p.record.name == name)
    flat = flatten_rule(rule, counts.levels)
    assert flat is not None
    return FormulaEnds(flat, counts, 0.01)


def test_the_weight_of_what_nobody_saw_widens_both_ends_in_full() -> None:
    log = read_log({"Z": [0, 0, 1, 1], "X": [0, 1, 0, 0], "Y": [0, 1, 0, 1]})
    finder = make_finder(BACK_DOOR, "exact recovery", log.count(["Z", "X"], reward="Y"))

    low, high = (finder.find(upper=upper) for upper in (False, True))

    assert low.value.tolist() == [0.25, 0.5]
    assert (1 - high.value).tolist() == [0.25, 1.0]


def draw_selected(n: int, means: dict[tuple[int, int], float]) -> CountTable:
    """A log in which every cell of A, B and X has ``n`` rows with given means."""
    cells = [(a, b, x) for a in (0, 1) for b in (0, 1) for x in (0, 1)]
    columns = np.repeat(np.array(cells), 2, axis=0)
    rows = [
        round(n * (p if y else 1 - p))
        for a, b, x in cells
        for y in (0, 1)
        for p in [means[a, b]]
    ]
    log = read_log(
        {
            "A": columns[:, 0],
            "B": columns[:, 1],
            "X": columns[:, 2],
            "Y": np.tile([0, 1], len(cells)),
            "n": rows,
        },
        weight="n",
    )
    return log.count(["A", "B", "X"], reward="Y")


MEANS = {(0, 0): 0.2, (0, 1): 0.6, (1, 0): 0.8, (1, 1): 0.4}
TABLE_OF_A = read_log({"A": [0, 1], "n": [300, 100]}, weight="n").count("A")


def test_unknown_links_before_known_ones_stay_choices_until_the_end() -> None:
    log = draw_selected(1_000, MEANS)

    found = make_finder(SELECTED, "conditioning on A, B", log, TABLE_OF_A).find(upper=False)

    assert found.rows == ("X", "A'", "B'")
    np.testing.assert_allclose(found.value[0], [[0.2, 0.6], [0.8, 0.4]])


def test_an_unknown_link_within_a_sum_is_taken_at_its_worst() -> None:
    """Theorem of the tangent: the least penalised level, then the sum of its variances."""
    log = draw_selected(1_000, MEANS)
    finder = make_finder(SELECTED, "sequence A, B, unknown B", log, TABLE_OF_A)

    low, high = (finder.find(upper=upper) for upper in (False, True))

    np.testing.assert_allclose(low.value, 0.75 * 0.2 + 0.25 * 0.4)
    np.testing.assert_allclose(1 - high.value, 0.75 * 0.6 + 0.25 * 0.8)
    of_rewards = 0.75**2 * 0.2 * 0.8 / 1_000 + 0.25**2 * 0.4 * 0.6 / 1_000
    of_a = 0.75 * 0.25 * (0.4 - 0.2) ** 2 / 400
    plain = low.variance.smoothed - low.variance.cushion
    np.testing.assert_allclose(plain, of_rewards + of_a, rtol=1e-9)


def test_a_level_of_few_rows_is_chosen_before_a_slightly_lower_one() -> None:
    """What a level's variance adds to the radius counts against it."""
    means = {(0, 0): 0.5, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 0.5}
    table = draw_selected(1_000, means)
    n = table.n.copy()
    few = (table.codes[:, 0] == 0) & (table.codes[:, 1] == 1)
    n[few] = 20
    assert table.sums is not None
    sums = np.where(few, 10.2, table.sums)  # a little above the other level
    log = CountTable(
        table.variables,
        table.levels,
        table.codes,
        n,
        "Y",
        sums,
        sums.copy(),
        table.lowest,
        table.highest,
    )
    finder = make_finder(SELECTED, "sequence A, B, unknown B", log, TABLE_OF_A)

    found = finder.find(upper=False)

    np.testing.assert_allclose(found.value, 0.75 * 0.51 + 0.25 * 0.5)
