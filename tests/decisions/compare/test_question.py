"""What a comparison needs beside its bounds, and how the error is shared."""

import pytest

import boundit as bd
from boundit.counts.log import read_log
from boundit.decisions.compare.question import CannotCompare, CompareRequest, read_question
from tests.decisions.compare.tables import make_table

LOG = {"C": [0, 1], "X": ["a", "b"], "Y": [0, 1], "p": [0.5, 0.5]}
FREE = bd.parse_graph("C -> X -> Y; C -> Y")
BIASED = bd.parse_graph("C -> X -> Y; C -> [S]")


def ask(**options: object) -> CompareRequest:
    given: dict[str, object] = {
        "contexts": None,
        "log": None,
        "graph": None,
        "propensity": None,
        "confidence": 0.94,
    }
    sides = options.pop("sides", ("a", "b"))
    return read_question(make_table(), sides, **(given | options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sides": ("a", bd.LOGGED)}, "pass log="),
        ({"sides": ("a", "log"), "log": LOG}, "pass graph="),
        ({"sides": ("log", bd.LOGGED), "log": LOG, "graph": FREE}, "both sides"),
        (
            {"sides": ("a", "log"), "log": read_log(LOG, adaptive=True), "graph": FREE},
            "did not do one thing",
        ),
        ({"propensity": "p"}, "pass log="),
        ({"propensity": "p", "log": LOG, "graph": BIASED}, "selected log"),
        ({"propensity": "p", "log": LOG, "contexts": {0: 1}}, "leave out contexts"),
        ({"contexts": "log"}, "needs log= and graph="),
        ({"contexts": "log", "log": LOG}, "needs log= and graph="),
        ({"contexts": "log", "log": LOG, "graph": BIASED}, "selection may have changed"),
    ],
)
def test_what_is_missing_is_said_in_a_line(options: dict[str, object], said: str) -> None:
    with pytest.raises(CannotCompare, match=said):
        ask(**options)


def test_only_a_table_of_bounds_will_do() -> None:
    with pytest.raises(CannotCompare, match="found dict"):
        read_question(
            {},  # type: ignore[arg-type]
            ("a", "b"),
            contexts=None,
            log=None,
            graph=None,
            propensity=None,
            confidence=0.9,
        )


def test_contexts_are_the_logs_own_where_selection_left_them_alone() -> None:
    opened = read_log(LOG)
    assert ask().contexts == "any"
    assert ask(log=opened).contexts == "any"
    assert ask(log=opened, graph=FREE).contexts is opened
    assert ask(log=opened, graph=BIASED).contexts == "any"
    assert ask(log=opened, propensity="p").contexts is opened
    assert ask(log=opened, graph=FREE, contexts="any").contexts == "any"
    assert ask(log=opened, graph=FREE, contexts={0: 1}).contexts == {0: 1}


def test_the_error_is_shared_by_the_samples_that_are_read() -> None:
    opened = read_log(LOG)
    assert ask().claims == 0
    assert ask(log=opened, graph=FREE).claims == 1
    both = ask(log=opened, graph=FREE, sides=("a", "log"))
    assert both.claims == 2
    assert both.chance == pytest.approx(0.03)
    assert both.log_confidence == pytest.approx(0.97)
    every = ask(log=opened, graph=FREE, sides=("a", "log"), propensity="p")
    assert every.chance == pytest.approx(0.02)
    assert ask(log=opened, graph=FREE, confidence=None).chance == 0
    law = read_log({**LOG, "w": [0.5, 0.5]}, weight="w", exact=True)
    assert ask(log=law, graph=FREE, sides=("a", "log")).claims == 0
