"""Helpers for responses over HTTP."""

import uuid
from typing import Any

import httpx


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Assert a refusal in the error envelope; return the envelope."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.headers["Cache-Control"] == "no-store"
    envelope: dict[str, Any] = answer.json()
    assert envelope.keys() == {"error", "errors", "message"}
    error = envelope["error"]
    assert error["code"] == code
    assert error["message"] == envelope["message"]
    assert error["doc_url"].endswith(f"/errors#{code}")
    assert error["request_id"] == answer.headers["X-Request-Id"] != ""
    return envelope


def fields(answer: httpx.Response) -> list[str]:
    """Return the fields of all problems of a 422 response, in order."""
    envelope = refused(answer, 422, "validation_failed")
    paths = [problem["field"] for problem in envelope["errors"]]
    assert envelope["error"]["field"] == paths[0]
    return paths


def data(answer: httpx.Response, status: int = 200) -> Any:
    """Assert the status; return `data` of the body."""
    assert answer.status_code == status, answer.text
    assert answer.headers["X-Request-Id"]
    return answer.json()["data"]


def key() -> dict[str, str]:
    """Return headers with a new Idempotency-Key."""
    return {"Idempotency-Key": str(uuid.uuid4())}


def walk(client: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    """Return all rows of a list, read page by page by `links.next`."""
    answer = client.get(path, params=query)
    rows: list[dict[str, Any]] = []
    while True:
        rows += data(answer)
        following = answer.json()["links"]["next"]
        if following is None:
            return rows
        answer = client.get(following)
