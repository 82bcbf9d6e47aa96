import pytest

from boundit.bounds.derive import derive_bounds
from boundit.simulation.model import Model
from tests.bounds.exact import as_log


def test_the_printed_theorem_misses_without_its_guard() -> None:
    """Theorem 4: Y says whether W is as Z was; by hand W is as likely wrong as right."""
    model = Model.of(
        {
            "X": ([], 0.5),
            "Z": ([], 0.5),
            "W": (["Z"], [0.1, 0.9]),
            "Y": (["W", "Z"], [[1.0, 0.0], [0.0, 1.0]]),
        }
    )
    log = as_log(model.law())
    printed = derive_bounds(model.graph, "Y | do(X)", log, profile="paper")
    sound = derive_bounds(model.graph, "Y | do(X)", log, confidence=None)

    rules = printed.rules
    assert "substitute W" in rules
    assert "lies between min/max over W of" in str(rules["substitute W"].claim)
    assert sound[0, ()].lower == pytest.approx(0.9)
    assert sound[0, ()].upper == pytest.approx(0.9)
    assert not any("substitute" in name for name in sound.rules)


def test_a_context_divides_by_its_probability_and_the_table_says_whose() -> None:
    model = Model.of(
        {"C": ([], 0.3), "X": ([], 0.5), "Y": (["X", "C"], [[0.1, 0.4], [0.5, 0.9]])}
    )
    table = derive_bounds(model.graph, "Y | do(X), C", as_log(model.law()), profile="paper")

    assert table[1, 0].lower == pytest.approx(0.5)
    assert any("/ P(C)" in str(rule.claim) for rule in table.rules.values())
    assert not any("selected rows" in note for note in table.caveats)
