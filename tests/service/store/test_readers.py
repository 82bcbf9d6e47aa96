import pytest

from boundit.service.store.readers import Readers


class _Connection:
    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_connections_are_used_again_and_dropped_after_an_error() -> None:
    made = list[_Connection]()

    def connect() -> _Connection:
        made.append(_Connection())
        return made[-1]

    readers = Readers(connect)
    for _ in range(3):
        with readers.lend():
            pass
    assert len(made) == 1
    with readers.lend(), pytest.raises(ZeroDivisionError), readers.lend():
        1 / 0  # noqa: B018, something raises
    assert [one.closed for one in made] == [False, True]
    readers.close()
    assert made[0].closed
