"""Validation of responses against the committed OpenAPI document."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from tests.gateway import Response
from tools.openapi.__main__ import texts

_PATH = Path(__file__).parents[1] / "docs" / "reference" / "openapi.json"


def _closed(node: Any) -> Any:
    """Return the schema with `additionalProperties: false` in every object."""
    if isinstance(node, list):
        return [_closed(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    closed = {name: _closed(inner) for name, inner in node.items()}
    if node.get("type") == "object" and "properties" in node:
        closed["additionalProperties"] = False
    return closed


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON document."""
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for entry in node:
            yield from objects(entry)


@cache
def generated_texts() -> dict[str, str]:
    """Return the generated files by name, made once per process."""
    return texts()


@cache
def document() -> dict[str, Any]:
    """Return the document; its objects allow no further properties."""
    found: dict[str, Any] = _closed(json.loads(_PATH.read_text()))
    return found


def _resolve(node: Any) -> Any:
    while isinstance(node, dict) and "$ref" in node:
        found: Any = document()
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def complaints(method: str, path: str, answer: Response) -> list[str]:
    """Return the deviations of a response from the document; `path` is the path template."""
    declared = document()["paths"][path][method.lower()]["responses"]
    if str(answer.status) not in declared:
        return [f"status {answer.status} is not declared: {answer.text[:300]}"]
    response = _resolve(declared[str(answer.status)])
    found = []
    for name, reference in response["headers"].items():
        header = _resolve(reference)
        if name not in answer.headers:
            found += [f"header {name} is missing"] if header.get("required") else []
        elif (pattern := header["schema"].get("pattern")) and not re.search(
            pattern, answer.headers[name]
        ):
            found.append(f"header {name} is {answer.headers[name]}")
    found += [
        f"header {name} is not declared"
        for name in document()["components"]["headers"].keys() - response["headers"].keys()
        if name in answer.headers
    ]
    if "content" not in response:
        return found + (["a body was not declared"] if answer.text else [])
    media = answer.headers.get("Content-Type", "application/json")
    if media not in response["content"]:
        return [*found, f"content type {media} is not declared"]
    if media != "application/json":
        return found
    codes = response.get("x-error-codes")
    if codes and (code := answer.json().get("error", {}).get("code")) not in codes:
        found.append(f"error.code {code} is not declared")
    return found + _deviations(response["content"], answer.json())


def event_complaints(kind: str, sent: object) -> list[str]:
    """Return the deviations of the body of an event from the document."""
    request = document()["webhooks"][kind]["post"]["requestBody"]
    return _deviations(request["content"], sent)


def _deviations(content: Any, body: object) -> list[str]:
    schema = {**content["application/json"]["schema"], "components": document()["components"]}
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
        for error in validator.iter_errors(body)
    ]
