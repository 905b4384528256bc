"""The Postman collection has the requests of the OpenAPI document."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.openapi import generated_texts


@pytest.fixture(scope="module")
def requests() -> dict[str, dict[str, Any]]:
    """The requests by method and path."""
    collection = json.loads(generated_texts()["docs/reference/postman.json"])
    found = (one["request"] for folder in collection["item"] for one in folder["item"])
    return {f"{one['method']} {one['url']['raw'].removeprefix('{{base}}')}": one for one in found}


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    document = json.loads(generated_texts()["docs/reference/openapi.json"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "head":
                continue  # as GET
            yield f"{method.upper()} {path.replace('{', ':').replace('}', '')}", operation


def test_every_operation_has_a_request(requests: dict[str, dict[str, Any]]) -> None:
    assert requests.keys() == dict(operations()).keys()
    for name, operation in operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        sent = requests[name].get("body", {}).get("raw")
        assert (json.loads(sent) if sent else None) == (content["example"] if content else None)


def test_writes_get_a_new_key_for_each_sending(requests: dict[str, dict[str, Any]]) -> None:
    (header,) = requests["POST /products"]["header"]
    assert (header["key"], header["value"]) == ("Idempotency-Key", "{{$guid}}")
    assert requests["GET /products"]["header"] == []


def test_ids_and_parameters_have_values_and_optional_ones_are_off(
    requests: dict[str, dict[str, Any]],
) -> None:
    (number,) = requests["GET /products/:id"]["url"]["variable"]
    assert (number["key"], number["value"]) == ("id", "1")
    query = requests["GET /products"]["url"]["query"]
    assert {one["key"] for one in query} >= {"page", "search"}
    assert all(one["disabled"] for one in query)


def test_forms_send_what_is_required(requests: dict[str, dict[str, Any]]) -> None:
    upload = {one["key"]: one for one in requests["POST /imports"]["body"]["formdata"]}
    assert upload["file"]["type"] == "file"
    assert [upload["kind"]["disabled"], upload["options"]["disabled"]] == [False, True]
    token = {one["key"]: one for one in requests["POST /oauth/token"]["body"]["urlencoded"]}
    assert (token["grant_type"]["value"], token["grant_type"]["disabled"]) == (
        "client_credentials",
        False,
    )
    assert requests["POST /oauth/token"]["auth"] == {"type": "noauth"}
