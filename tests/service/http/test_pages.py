"""Pages for people say what there is, hold no script, and ask for nothing from elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from boundit.service.store.sqlite import SqliteStore
from tests.service.http.served import Served, run_server
from tests.service.kit import decide, make_config, reward, run_engine


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    odd = make_config(
        "odd", kind="UCB", bounds=None, arms=["<b>&", "plain"], reward_range=(0, 1)
    )
    window = make_config("ads", kind="UCB", window=60.0, default_reward=0.0, explore=0.25)
    with run_engine(SqliteStore(tmp_path), window, odd) as engine, run_server(engine) as found:
        decide(engine, "a", age=1)
        reward(engine, "a", 1.0)
        yield found


def test_the_first_page_has_a_line_for_every_policy(served: Served) -> None:
    page = served.get("/")
    text = page.text.decode()

    assert page.headers["content-type"].startswith("text/html")
    assert text.count('<a href="/policies/') == 2
    assert "version 1" in text


def test_the_page_of_a_policy_says_what_it_does_in_words_and_pictures(served: Served) -> None:
    text = served.get("/policies/ads").text.decode()

    assert "A decision is learned 1 minute after it was made." in text
    assert "One decision in 4 is drawn uniformly." in text
    assert text.count("<meter") == 1
    assert "0.94" in text
    assert text.count('<svg class="intervals"') == 2
    assert " style=" not in text


def test_names_are_escaped_and_nothing_comes_from_elsewhere(served: Served) -> None:
    served.post("/v1/policies/odd/decide", {"id": "x", "arms": ["<b>&"]})
    page = served.get("/policies/odd")
    text = page.text.decode()

    assert "&lt;b&gt;&amp;" in text
    assert "<b>" not in text
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!/|data:,)', text)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_page_that_is_not_there_is_refused(served: Served) -> None:
    assert served.get("/policies/none").status == 404
