"""Moments as they are stored, microseconds since 1970, and as they are shown."""

from datetime import UTC, datetime
from functools import lru_cache

_DAY = 86_400_000_000


def to_datetime(at: int) -> datetime:
    """Turn a stored moment into one in UTC; called wherever one is shown."""
    return datetime.fromtimestamp(at // 1_000_000, UTC).replace(microsecond=at % 1_000_000)


def from_datetime(moment: datetime) -> int:
    """Turn a moment into what is stored of it; one without a zone is in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime.fromtimestamp(0, UTC)
    return since.days * _DAY + since.seconds * 1_000_000 + since.microseconds


def write_day(at: int) -> str:
    """Write the day of a stored moment, in UTC; called by ``PolicyChanges``.

    >>> write_day(0)
    '1970-01-01'
    """
    return _spell_day(at // _DAY)


@lru_cache(64)
def _spell_day(day: int) -> str:
    """Spell the number of a day since 1970 as its date; called by ``write_day``."""
    return to_datetime(day * _DAY).date().isoformat()
