"""The limit from which on a claim falls, against closed forms; and choices that come back."""

from math import inf

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.core.errors import BounditError, OptionError
from boundit.decisions.breakdown.claims import Best, Better, Earns, NotAClaim, Regrets
from boundit.decisions.breakdown.find import PRECISION, breakdown
from boundit.graph.text import parse
from tests.decisions.breakdown.logs import BOW, make_law

LAW = make_law([0.6, 0.4], [0.3, 0.6])


def find_lower(e: float, q: float, limit: float) -> float:
    """The closed form of Dorn and Guo for a 0/1 reward, by ``1 - Y``."""
    fail = 1 - q
    upper = min(fail * (e + (1 - e) * limit), 1 - q * (e + (1 - e) / limit))
    return 1 - upper


def find_upper(e: float, q: float, limit: float) -> float:
    return 1 - find_lower(e, 1 - q, limit)


def test_a_lead_falls_where_the_closed_form_says() -> None:
    limits = np.linspace(1, 4, 30_001)
    leads = np.array([find_lower(0.4, 0.6, g) - find_upper(0.6, 0.3, g) for g in limits])
    wanted = limits[leads > 0].max()

    found = breakdown(BOW, "Y | do(X)", LAW, of="Y <-> X", claim=Best(1), confidence=None)

    assert found.holds_to is not None
    assert found.falls_at is not None
    assert found.holds_to <= wanted + 1e-3
    assert found.falls_at >= wanted - 1e-3
    assert found.falls_at <= found.holds_to * (1 + PRECISION)
    assert found.of == "X <-> Y"
    assert not found.survives
    numbers = [point.number for point in found.curve]
    assert numbers == sorted(numbers, reverse=True)
    for point in found.curve:
        if point.limit < inf:
            lead = find_lower(0.4, 0.6, point.limit) - find_upper(0.6, 0.3, point.limit)
            assert point.number == pytest.approx(lead, abs=1e-9)


def test_claims_that_always_or_never_hold_are_told_apart() -> None:
    always = breakdown(
        BOW, "Y | do(X)", LAW, of="X <-> Y", claim=Earns(1, 0.2), confidence=None
    )
    never = breakdown(BOW, "Y | do(X)", LAW, of="X <-> Y", claim=Best(0), confidence=None)
    beyond = breakdown(
        BOW, "Y | do(X)", LAW, of="X <-> Y", claim=Best(1), confidence=None, most=1.2
    )

    assert (always.holds_to, always.falls_at) == (inf, None)
    assert "proved whatever is hidden by X <-> Y" in str(always)
    assert (never.holds_to, never.falls_at) == (None, 1.0)
    assert "not proved even at a limit of 1" in str(never)
    assert (beyond.holds_to, beyond.falls_at) == (1.2, None)
    assert "the largest tried" in str(beyond)


def test_a_choice_may_change_and_the_step_of_the_search_is_said() -> None:
    """The arm of least regret is the second, the first from 1.72 on, the second from 32.5."""
    law = make_law([0.01, 0.97, 0.02], [0.25, 0.286, 0.022])
    found = breakdown(BOW, "Y | do(X)", law, of="X <-> Y", confidence=None)

    (change,) = found.changes
    assert (change.today, change.then) == ((1,), (0,))
    assert change.before <= 1.73
    assert change.at >= 1.70
    back = derive_bounds(
        BOW, "Y | do(X)", law, confidence=None, confounding_limit={"X <-> Y": 40}
    )
    assert back.choose(lottery=False)[()].single == (1,)
    assert found.step == pytest.approx(100 ** (1 / 24))
    assert "from 1 to 0 at a limit of 1.7" in str(found)
    regrets = [point.number for point in found.curve]
    assert regrets == sorted(regrets)


def test_a_choice_that_stays_says_how_far_it_was_looked() -> None:
    found = breakdown(BOW, "Y | do(X)", LAW, of="X <-> Y", confidence=None, most=1.5)

    assert not found.changes
    assert "at every limit on X <-> Y that was looked at, up to 1.5 in steps" in str(found)
    stated = {"X <-> Y": 1.2}
    later = breakdown(
        BOW, "Y | do(X)", LAW, of="X <-> Y", confidence=None, most=3, confounding_limit=stated
    )
    assert later.curve[0].limit == 1.2


def test_finite_logs_and_both_methods_fall_no_later_than_the_law() -> None:
    rng = np.random.default_rng(0)
    x = (rng.random(5_000) < 0.4).astype(int)
    y = (rng.random(5_000) < np.where(x, 0.6, 0.3)).astype(int)
    log = {"X": x.tolist(), "Y": y.tolist()}
    law = breakdown(BOW, "Y | do(X)", LAW, of="X <-> Y", claim=Better(1, 0), confidence=None)
    for inference in ("exact", "approximate"):
        found = breakdown(
            BOW, "Y | do(X)", log, of="X <-> Y", claim=Better(1, 0), inference=inference
        )
        assert found.confidence == 0.95
        assert found.holds_to is not None
        assert law.holds_to is not None
        assert 1 < found.holds_to < law.holds_to * 1.05
        assert found.record()["says"] == str(found)


def test_selection_has_a_limit_too() -> None:
    graph = parse("X -> Y; X -> [S]; Y -> [S]")
    found = breakdown(
        graph, "Y | do(X)", LAW, of="selection", claim=Regrets(1, 0.1), confidence=None
    )

    assert found.of == "selection"
    assert found.holds_to is not None
    assert 1 <= found.holds_to < 10


def test_a_limit_of_no_use_is_said_to_be_none() -> None:
    graph = parse("X -> Y; X <-> Y; C <-> X; C <-> Y")
    law = {"X": [0, 1] * 4, "Y": [0, 1, 1, 0] * 2, "C": [0] * 4 + [1] * 4}
    found = breakdown(graph, "Y | do(X), C", law, of="X <-> Y", claim=Best(1, context=0))

    assert found.caveats[0] == (
        "a limit on X <-> Y is of no use: X <-> C <-> Y is open besides it"
    )
    assert "caveat: a limit on" in str(found)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"of": "X <-> Z"}, BounditError, "^of limits X <-> Z, an edge that the graph lacks"),
        ({"of": 3}, BounditError, "of must be an edge such as 'X <-> Y', or 'selection'"),
        ({"of": "selection"}, OptionError, "no selection node"),
        ({"of": "X <-> Y", "most": 1}, OptionError, "most must be a number above 1, found 1"),
        ({"of": "X <-> Y", "claim": "best"}, NotAClaim, "a claim is a Better, Best"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        breakdown(BOW, "Y | do(X)", LAW, confidence=None, **options)  # type: ignore[arg-type]
