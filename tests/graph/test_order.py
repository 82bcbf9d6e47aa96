import pytest

from boundit.graph.order import order_causally
from boundit.terms.errors import HasCycle


def test_ties_go_by_name_and_the_last_comes_last() -> None:
    assert order_causally({"B": [], "A": [], "C": ["S"], "S": []}, last="B") == (
        "A",
        "C",
        "S",
        "B",
    )


def test_nodes_below_a_cycle_are_not_taken_for_it() -> None:
    with pytest.raises(HasCycle) as refused:
        order_causally({"A": ["B"], "B": ["C", "A"], "C": ["D"], "D": []})
    assert refused.value.cycle == ("A", "B", "A")
