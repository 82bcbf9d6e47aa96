"""An event of megabytes costs the policies beside it nothing."""

from pathlib import Path

from boundit.service.store.sqlite import SqliteStore


def test_events_are_put_beside_a_large_one_without_reading_it(tmp_path: Path) -> None:
    """A key that is compared with a clustered row has SQLite read all of that row."""
    store = SqliteStore(tmp_path)
    with store.write() as transaction:
        one = transaction.add_policy("one", "TS", "{}", None) or 0
        two = transaction.add_policy("two", "TS", "{}", None) or 0
        large = [(two, 1, 0, "created", '"' + "x" * 4_000_000 + '"')]
        transaction.save(transaction.require_head("two"), large, (), (), "", {})
    with store.write() as transaction:
        before = _count_read()
        rows = [(one, i, 0, "decided", "{}") for i in range(1, 501)]
        transaction.save(transaction.require_head("one"), rows, (), (), "", {})
        read = _count_read() - before
    store.close()

    assert read < 100_000_000  # 500 times 4 MB are 2 GB


def _count_read() -> int:
    """How many bytes this process has read so far, from files that are in memory too."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])
