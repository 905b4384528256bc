"""Error codes and statuses, compared with the documented table."""

import inspect
from typing import Any

from shared.http.envelope import HttpResponse, error_body
from shared.kernel import errors
from shared.kernel.errors import CODES, Problem, ServiceError
from tests.cases import each_case
from tools.openapi.declared import operations

_TABLE = {
    "bad_request": 400, "idempotency_key_required": 400, "unauthenticated": 401,
    "feature_not_in_plan": 402, "limit_reached": 402, "tenant_suspended": 402,
    "tenant_cancelled": 402, "forbidden": 403, "missing_scope": 403, "client_not_allowed": 403,
    "not_found": 404, "transfer_orders_disabled": 404, "bulk_import_disabled": 404,
    "method_not_allowed": 405, "conflict": 409, "duplicate_in_flight": 409,
    "approval_required": 409, "order_in_wave": 409, "stale_state": 409,
    "validation_failed": 422, "idempotency_key_reused": 422, "rule_blocked": 422,
    "import_refused": 422, "tenant_moved": 410, "gone": 410, "payload_too_large": 413,
    "rate_limited": 429,
}  # fmt: skip
_SERVICE_CODES = {"internal_error": 500, "service_unavailable": 503}

_ARGUMENTS: dict[str, Any] = {
    "message": "text", "address": "https://x.test", "feature": "webhooks.enabled",
    "upgrade_url": "https://x.test/plans", "permission": "exits.manage", "scope": "stocks:read",
    "method": "PUT", "allowed": ["GET", "POST"], "retry_after": 3, "what": "The product",
    "tenant": "acme", "text": "BOLT-M8", "collection": "products",
    "problems": [Problem("name", "is required"), Problem("qty", "must be a number")],
}  # fmt: skip
_KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, ServiceError) and kind is not ServiceError
]


def test_every_code_has_its_documented_status() -> None:
    assert {code: row.status for code, row in CODES.items()} == _TABLE | _SERVICE_CODES


def _raised(kind: type[ServiceError]) -> ServiceError:
    needed = inspect.signature(kind).parameters
    return kind(**{name: _ARGUMENTS[name] for name in needed if name in _ARGUMENTS})


@each_case("kind", _KINDS)
def test_every_error_has_the_envelope(kind: type[ServiceError]) -> None:
    error = _raised(kind)

    body = error_body(error, "r1", "https://docs.test")

    assert error.status == CODES[error.code].status
    assert f"{error.status} {error.code}" in (kind.__doc__ or "")
    assert body["message"] == body["error"]["message"] == str(error)
    assert body["error"]["doc_url"] == f"https://docs.test/errors#{error.code}"
    assert body["error"]["request_id"] == "r1"
    assert [problem["field"] for problem in body["errors"]] == [p.field for p in error.problems]


def test_errors_have_their_documented_fields() -> None:
    extras = {kind.__name__: set(_raised(kind).extra) for kind in _KINDS}

    assert extras["MissingScope"] == {"scope"}
    assert extras["FeatureNotInPlan"] == {"feature", "upgrade_url"}
    assert extras["ValidationFailed"] == {"field"}
    assert _raised(errors.MethodNotAllowed).headers == {"Allow": "GET, POST"}
    assert _raised(errors.DuplicateInFlight).headers == {"Retry-After": "3"}
    assert _raised(errors.ServiceUnavailable).headers == {"Retry-After": "3"}
    assert errors.DuplicateInFlight(-5).headers == {"Retry-After": "1"}


@each_case("kind", [errors.ValidationFailed, errors.RuleBlocked])
def test_message_of_problems_names_the_first_and_counts_the_others(
    kind: type[errors.ValidationFailed | errors.RuleBlocked],
) -> None:
    problems = [Problem("qty", "must be more than 0"), Problem("name", "is required")]

    assert str(kind(problems[:1])) == "qty: must be more than 0"
    assert str(kind(problems)) == "qty: must be more than 0 (and 1 more)"


def test_code_in_place_of_an_id_is_refused_with_the_filter_that_finds_it() -> None:
    for collection, name in errors.CODE_FILTERS.items():
        (parameters,) = [one.parameters for one in operations() if one.name == f"GET /{collection}"]
        assert parameters
        assert name in parameters.model_fields, collection
    with_filter = errors.NoId("A/1 é", "products").message
    assert with_filter.endswith("find it with GET /products?item_code=A%2F1%20%C3%A9.")
    assert errors.NoId("x" * 5000, "waves").message == (
        f"{'x' * 200} is no id. An id is a number; find it with GET /waves."
    )


def test_code_in_place_of_an_id_names_a_list_only_if_there_is_one() -> None:
    lists = {one.path for one in operations() if one.is_list}
    for collection in {one.path.split("/")[1] for one in operations() if "/{id}" in one.path}:
        is_named = "find it with" in errors.NoId("A", collection).message
        assert is_named == (f"/{collection}" in lists), collection


def test_response_fits_up_to_the_lambda_limit() -> None:
    assert HttpResponse(200, "x" * 5_800_000).fits
    assert not HttpResponse(200, "x" * 5_900_000).fits
    assert not HttpResponse(200, '"' * 2_950_000).fits
    assert not HttpResponse(200, "\u20ac" * 2_000_000).fits
