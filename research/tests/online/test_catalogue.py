import pytest

from boundit_research.online.catalogue import STUDIES, run_study


@pytest.mark.parametrize(("name", "runs"), [("theorem6", 3), ("monitor", 2), ("paper", 2)])
def test_a_study_goes_by_its_name(name: str, runs: int) -> None:
    found, curves = run_study(name, runs=runs, rounds=20)

    assert curves is not None
    assert curves.runs == runs
    assert found.record()


def test_the_sizes_are_those_we_report() -> None:
    sizes = {name: (size.runs, size.rounds) for name, (_, size) in STUDIES.items()}

    assert sizes["paper"] == (2_000, 15_000)
    assert set(sizes) == {"paper", "flip", "suite", "monitor", "theorem6", "ceilings"}
