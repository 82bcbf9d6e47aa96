from boundit_research.audits.formulas import audit_formulas


def test_no_recovered_formula_is_wrong() -> None:
    """A share of ``boundit audit --of formulas``: several outcomes, conditions, tables."""
    report = audit_formulas(250, seed=9)

    assert report
    assert report.found > 80
    assert report.worst_gap < 1e-9


def test_progress_is_told_and_the_seed_repeats() -> None:
    heard: list[int] = []
    report = audit_formulas(5, seed=1, progress=heard.append)

    assert heard == [1, 2, 3, 4, 5]
    assert report == audit_formulas(5, seed=1)
