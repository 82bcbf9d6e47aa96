"""What all tests share: one Hypothesis profile, two tiers, and a PostgreSQL for those that ask."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from tests.postgres import postgres_server as postgres_server
from tests.postgres import postgres_url as postgres_url

from boundit.cli.init import make_example

# The same examples on every machine, none refused for being slow.
settings.register_profile("boundit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("boundit")


SYSTEM = {"browser", "postgres_server", "spark"}
"""Fixtures that start a program of the system."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave research, and tests that start a program of the system, to ``make test-all``."""
    research = config.rootpath / "research"
    for item in items:
        started = SYSTEM.intersection(getattr(item, "fixturenames", ()))
        if started or item.path.is_relative_to(research):
            item.add_marker(pytest.mark.full)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run the README's Python where its commands were run."""
    if item.path != item.config.rootpath / "README.md":
        return (yield)
    with TemporaryDirectory() as place, contextlib.chdir(place):
        Path("pharmacy").mkdir()
        for name, text in make_example().items():
            Path("pharmacy", name).write_text(text, encoding="utf-8")
        return (yield)
