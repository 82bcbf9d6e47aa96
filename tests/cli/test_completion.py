import subprocess

import pytest
from click.testing import CliRunner

from boundit.cli.completion import SHELLS
from boundit.cli.main import app


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_its_lines(shell: str) -> None:
    shown = CliRunner().invoke(app, ["completion", shell])

    assert shown.exit_code == 0
    assert "_BOUNDIT_COMPLETE" in shown.output
    assert "boundit" in shown.output


def test_bash_reads_the_lines_without_complaint() -> None:
    script = CliRunner().invoke(app, ["completion", "bash"]).output

    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
