"""Records the events of functions and the AWS responses (of moto) during each invocation."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.response import StreamingBody

from tests import gateway
from tests.bench.replay import RecordedResponse, kind_of
from tests.faults import AwsFaults, Call
from tests.stack import clear_all_caches


@dataclass(slots=True)
class Invocation:
    """One invocation: its event, its result, and the AWS responses during it."""

    event: dict[str, Any]
    result: dict[str, Any] = field(default_factory=dict)
    answers: list[RecordedResponse] = field(default_factory=list)


@contextmanager
def recorded(aws_faults: AwsFaults) -> Iterator[dict[str, Invocation]]:
    """Record the block; yield handler → its last invocation.

    Each invocation starts with empty caches, as in a new execution environment.
    """
    invocations: dict[str, Invocation] = {}
    running: list[Invocation] = []

    def watch(call: Call, forward: Any) -> Any:
        answer = forward()
        if running:
            http, parsed = answer[0]
            body = parsed.get("Body")
            content = body.read() if isinstance(body, StreamingBody) else http.content
            if isinstance(body, StreamingBody):
                parsed["Body"] = StreamingBody(io.BytesIO(content), len(content))
            running[-1].answers.append(
                {
                    "kind": kind_of(call.operation, json.dumps(call.request)),
                    "status": http.status_code,
                    "headers": dict(http.headers),
                    "body": content.decode("latin-1"),
                }
            )
        return answer

    original = gateway._function

    def function(handler: str) -> Any:
        target = original(handler)

        def handle(event: dict[str, Any], context: Any) -> Any:
            invocation = invocations[handler] = Invocation(event)
            running.append(invocation)
            clear_all_caches()
            try:
                invocation.result = target(event, context)
            finally:
                running.pop()
            return invocation.result

        return handle

    with pytest.MonkeyPatch.context() as patch, aws_faults.faulty(watch):
        patch.setattr(gateway, "_function", function)
        yield invocations
