import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from boundit.cli.check import check
from boundit.core.errors import DataError, OptionError, UnreadableFile

RIGHT, WRONG = "X -> Z -> Y; X -> Y", "X -> Z -> Y"


@pytest.fixture
def log(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 800)
    z = (rng.random(800) < 0.3 + 0.4 * x).astype(int)
    y = (rng.random(800) < 0.2 + 0.2 * z + 0.4 * x).astype(int)
    path = tmp_path / "log.csv"
    np.savetxt(path, np.stack([x, z, y], axis=1), "%d", ",", header="X,Z,Y", comments="")
    return str(path)


def test_a_contradiction_is_shown_and_exits_1(log: str) -> None:
    answer = CliRunner().invoke(check, [WRONG, log])

    assert answer.exit_code == 1
    assert answer.output.startswith("1 of 1 tested implication contradicted")
    assert "contradicted: X and Y are independent among rows with the same Z." in answer.output


def test_a_graph_that_nothing_contradicts_exits_0(log: str) -> None:
    answer = CliRunner().invoke(check, [RIGHT, log])

    assert answer.exit_code == 0
    assert answer.output == (
        "the graph cannot be contradicted by this log: every pair stays connected\n"
    )


def test_json_is_one_line_of_findings(log: str) -> None:
    answer = CliRunner().invoke(check, [WRONG, log, "--json", "--level", "0.01"])
    record = json.loads(answer.output)

    assert answer.exit_code == 1
    assert (record["contradicted"], record["level"]) == (True, 0.01)
    assert record["findings"][0]["given"] == ["Z"]
    assert record["findings"][0]["corrected_p"] < 0.01


def test_the_same_error_as_from_python_comes_out(log: str) -> None:
    answer = CliRunner().invoke(check, [WRONG, f"{log}.none"])

    assert isinstance(answer.exception, UnreadableFile)


def test_a_log_of_a_policy_that_learned_is_refused(log: str) -> None:
    answer = CliRunner().invoke(check, [WRONG, log, "--adaptive"])

    assert isinstance(answer.exception, DataError)


def test_the_log_is_required() -> None:
    assert CliRunner().invoke(check, [WRONG]).exit_code == 2


def test_limits_are_named_as_flags(log: str) -> None:
    answer = CliRunner().invoke(check, [WRONG, log, "--time-limit", "0"])

    assert answer.exit_code == 0
    assert "caveat: --time-limit 0 ended the search for implications" in answer.output


def test_a_memory_limit_is_bytes_or_a_size(log: str) -> None:
    assert CliRunner().invoke(check, [WRONG, log, "--memory-limit", "2GB"]).exit_code == 1
    answer = CliRunner().invoke(check, [WRONG, log, "--memory-limit", "much"])

    assert isinstance(answer.exception, OptionError)
