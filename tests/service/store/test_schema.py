import sqlite3

from boundit.service.store.schema import write_schema


def test_the_statements_make_the_tables_once_and_again() -> None:
    connection = sqlite3.connect(":memory:")

    for _ in range(2):
        for statement in write_schema(serial="INTEGER PRIMARY KEY", clustered="WITHOUT ROWID"):
            connection.execute(statement)

    found = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    assert {"events", "decisions", "policies", "open_decisions"} <= found
