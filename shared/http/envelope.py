"""The two shapes of every answer: `{data}` and the error envelope."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.kernel.errors import ServiceError
from shared.kernel.json_text import dumps

_MAX_BODY = 5_900_000
"""Bytes; Lambda refuses answers above 6 291 456 with headers and escapes."""

_MAX_PROBLEMS = 5_000
"""Listed in one answer, so that it fits; a body of 1 MB can have more wrong values."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer on its way out: status, body, headers besides those that all have.

    The body of a file is its base64 text (`is_base64`), which the gateway decodes. One that
    shows a secret is kept sealed.
    """

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_base64: bool = False
    has_secret: bool = False

    @property
    def fits(self) -> bool:
        """Whether the gateway can carry it."""
        # Lambda writes the body as JSON once more; no character becomes more than six bytes.
        return len(self.body) * 6 < _MAX_BODY or len(json.dumps(self.body)) < _MAX_BODY


def error_body(error: ServiceError, request_id: str, docs_base: str) -> dict[str, Any]:
    """Build the error envelope."""
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "doc_url": f"{docs_base}/errors#{error.code}",
            "request_id": request_id,
            **error.extra,
        },
        "errors": [
            {"field": problem.field, "message": problem.message}
            for problem in error.problems[:_MAX_PROBLEMS]
        ],
        "message": error.message,
    }


def error_response(error: ServiceError, request_id: str, docs_base: str) -> HttpResponse:
    """Build the answer for a refusal."""
    return HttpResponse(
        error.status, dumps(error_body(error, request_id, docs_base)), error.headers
    )
