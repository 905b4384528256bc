"""Traces: subsegments of the function's X-Ray segment, sent without the SDK of X-Ray (D-265)."""

import json
import os
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

_parent: ContextVar[str | None] = ContextVar("parent", default=None)
"""Id of the subsegment that is open; None for the function's own segment."""

_TO_SEGMENT_NAME = str.maketrans({"{": ":", "}": None})
"""X-Ray refuses names with braces."""


class _Trace(NamedTuple):
    """What a subsegment needs to know of the trace that it belongs to."""

    root: str
    parent: str
    daemon: tuple[str, int]


def is_tracing() -> bool:
    """Return whether the deployment traces requests (the parameter Tracing)."""
    return os.environ.get("TRACING") == "on"


def _trace() -> _Trace | None:
    """Return the trace of this invocation; None when it is not sampled, or traces are off."""
    if not is_tracing():
        return None
    header = dict(
        part.split("=", 1)
        for part in os.environ.get("_X_AMZN_TRACE_ID", "").split(";")
        if "=" in part
    )
    host, _, port = os.environ.get("AWS_XRAY_DAEMON_ADDRESS", "").rpartition(":")
    if header.get("Sampled") != "1" or not port.isdigit():
        return None
    parent = _parent.get() or header.get("Parent", "")
    return _Trace(header.get("Root", ""), parent, (host, int(port)))


@contextmanager
def span(name: str, **annotations: str | None) -> Iterator[None]:
    """Trace a step as a subsegment of the function's X-Ray segment.

    The subsegment is sent to the X-Ray daemon in one datagram, without the SDK, which would cost
    100 ms per cold start. Nothing is sent when the invocation is not sampled or no daemon runs.
    X-Ray indexes the `annotations`, such as the tenant.
    """
    trace = _trace()
    if trace is None:
        yield
        return
    known = {key: value for key, value in annotations.items() if value}
    segment = Segment(trace, name, {"annotations": known})
    before = _parent.set(segment.id)
    try:
        yield
    except BaseException:
        segment.end(fault=True)
        raise
    else:
        segment.end()
    finally:
        _parent.reset(before)


class Segment:
    """A subsegment that has begun; `end` sends it."""

    __slots__ = ("_content", "_daemon", "id")

    def __init__(self, trace: _Trace, name: str, content: Mapping[str, Any]) -> None:
        self.id = secrets.token_hex(8)
        self._daemon = trace.daemon
        self._content: dict[str, Any] = {
            "type": "subsegment",
            "id": self.id,
            "trace_id": trace.root,
            "parent_id": trace.parent,
            "name": name.translate(_TO_SEGMENT_NAME),
            **content,
            "start_time": time.time(),
        }

    @classmethod
    def of_call(
        cls, service: str, operation: str, resources: Mapping[str, str]
    ) -> "Segment | None":
        """Begin the subsegment of a call of AWS; return None when nothing is traced.

        `service` is a service id such as DynamoDB, `operation` such as GetItem; `resources` is what
        X-Ray shows of the parameters: names of tables and queues, no content.
        """
        trace = _trace()
        if trace is None:
            return None
        aws = {"operation": operation, **resources}
        return cls(trace, service, {"namespace": "aws", "aws": aws})

    def end(self, *, fault: bool = False, error: bool = False, throttle: bool = False) -> None:
        """End the subsegment and send it.

        The step failed (`fault`), or the service refused the call (`error`), because there were too
        many (`throttle`).
        """
        flags = {"fault": fault, "error": error, "throttle": throttle}
        ended = {key: True for key, value in flags.items() if value}
        _send({**self._content, **ended, "end_time": time.time()}, self._daemon)


def _send(segment: Mapping[str, Any], daemon: tuple[str, int]) -> None:
    header = '{"format": "json", "version": 1}\n'
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto((header + json.dumps(segment)).encode(), daemon)
