"""What all tests share: one Hypothesis profile, and a PostgreSQL for those that ask."""

from hypothesis import settings

from tests.postgres import postgres_server as postgres_server
from tests.postgres import postgres_url as postgres_url

# The same examples on every machine, none refused for being slow.
settings.register_profile("boundit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("boundit")
