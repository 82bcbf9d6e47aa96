"""``boundit stress``: in words, as JSON, and with the options of ``bound``."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.answer import answer
from tests.cli.test_bound import GRAPH, QUERY
from tests.cli.test_bound import log as log
from tests.decisions.stress.worlds import REFUTED, draw_refuting


def test_the_answer_comes_first_then_every_edge(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, "stress", GRAPH, QUERY, log)

    assert code == 0
    assert out.splitlines()[0].startswith(("The choice survives ", "There is no choice"))
    assert "Single edges, the most harmful first:" in out
    assert "Not varied:" in out


def test_a_record_has_all_that_was_tried(capsys: pytest.CaptureFixture[str], log: str) -> None:
    asked = ("stress", GRAPH, QUERY, log, "--json", "--rule", "maximin")
    record = json.loads(answer(capsys, *asked)[1])

    assert record["rule"] == "maximin"
    assert {"edges", "survives", "mean_width", "test"} <= record["tried"][0].keys()


def test_a_question_that_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, _, err = answer(capsys, "stress", GRAPH, QUERY, log, "--rule", "optimism")

    assert code == 2
    assert "--optimism" in err
    assert answer(capsys, "stress", GRAPH, QUERY)[0] == 2


def test_a_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    asked = ("stress", GRAPH, QUERY, log, "--json", "--report", str(page))
    code, out, err = answer(capsys, *asked)

    assert code == 0
    assert json.loads(out)["summary"] == " ".join(
        re.findall(
            r'<p class="(?:verdict|verdict long|lead)">(.*?)</p>', page.read_text("utf-8")
        )
    )
    assert err.endswith(f"wrote {page}\n")


def test_two_policies_are_compared_under_every_edge(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    arms = ("--new", "choice", "--old", "0")
    record = json.loads(answer(capsys, "stress", GRAPH, QUERY, log, "--json", *arms)[1])

    assert record["comparison"]["policy"] == "the choice"
    assert {"verdict", "difference", "unsettled"} <= record["tried"][0].keys()

    code, _, err = answer(capsys, "stress", GRAPH, QUERY, log, "--new", "choice")
    assert code == 2
    assert "--new is compared with another policy; give both" in err


def test_a_graph_that_the_log_refutes_is_said_and_the_others_are_tried(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    columns = draw_refuting()
    rows = zip(*columns.values(), strict=True)
    log = tmp_path / "refuting.csv"
    log.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    page = tmp_path / "page.html"
    asked = ("stress", REFUTED, "Y | do(X)", str(log))
    code, out, _ = answer(capsys, *asked, "--report", str(page))
    record = json.loads(answer(capsys, *asked, "--json")[1])

    assert code == 0
    assert out.startswith("The log refutes the graph as drawn: ")
    assert "Z -> Y" in out
    assert "refutes the graph as drawn" in page.read_text("utf-8")
    assert "no model" in record["refutation"]
    assert {e["edges"][0] for e in record["tried"] if e["rescues"]} == {"Z -> Y", "Y <-> Z"}
