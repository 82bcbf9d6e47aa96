"""URLs of databases: opened for as long as something is read, their passwords never shown."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from boundit.counts.databases.connection import DatabaseConnection, recognize_connection
from boundit.counts.databases.passwords import hide_password
from boundit.counts.errors import NoDatabase, shorten_error
from boundit.terms.errors import MissingExtra

if TYPE_CHECKING:
    import psycopg

SCHEMES = ("sqlite", "postgresql", "postgres", "duckdb")
_IN_FILES = frozenset(["sqlite", "duckdb"])


@dataclass(frozen=True)
class ConnectionUrl:
    """The address of a database, such as ``postgresql://user@host/name``."""

    url: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no address, before anything is opened."""
        if self.scheme not in SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES[:2] + SCHEMES[3:])
            raise NoDatabase(hide_password(self.url), f"it begins with none of {known}")
        if self.file is not None and not self.file.is_file():
            raise NoDatabase(hide_password(self.url), f"there is no file {str(self.file)!r}")
        # The driver would take the rest of such a password for a host, and print it.
        if "@" in self.url.partition("@")[2] or "/" in _find_user(self.url):
            hint = "in its password write %40 for @ and %2F for /, or set PGPASSWORD instead"
            raise NoDatabase(hide_password(self.url), hint)

    @property
    def scheme(self) -> str:
        """The kind of database: what stands before ``://``. Read by ``open_database``."""
        return self.url.partition("://")[0].lower()

    @property
    def file(self) -> Path | None:
        """The file of a SQLite or DuckDB database: three slashes before it, four if absolute.

        None of other databases. Read by ``ConnectionUrl._connect``, and by ``_list_files``
        for the command line, which must not overwrite it.
        """
        if self.scheme not in _IN_FILES:
            return None
        return Path(unquote(self.url.partition("://")[2].partition("?")[0].removeprefix("/")))

    @contextmanager
    def open(self) -> Iterator[DatabaseConnection]:
        """Open the database for reading, and close it.

        Called by ``DatabaseSource`` whenever it reads.
        """
        with closing(self._connect()) as connection:
            yield recognize_connection(connection)

    def _connect(self) -> "sqlite3.Connection | psycopg.Connection":
        """Connect by the driver of the scheme, or say why not, without the password.

        Called by ``ConnectionUrl.open``.
        """
        if self.file is not None:
            name = quote(str(self.file.absolute()))
            return sqlite3.connect(f"file:{name}?mode=ro", uri=True)
        try:
            import psycopg  # noqa: PLC0415, only who has such a database has it
        except ModuleNotFoundError:
            raise MissingExtra("psycopg", "postgres") from None
        try:
            return psycopg.connect(self.url)
        except psycopg.Error as error:
            reason = self._hide(shorten_error(error))
        raise NoDatabase(hide_password(self.url), reason)

    def _hide(self, text: str) -> str:
        """Take this address's password out of a driver's message.

        Called by ``ConnectionUrl._connect``.
        """
        parts = urlsplit(self.url)
        options = [value for key, value in parse_qsl(parts.query) if "password" in key.lower()]
        for secret in filter(None, [parts.password, *options]):
            for spelled in (secret, unquote(secret)):
                text = text.replace(spelled, "***")
        return text


def _find_user(url: str) -> str:
    """Find what stands before the ``@`` of an address: a user, perhaps with a password.

    Called by ``ConnectionUrl.__post_init__``.
    """
    user, mark, _ = url.partition("://")[2].partition("@")
    return user if mark else ""
