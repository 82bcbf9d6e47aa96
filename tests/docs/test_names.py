"""What pages name exists, and what people search for is on the page that answers it."""

import re
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path

import click
import pytest

import boundit
from boundit.cli.main import app
from tests.docs.pages import DOCS, PAGES, name_page

RESEARCH = {"audit", "reproduce", "study"}
"""Commands of the second package."""
SEARCHED: Mapping[str, str] = {
    "index": "causal bounds; install",
    "tutorials/quickstart": "quickstart; CSV; causal effect in Python",
    "tutorials/pharmacy": "confounding; selection bias; tutorial",
    "tutorials/studio": "DAG editor; DAGitty; draw a causal graph",
    "tutorials/experiment": "RAND; validation; observational data",
    "guides/graphs": "DAG; DOT; DAGitty; networkx; selection node",
    "guides/data": "CSV; Parquet; pandas; Spark; SQL; weights",
    "guides/effects": "ATE; CATE; uplift; difference; minimize; lower is better",
    "guides/identification": "back-door; front-door; instrumental variable; collider",
    "guides/graph-tests": "falsification; conditional independence test",
    "guides/wide-intervals": "whole range; vacuous; not identified",
    "guides/sensitivity": "unmeasured confounding; robustness; E-value; Rosenbaum",
    "guides/decisions": "minimax regret; policy learning; targeting; budget",
    "guides/policy-evaluation": "OPE; IPS; doubly robust; missing propensities",
    "guides/covariates": "high-dimensional; doubly robust; AIPW; overlap",
    "guides/sources": "data fusion; trial; observational data; survey weights",
    "guides/bandits": "bandit; warm start; cold start; Thompson sampling; LinUCB",
    "guides/production": "delayed feedback; save and load; drift",
    "guides/service": "HTTP API; curl; Personalizer; propensity logging",
    "concepts/biases": "Simpson's paradox; Berkson; survivorship bias",
    "concepts/partial-identification": "Manski bounds; identified set",
    "concepts/rules": "c-component; natural bounds; response types",
    "concepts/inference": "finite-sample; simultaneous; cluster; adaptive data",
    "concepts/limitations": "assumptions; interference; privacy",
    "paper": "prior causal bounds; reproduction",
}
"""By page what people who need it type into the search field."""


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_and_names_on_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`boundit ([a-z]\w*)", text))
    assert named <= {*app.list_commands(click.Context(app)), *RESEARCH}
    for name in set(re.findall(r"(?<![\w-])bd\.(\w+(?:\.\w+)?)", text)):
        attrgetter(name)(boundit)


@pytest.mark.parametrize("page", SEARCHED)
def test_a_page_has_the_words_by_which_it_is_searched(page: str) -> None:
    words = set(
        re.findall(r"[\w'-]+", (DOCS / f"{page}.md").read_text(encoding="utf-8").lower())
    )
    missing = [
        term
        for term in SEARCHED[page].split("; ")
        if not all(any(w.startswith(part) for w in words) for part in term.lower().split())
    ]
    assert missing == []
