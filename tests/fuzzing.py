"""Configuration of schemathesis: the generated requests and the responses that are accepted."""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.schemas import BaseSchema

DOCUMENT = Path(__file__).parents[1] / "docs" / "reference" / "openapi.json"

SEED = int(os.environ.get("RANDOM_SEED", "20261121"))
"""Seed of the generated requests; another seed generates other requests."""

_UNCOVERED = ("^list_", "^change_.*_by_put$")
"""Operations whose bounds are tested elsewhere: `test_list_parameters.py` tests those of list
parameters; PUT and PATCH of a resource have the same handler and body."""

_REFUSAL_STATUSES = ["400", "401", "403", "404", "405", "409", "410", "413", "422", "429", "503"]
"""Statuses of an invalid request. It may fail an earlier check, such as its size."""

_ACCEPTANCE_STATUSES = ["2xx", "304", "401", "403", "404", "409", "410", "413", "422", "429", "503"]
"""Statuses of a request that satisfies the schema. It may still be refused: a schema cannot
express that a product must exist, that a code is taken, or that a body is too large."""

_REPEATS_ITS_BODY = "call_tools"
"""The operation whose headers repeat parts of the body, which no schema can say: 400 if not."""

_DATE_FILTERS = {"from", "to", "updated_since"}

_BEARERS = {"client", "user"}
"""Security schemes whose requests carry an access token of the service."""


def operation_ids() -> list[str]:
    """Return the ids of all operations."""
    document: dict[str, Any] = json.loads(DOCUMENT.read_text())
    return [
        operation["operationId"] for path in document["paths"].values()
        for operation in path.values() if "operationId" in operation
    ]  # fmt: skip


def coverable() -> list[str]:
    """Return the ids of the operations whose bounds can be tested."""
    ids = operation_ids()
    return [one for one in ids if not any(re.search(other, one) for other in _UNCOVERED)]


def date_filters() -> dict[str, Any]:
    """Return the document of the lists with several date filters, without other parameters."""
    document: dict[str, Any] = json.loads(DOCUMENT.read_text())
    lists: dict[str, Any] = {}
    for path, methods in document["paths"].items():
        parameters = methods.get("get", {}).get("parameters", [])
        dates = [one for one in parameters if one.get("name") in _DATE_FILTERS]
        if len(dates) > 1:
            lists[path] = {"get": {**methods["get"], "parameters": dates}}
    return {**document, "paths": lists}


def schema(
    *, examples: int, covered: Collection[str] = (), document: Mapping[str, Any] | None = None
) -> BaseSchema:
    """Return the schema of all operations with the test configuration.

    Args:
        examples: Number of requests that are generated per operation, valid and invalid.
        covered: Ids of the operations of which the bounds of every field and parameter are tested
            as well, with some hundred requests per operation.
        document: The OpenAPI document, if not that of the service.
    """
    config = SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "generation": {"max-examples": examples, "database": "none"},
            "phases": {
                "coverage": {
                    "enabled": bool(covered),
                    # API Gateway forwards no other method to a function.
                    "unexpected-methods": ["get", "post", "put", "patch", "delete"],
                    # Generated requests check it as well, and each check costs two requests.
                    "checks": {"ignored_auth": {"enabled": False}},
                },
                # The document has no links between operations, which this phase needs.
                "stateful": {"enabled": False},
            },
            "checks": {
                "negative_data_rejection": {"expected-statuses": _REFUSAL_STATUSES},
                "positive_data_acceptance": {"expected-statuses": _ACCEPTANCE_STATUSES},
            },
            "operations": [
                {
                    "exclude-operation-id": list(covered),
                    "phases": {"coverage": {"enabled": False}},
                },
                {
                    "include-operation-id": _REPEATS_ITS_BODY,
                    "checks": {
                        "positive_data_acceptance": {
                            "expected-statuses": [*_ACCEPTANCE_STATUSES, "400"]
                        }
                    },
                },
            ],
        }
    )
    described = dict(document or json.loads(DOCUMENT.read_text()))
    return schemathesis.openapi.from_dict(described, config=config)


def headers(case: schemathesis.Case[Any], token: str) -> dict[str, str]:
    """Return the headers of a request; open routes get no token.

    If-Match is a tag. Only its description says so: with a pattern, v1 would promise less.
    """
    security = case.operation.definition.raw["security"]
    bearer = any(_BEARERS & requirement.keys() for requirement in security)
    tag = {"If-Match": "*"} if "If-Match" in (case.headers or {}) else {}
    return tag | ({"Authorization": f"Bearer {token}"} if bearer else {})


@contextmanager
def seed_in_failure() -> Iterator[None]:
    """Add the seed to the message of a failure."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"seed {SEED} of {__name__}")
        raise
