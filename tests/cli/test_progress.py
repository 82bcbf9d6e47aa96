import sys
from io import StringIO

import pytest

from boundit.cli.progress import show_progress, show_steps


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)

    with show_progress("models") as told:
        told(3, 7)

    assert "models" in shown.getvalue()


def test_a_terminal_sees_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)

    with show_steps() as tell:
        tell("count 12 columns", 0, 1)
        tell("try [1] rule", 1, 3)

    assert "try [1] rule" in shown.getvalue()


def test_a_file_or_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    monkeypatch.setattr(sys, "stderr", shown)

    with show_progress("models") as told:
        told(3, 7)

    assert not shown.getvalue()


def test_what_goes_wrong_inside_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())

    with pytest.raises(KeyboardInterrupt), show_progress("models"):
        raise KeyboardInterrupt
