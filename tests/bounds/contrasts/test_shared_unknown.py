from boundit.bounds.contrasts.shared_unknown import find_differing
from tests.nodes import make_nodes


def test_arms_differ_in_the_treatments_whose_levels_differ() -> None:
    treatments = ("A", "B", "C")

    assert find_differing(treatments, (0, 1, 2), (0, 1, 2)) == make_nodes()
    assert find_differing(treatments, (0, 1, 2), (1, 1, 0)) == make_nodes("A", "C")
