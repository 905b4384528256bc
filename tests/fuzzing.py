"""schemathesis over the OpenAPI document: what it tries, and what it may expect of an answer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.schemas import BaseSchema

DOCUMENT = Path(__file__).parents[1] / "docs" / "openapi.json"

SEED = 20_261_121
"""Replays what was tried. Another one finds other things: change it at will."""

_REFUSAL_STATUSES = ["400", "401", "403", "404", "405", "409", "410", "413", "422", "429", "503"]
"""A wrong request may be told first what else is wrong: it is too large, the resource is gone."""

_ACCEPTANCE_STATUSES = ["2xx", "304", "401", "403", "404", "409", "410", "413", "422", "429", "503"]
"""422 and 413 among them: no schema can say that a body names a product that does not exist or a
code that is taken, or that lists which are not too long are too much together."""

_BEARERS = {"client", "user"}
"""Security schemes whose requests carry a token of ours."""


def schema(*, examples: int, coverage: bool) -> BaseSchema:
    """Every operation of the document, and how to try it.

    Args:
        examples: How many requests to make up per operation, valid and invalid ones.
        coverage: Whether to go through the bounds of every field and parameter as well: some
            hundred requests per operation.
    """
    config = SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "generation": {"max-examples": examples, "database": "none"},
            "phases": {
                "coverage": {
                    "enabled": coverage,
                    # The gateway passes on no others: TRACE and QUERY end before any function.
                    "unexpected-methods": ["get", "post", "put", "patch", "delete"],
                    # Made-up requests check it as well, and each check costs two requests.
                    "checks": {"ignored_auth": {"enabled": False}},
                },
                # Needs links between operations, which the document does not have.
                "stateful": {"enabled": False},
            },
            "checks": {
                "negative_data_rejection": {"expected-statuses": _REFUSAL_STATUSES},
                "positive_data_acceptance": {"expected-statuses": _ACCEPTANCE_STATUSES},
            },
            "operations": [
                # The bounds of list parameters are the business of `test_list_parameters.py`.
                {
                    "include-operation-id-regex": "^list_",
                    "phases": {"coverage": {"enabled": False}},
                },
                # PUT and PATCH of a resource are one handler and one body.
                {
                    "include-operation-id-regex": "^change_.*_by_put$",
                    "phases": {"coverage": {"enabled": False}},
                },
            ],
        }
    )
    document: dict[str, Any] = json.loads(DOCUMENT.read_text())
    return schemathesis.openapi.from_dict(document, config=config)


def headers(case: schemathesis.Case[Any], token: str) -> dict[str, str]:
    """Headers of a caller; where tokens are had, there is none yet."""
    security = case.operation.definition.raw["security"]
    bearer = any(_BEARERS & requirement.keys() for requirement in security)
    return {"Authorization": f"Bearer {token}"} if bearer else {}


@contextmanager
def seed_in_failure() -> Iterator[None]:
    """Have a failure say which seed found it."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"seed {SEED} of {__name__}")
        raise
