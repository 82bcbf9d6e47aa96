"""Two limits at once: the more one may hide, the less is left for the other."""

import pytest

from boundit.decisions.breakdown.claims import Earns
from boundit.decisions.breakdown.frontier import breakdown_frontier
from boundit.graph.text import parse
from boundit.terms.errors import InvalidLimit
from tests.decisions.breakdown.logs import make_law

LAW = make_law([0.5, 0.5], [0.2, 0.7])
GRAPH = parse("X -> Y; X <-> Y; X -> [S]; Y -> [S]")


def test_a_claim_holds_to_smaller_limits_the_more_selection_may_hide() -> None:
    found = breakdown_frontier(
        GRAPH,
        "Y | do(X)",
        LAW,
        of="X <-> Y",
        against="selection",
        limits=(1.3, 1, 1.1),
        claim=Earns(1, 0.5),
        confidence=None,
        most=20,
    )
    ends = [point.holds_to for _, point in found.points]

    assert [row["selection"] for row in found.rows()] == [1.0, 1.1, 1.3]
    assert all(end is not None for end in ends)
    assert ends == sorted(ends, reverse=True)  # type: ignore[type-var]
    assert ends[0] != ends[-1]
    assert str(found).startswith("1 earns at least 0.5, by limits on selection and X <-> Y:")
    assert found.record()["points"][0]["limit"] == 1.0


def test_two_limits_are_on_two_things() -> None:
    with pytest.raises(InvalidLimit, match="must be two things"):
        breakdown_frontier(
            GRAPH,
            "Y | do(X)",
            LAW,
            of="X <-> Y",
            against="Y <-> X",
            limits=[1],
            claim=Earns(1, 0.5),
            confidence=None,
        )
