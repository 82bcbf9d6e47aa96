"""The document holds for a running server: schemathesis draws requests by it.

A few for each operation, always the same; ``BOUNDIT_EXAMPLES`` asks for so many, and for others
each time (``make requests``).
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema as Schema

from boundit.service.http.app import DECLARED
from boundit.service.http.openapi import OPERATIONS, Operation
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.http.served import Served, run_server
from tests.service.kit import decide, make_config, reward, run_engine

assert DECLARED
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = int(os.environ.get("BOUNDIT_EXAMPLES", "0"))
DRAWN = settings(
    max_examples=EXAMPLES or 8,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def _can_be_wrong(operation: Operation) -> bool:
    """Tell whether a request can be against the schema of its body or query."""
    places = {part.place for part in operation.parameters}
    return operation.takes is not None or "query" in places


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = SqliteStore(tmp_path_factory.mktemp("served"))
    config, closed = make_config(explore=0.1, window=3600), make_config("shop", kind="UCB")
    with run_engine(store, config, closed) as engine, run_server(engine) as found:
        decide(engine, "visitor")
        reward(engine, "visitor", 1.0)
        yield found


@pytest.fixture(scope="module")
def schema(served: Served) -> Schema:
    return schemathesis.openapi.from_url(f"{served.url}/openapi.json")


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        (one.name, mode)
        for one in OPERATIONS
        for mode in GenerationMode
        # A request without a body and a query cannot be against the schema.
        if mode is GenerationMode.POSITIVE or _can_be_wrong(one)
    ],
)
def test_every_answer_is_one_that_the_document_promises(
    schema: Schema, name: str, mode: GenerationMode
) -> None:
    """No 5xx, no status or type that is not written down, answers as their schemas say."""
    operation = schema.find_operation_by_id(name)
    paths: list[dict[str, str] | None] = [None]
    if "{policy}" in operation.path:
        paths.append({"policy": "ads"})
    for path in paths:

        @DRAWN
        @given(case=operation.as_strategy(mode, path_parameters=path))
        def ask(case: "schemathesis.Case[Any]") -> None:
            case.call_and_validate(checks=CHECKS, timeout=PATIENCE)

        ask()
