from boundit.studies.audits.coverage import measure_coverage


def test_whole_tables_hold_and_cost_less_than_plain_bonferroni() -> None:
    """A share of ``boundit audit --of coverage``; 0.95 is a floor, and here nothing misses."""
    found = measure_coverage(25, sizes=(300, 3_000))

    assert [(c.world, c.size) for c in found] == [
        ("paper", 300),
        ("paper", 3_000),
        ("random", 300),
        ("random", 3_000),
    ]
    for entry in found:
        assert entry.held >= 24
        assert entry.plug_in <= entry.width <= entry.bonferroni + 1e-9
    assert found[1].width < found[0].width


def test_the_seed_repeats_it() -> None:
    assert measure_coverage(2, sizes=(200,), seed=3) == measure_coverage(
        2, sizes=(200,), seed=3
    )
