"""What all tests share: one Hypothesis profile, two tiers, and a PostgreSQL for those that ask."""

import pytest
from hypothesis import settings
from tests.postgres import postgres_server as postgres_server
from tests.postgres import postgres_url as postgres_url

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
