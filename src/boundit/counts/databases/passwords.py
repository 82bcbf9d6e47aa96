"""Passwords in addresses of databases, which no message and no page shows."""

import re

_SECRET = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s]*(@)", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"([?&](?:ssl)?password=)[^&\s'\"]*", re.IGNORECASE)


def hide_password(text: str) -> str:
    """Replace the passwords of all addresses in a text by ``***``.

    Called by ``ConnectionUrl`` for its messages, by ``notify`` for whatever a command says, and
    by ``spell_command`` for reports.

    >>> hide_password("--connection postgresql://me:secret@host/db?sslpassword=x&a=b")
    '--connection postgresql://me:***@host/db?sslpassword=***&a=b'
    """
    return _SECRET_OPTION.sub(r"\1***", _SECRET.sub(r"\1***\2", text))
