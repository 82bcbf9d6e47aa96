from itertools import product

from boundit.bandit.compiled import compiled
from boundit.bandit.kernel_contest import leads


@compiled
def leading(final: float, free: float, place: int, other: tuple[float, float, int]) -> bool:
    return leads(final, free, place, other[0], other[1], other[2])


def test_the_rule_is_an_order_by_index_free_index_and_place() -> None:
    """The same rule as contest's: larger, larger before the prior, first."""
    for one, two in product(product((0.0, 0.5), (0.5, 2.0, float("inf")), (0, 1)), repeat=2):
        before = (one[0], one[1], -one[2]) > (two[0], two[1], -two[2])
        assert leading(*one, two) == before
