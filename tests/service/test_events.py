import msgspec

from boundit.service.events import Closed, Decided, read_closed, read_decided, write_body


def test_events_keep_every_bit_of_a_number() -> None:
    chances = [0.1 + 0.2, 1e-300, 1 / 3]
    event = Decided(
        "a", ["A"], [1], 3, 1, msgspec.Raw(write_body(chances)), propensity=chances[2]
    )

    back = read_decided(write_body(event))

    assert msgspec.json.decode(back.propensities) == chances
    assert back.propensity == chances[2]


def test_what_is_not_said_takes_no_room() -> None:
    closed = Closed("a", 2, 5, ["A"], [], 0.5)

    assert write_body(closed) == (
        b'{"id":"a","decision":2,"at":5,"arm":["A"],"context":[],"reward":0.5}'
    )
    assert read_closed(write_body(closed)) == closed
