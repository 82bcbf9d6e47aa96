"""``boundit stress``: in words, as JSON and as a page."""

import html
import json
import re
from pathlib import Path

import pytest

from tests.cli.answer import answer
from tests.cli.test_bound import GRAPH, QUERY
from tests.cli.test_bound import log as log
from tests.decisions.missing_edges import REFUTED, draw_refuting


def test_the_answer_comes_first_then_every_edge(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, "stress", GRAPH, QUERY, log)

    assert code == 0
    assert out.startswith("Stress test of E[")
    assert "X <-> Y" in out
    assert "not covered: two missing edges at once" in out
    assert answer(capsys, "stress", GRAPH, QUERY)[0] == 2


def test_a_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    asked = ("stress", GRAPH, QUERY, log, "--json", "--report", str(page))
    code, out, err = answer(capsys, *asked)

    assert code == 0
    assert {"edge", "meaning", "mean_width", "changed"} <= json.loads(out)["edges"][0].keys()
    said = re.findall(
        r'<p class="(?:verdict|verdict long|lead)">(.*?)</p>', page.read_text("utf-8")
    )
    assert html.unescape(" ".join(said)).startswith(json.loads(out)["summary"])
    assert err.endswith(f"wrote {page}\n")


def test_two_policies_are_compared_under_every_edge(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    arms = ("--policy", "choice", "--baseline", "0")
    record = json.loads(answer(capsys, "stress", GRAPH, QUERY, log, "--json", *arms)[1])

    assert record["comparison"]["policy"] == "the choice"
    assert {"verdict", "difference"} <= record["edges"][0].keys()
    code, _, err = answer(capsys, "stress", GRAPH, QUERY, log, "--policy", "choice")
    assert code == 2
    assert "--policy and --baseline go together" in err


def test_a_graph_that_the_data_refute(
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
    assert "The data refute the graph: " in out
    assert "They do not with " in out
    assert "refute the graph" in page.read_text("utf-8")
    assert "no model" in record["refutation"]
    assert {e["edge"] for e in record["edges"] if not e["refusal"]} == {"Z -> Y", "Y <-> Z"}
