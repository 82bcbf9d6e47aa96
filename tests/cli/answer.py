"""Run a command as a shell does, in this process."""

import pytest

from boundit.cli.main import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Give the exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err
