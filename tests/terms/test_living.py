import json

import pytest

from boundit.terms.interval import Interval
from boundit.terms.living import Living
from boundit.terms.saving.codec import decode, encode

PAIR = (("A",), (1,))
ENDS = tuple(Interval(0.1 * i, 0.1 * i + 0.2) for i in range(4))


def living(**changed: object) -> Living:
    fields = {
        "variables": ("V", "W"),
        "levels": ((0, 1), ("low", "high")),
        "pools": {PAIR: ("A",)},
        "ends": {PAIR: ENDS},
        "reason": "Rule 3 drops the context",
    }
    return Living(**{**fields, **changed})  # type: ignore[arg-type]


def test_cells_are_the_combinations_of_levels() -> None:
    assert living().cells == ((0, "low"), (0, "high"), (1, "low"), (1, "high"))


def test_json_keeps_it_exactly() -> None:
    assert decode(Living, json.loads(json.dumps(encode(living())))) == living()


@pytest.mark.parametrize(
    "changed", [{"ends": {PAIR: ENDS[:3]}}, {"pools": {}}, {"levels": ((0, 1),)}]
)
def test_parts_that_do_not_fit_are_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"cells|pairs"):
        living(**changed)


def test_a_record_of_which_parts_do_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="pools and intervals speak of other pairs"):
        decode(Living, {**encode(living()), "pools": []})
