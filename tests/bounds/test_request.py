from math import inf
from typing import Any

import pandas as pd
import pytest

from boundit.bounds.request import (
    NoConfidence,
    NotABanditQuestion,
    UnknownInference,
    check_limits,
    hide_reward,
    open_external_logs,
    read_bandit_query,
    read_request,
)
from boundit.core.errors import (
    BounditError,
    OptionError,
    OverlappingRoles,
    ReservedName,
    UnknownNode,
)
from boundit.counts.log import read_log
from boundit.estimand.query import parse_query
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.bounds.exact import questions

GRAPH = parse("Z -> X -> Y; Z -> Y; n -> Y")


def test_text_and_a_query_ask_the_same() -> None:
    assert read_bandit_query(GRAPH, "Y | do(X), Z") == read_bandit_query(
        GRAPH, parse_query("Y | do(X), Z")
    )


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ("Y, Z | do(X)", NotABanditQuestion, "bounds are for one reward, found Y, Z"),
        ("Y | Z", NotABanditQuestion, "has no treatment; write the arms as do"),
        ("Z | do(X), Y", NotABanditQuestion, "the context 'Y' is an effect of the treatments"),
        ("Y | do(Q)", UnknownNode, "no node 'Q'"),
        ("Y | do(Y)", OverlappingRoles, "'Y'"),
        ("Y | do(n)", ReservedName, "cannot be called 'n'"),
        (7, BounditError, "a query is read from text"),
    ],
)
def test_a_question_without_arms_and_contexts_is_refused(
    asked: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        read_bandit_query(GRAPH, asked)


def test_a_hidden_reward_causes_nothing_and_follows_what_the_reward_followed() -> None:
    for case in questions(40, 9):
        graph, y = case.model.graph, case.query.outcomes[0]
        drawn = hide_reward(graph, y)

        assert drawn.nodes == graph.nodes
        assert drawn.selection == graph.selection
        assert not drawn.links[y].children
        others = graph.observed - {y}
        if not graph.links[y].children:
            assert drawn == graph
        for other in others:
            # The success is a noisy copy: what the reward is apart from, the success is.
            if open_walk(graph, y, other, given=frozenset()) is None:
                assert open_walk(drawn, y, other, given=frozenset()) is None


TWO = parse("X -> Y")
PLAIN = {"max_condition": 3, "time_limit": None, "domain": None}


@pytest.mark.parametrize(
    "change",
    [
        {"max_condition": -1},
        {"max_condition": 1.5},
        {"max_condition": True},
        {"max_condition": "3"},
        {"time_limit": -1},
        {"time_limit": float("nan")},
        {"time_limit": "1"},
        {"domain": ["X"]},
        {"domain": "X"},
    ],
)
def test_limits_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    check_limits(**PLAIN)
    with pytest.raises(OptionError, match=f"{next(iter(change))} must be"):
        check_limits(**(PLAIN | change))


@pytest.mark.parametrize(
    "alone",
    ["pop.csv", read_log({"X": [0]}), {"X": [0]}, pd.DataFrame({"X": [0]}), None, 5],
    ids=["path", "log", "dict", "frame", "none", "number"],
)
def test_one_table_where_a_list_was_meant_is_refused(alone: object) -> None:
    with pytest.raises(OptionError, match="external must be a list of tables"):
        open_external_logs(TWO, alone)  # type: ignore[arg-type]


def test_a_table_of_other_things_is_refused() -> None:
    with pytest.raises(OptionError, match="the dict of columns, given as external=, has Q"):
        open_external_logs(TWO, [{"X": [0]}, {"Q": [0]}])
    assert [log.columns for log in open_external_logs(TWO, ({"X": [0], "Q": [1]},))] == [
        ("X", "Q")
    ]


def test_a_request_keeps_what_was_asked_and_reads_no_row() -> None:
    rows = {"X": [0, 1], "Y": [0.5, 2.0]}
    request = read_request(TWO, "Y | do(X)", rows, outcome_range=(0, 2), profile="paper")

    assert request.query == parse_query("Y | do(X)")
    assert request.log.columns == ("X", "Y")
    assert request.confidence is None
    assert (request.domain, request.tables, request.external) == ({}, [], ())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "paper"}, "profile='paper' neglects sampling error; leave out inference="),
        ({"confidence": None}, "allows for sampling error; pass a chance as confidence=0.95"),
    ],
)
def test_approximate_intervals_need_a_confidence(options: dict[str, Any], said: str) -> None:
    log = {"X": [0, 1], "Y": [0, 1]}
    with pytest.raises(NoConfidence, match=said) as caught:
        read_request(parse("X -> Y"), "Y | do(X)", log, inference="approximate", **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("confidence", [0.95, None])
def test_an_exact_law_has_nothing_to_approximate(confidence: float | None) -> None:
    law = read_log({"X": [0, 1], "Y": [0, 1], "p": [0.5, 0.5]}, weight="p", exact=True)
    with pytest.raises(NoConfidence, match="no sampling error; leave out inference='approxim"):
        read_request(
            parse("X -> Y"), "Y | do(X)", law, inference="approximate", confidence=confidence
        )


def test_an_inference_that_is_none_of_ours_is_refused_with_those_that_are() -> None:
    log: Any = {"X": [0, 1], "Y": [0, 1]}
    with pytest.raises(UnknownInference, match="no inference 'bayes'; there are exact, approx"):
        read_request(parse("X -> Y"), "Y | do(X)", log, inference="bayes")  # type: ignore[arg-type]


def test_a_log_that_a_learning_policy_wrote_has_exact_intervals_alone() -> None:
    log = read_log({"X": [0, 1], "Y": [0, 1]}, adaptive=True)
    with pytest.raises(NoConfidence, match="exact intervals alone; leave out inference='appr"):
        read_request(parse("X -> Y"), "Y | do(X)", log, inference="approximate")


@pytest.mark.parametrize(
    ("options", "cluster", "units"),
    [
        ({}, None, "independent rows"),
        ({}, "User", "independent clusters by User"),
        ({"adaptive": True}, None, "rows that a policy chose while it learned"),
    ],
)
def test_a_request_says_what_its_log_is_made_of(
    options: dict[str, Any], cluster: str | None, units: str
) -> None:
    log = read_log({"X": [0, 1], "Y": [0, 1], "User": [1, 2]}, **options)

    assert read_request(parse("X -> Y"), "Y | do(X)", log, cluster=cluster).units == units


def test_a_limit_on_an_edge_is_replaced_or_taken_away() -> None:
    graph = parse("X -> Y; A -> Y; X <-> Y; A <-> Y")
    log: Any = {"X": [0, 1], "A": [0, 1], "Y": [0, 1]}
    request = read_request(
        graph, "Y | do(X, A)", log, confounding_limit={"X <-> Y": 2, "A <-> Y": 3}
    )

    assert request.with_confounding("Y <-> X", 5).limits.by_edge == {
        "A <-> Y": 3.0,
        "X <-> Y": 5.0,
    }
    assert request.with_confounding("X <-> Y", inf).limits.by_edge == {"A <-> Y": 3.0}


def test_the_printed_method_knows_no_limits() -> None:
    log: Any = {"X": [0, 1], "Y": [0, 1]}
    limits = {"X <-> Y": 2}
    with pytest.raises(OptionError, match="profile='paper' knows no confounding_limit"):
        read_request(
            parse("X -> Y; X <-> Y"),
            "Y | do(X)",
            log,
            profile="paper",
            confounding_limit=limits,
        )
