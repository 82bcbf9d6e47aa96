"""A command in a process of its own, with Ctrl-C once it has something done."""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from tests.patience import PATIENCE

AGAIN = 60
"""Seconds after which an impatient hand presses once more."""
# The bar of a terminal says how many are done: one at least.
_BEGUN = re.compile(r"\b[1-9]\d*/\d+")
# Whoever starts us in the background may have told us to ignore Ctrl-C.
_COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from boundit.cli.main import main; main()"
)


def interrupted(*arguments: str) -> tuple[int, str, str]:
    """Run a long command on a terminal, interrupt it, and give its code, output and errors."""
    pty = pytest.importorskip("pty", reason="a terminal of our own needs Unix")
    ours, theirs = pty.openpty()
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *arguments],
            stdout=out,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
            start_new_session=True,
        ) as child,
    ):
        os.close(theirs)
        try:
            said = _until(_BEGUN, ours)
            child.send_signal(signal.SIGINT)
            said += _rest(ours, child)
            code = child.wait(PATIENCE)
            out.seek(0)
            return code, out.read().decode(), said
        finally:
            child.kill()
            os.close(ours)


def _until(sign: re.Pattern[str], terminal: int) -> str:
    """Read what a terminal shows until there is a sign."""
    said, deadline = "", time.monotonic() + PATIENCE
    while not sign.search(said):
        more = _read(terminal, deadline - time.monotonic())
        assert more, f"no sign of a beginning: {said}"
        said += more
    return said


def _rest(terminal: int, child: "subprocess.Popen[bytes]") -> str:
    """Read until nobody writes any more."""
    said, deadline = "", time.monotonic() + PATIENCE
    while (more := _read(terminal, AGAIN)) != "":
        if more is None:
            assert time.monotonic() < deadline, f"it does not end: {said}"
            child.send_signal(signal.SIGINT)
        said += more or ""
    return said


def _read(terminal: int, seconds: float) -> str | None:
    """Read something; nothing is the end, and None that there was nothing to read for long."""
    if not select.select([terminal], [], [], max(0.0, seconds))[0]:
        return None
    try:
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:  # Linux says so when nobody writes any more
        return ""
