import pickle
from copy import deepcopy

from boundit.terms.found_later import FoundLater


def test_it_is_found_once_and_when_somebody_reads_it() -> None:
    asked = list[str]()

    def find() -> dict[str, int]:
        asked.append("find")
        return {"a": 1, "b": 2}

    later = FoundLater(find)
    assert asked == []
    assert (later["b"], list(later), len(later), later.get("c")) == (2, ["a", "b"], 2, None)
    assert later == {"a": 1, "b": 2}
    assert asked == ["find"]


def test_copies_are_plain() -> None:
    """What it is found from may be large, or nothing that can be sent to another process."""
    later = FoundLater(lambda: {"a": 1})

    for copied in (deepcopy(later), pickle.loads(pickle.dumps(later))):
        assert type(copied) is dict
        assert copied == {"a": 1}
