from datetime import UTC, datetime, timedelta, timezone

from boundit.service.events import DAY, from_datetime, to_datetime, write_day


def test_moments_keep_every_microsecond() -> None:
    moment = datetime(2023, 11, 14, 22, 13, 20, 123_457, tzinfo=UTC)

    assert to_datetime(1_700_000_000_123_457) == moment
    assert from_datetime(moment) == 1_700_000_000_123_457
    assert from_datetime(moment.replace(tzinfo=None)) == 1_700_000_000_123_457
    assert from_datetime(moment.astimezone(timezone(timedelta(hours=5)))) == from_datetime(
        moment
    )


def test_a_day_ends_at_midnight_in_utc() -> None:
    midnight = 1_700_006_400_000_000

    assert [write_day(at // DAY) for at in (midnight - 1, midnight)] == [
        "2023-11-14",
        "2023-11-15",
    ]
