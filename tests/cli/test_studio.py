import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from boundit.cli.main import main
from tests.patience import PATIENCE


def test_the_studio_prints_its_link_and_ends_by_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "boundit", "studio", str(tmp_path), "--port", "0"]
    with subprocess.Popen(
        [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        link = re.fullmatch(
            r"the studio is open at (http://127\.0\.0\.1:\d+/\?token=\S+)\n", line
        )
        assert link, running.communicate()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(link[1].partition("?")[0], timeout=PATIENCE)
        assert refused.value.code == 403
        refused.value.close()
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(link[1], timeout=PATIENCE) as page:
            assert page.status == 200
        with browser.open(link[1].partition("?")[0] + "api/start", timeout=PATIENCE) as begun:
            assert begun.status == 200, "a worker begins"
        running.send_signal(signal.SIGINT)
        closed, said = running.communicate(timeout=PATIENCE)
    assert closed == f"the studio is closed; what was drawn is kept in {tmp_path}\n"
    assert said == ""
    assert running.returncode == 0


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["studio", "nowhere-at-all", "--no-browser"])

    assert left.value.code == 2
    assert "nowhere-at-all" in capsys.readouterr().err
