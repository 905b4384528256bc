"""Records what AWS (moto) answers and which events the gateway hands to which function."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests import gateway
from tests.bench.replay import RecordedResponse, kind_of
from tests.faults import AwsFaults, Call
from tests.stack import forget_everything


@dataclass(slots=True)
class Invocation:
    """One event of one function, its answer, and the answers of AWS on the way."""

    event: dict[str, Any]
    result: dict[str, Any] = field(default_factory=dict)
    answers: list[RecordedResponse] = field(default_factory=list)


@contextmanager
def recorded(aws_faults: AwsFaults, *, fresh: bool = False) -> Iterator[dict[str, Invocation]]:
    """Record the block: handler → its last invocation.

    `fresh`: each function begins as in an execution environment of its own, knowing nothing.
    """
    invocations: dict[str, Invocation] = {}
    running: list[Invocation] = []

    def watch(call: Call, forward: Any) -> Any:
        answer = forward()
        if running:
            http = answer[0][0]
            running[-1].answers.append(
                {
                    "kind": kind_of(call.operation, json.dumps(call.request)),
                    "status": http.status_code,
                    "headers": dict(http.headers),
                    "body": http.content.decode(),
                }
            )
        return answer

    original = gateway._function

    def function(handler: str) -> Any:
        target = original(handler)

        def handle(event: dict[str, Any], context: Any) -> Any:
            invocation = invocations[handler] = Invocation(event)
            running.append(invocation)
            if fresh:
                forget_everything()
            try:
                invocation.result = target(event, context)
            finally:
                running.pop()
            return invocation.result

        return handle

    with pytest.MonkeyPatch.context() as patch, aws_faults.faulty(watch):
        patch.setattr(gateway, "_function", function)
        yield invocations
