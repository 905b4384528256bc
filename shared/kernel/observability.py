"""Logs, metrics and traces with tenant, request and route.

Secrets never reach a log: everything that looks like one is masked in the finished line, so that
neither a message nor a traceback contains it.
"""

import json
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import MetricUnit, single_metric

_NAMESPACE = "Stowage"

_SECRETS = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?"  # access tokens
    r"|str_[a-z0-9-]{3,32}\.[0-9a-f-]{10,}\.[\w-]{16,}"  # refresh tokens
    r"|(sws_|whsec_)[\w+/=-]{16,}"  # secrets of clients and webhooks
    r"|(?i:\b(bearer|basic) )[\w+/=.~-]{8,}",
    re.ASCII,
)


class _Formatter(LambdaPowertoolsFormatter):
    """JSON lines without secrets."""

    def serialize(self, log: Any) -> str:
        return _SECRETS.sub("[secret]", super().serialize(log))


# Powertools would try to read each message as JSON.
logger = Logger(service="stowage", logger_formatter=_Formatter(json_deserializer=str))
"""JSON logger; its level is the environment variable POWERTOOLS_LOG_LEVEL."""

metrics = Metrics(namespace=_NAMESPACE, service="stowage")
"""CloudWatch metrics, written as log lines without any call."""


def bind(*, request_id: str, route: str | None = None, tenant: str | None = None) -> None:
    """Start an invocation: its log lines get these keys instead of the last ones.

    Metrics get only the function as a dimension, because CloudWatch bills each combination of
    dimensions; log queries count by route and tenant.
    """
    keys = {"request_id": request_id, "route": route, "tenant": tenant}
    logger.clear_state()
    logger.append_keys(**{key: value for key, value in keys.items() if value is not None})
    metrics.clear_metrics()
    if function := os.environ.get("AWS_LAMBDA_FUNCTION_NAME"):
        metrics.add_dimension(name="function", value=function)


def request_id() -> str | None:
    """Return the request id of this invocation; None outside of an invocation."""
    bound = logger.get_current_keys().get("request_id")
    return None if bound is None else str(bound)


def count(name: str, value: float = 1) -> None:
    """Add `value` to the metric `name`; `flush` writes it."""
    metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def count_for_service(name: str) -> None:
    """Write the metric `name` at once, for an alarm on all functions: it does not name this one."""
    with single_metric(name, MetricUnit.Count, 1, namespace=_NAMESPACE) as metric:
        metric.add_dimension("service", "stowage")


def measure(name: str, milliseconds: float) -> None:
    """Add a duration to the metric `name`; `flush` writes it."""
    metrics.add_metric(name=name, unit=MetricUnit.Milliseconds, value=milliseconds)


def flush() -> None:
    """End an invocation: write its metrics, if there are any."""
    if metrics.metric_set:
        metrics.flush_metrics()


@contextmanager
def span(name: str, **annotations: str) -> Iterator[None]:
    """Trace a step as a subsegment of the function's X-Ray segment.

    The subsegment is sent to the X-Ray daemon in one datagram, without the SDK, which would cost
    100 ms per cold start. Nothing is sent when the invocation is not sampled or no daemon runs.

    Args:
        name: Name of the step.
        annotations: Values that X-Ray indexes, such as the tenant.
    """
    trace = dict(
        part.split("=", 1)
        for part in os.environ.get("_X_AMZN_TRACE_ID", "").split(";")
        if "=" in part
    )
    host, _, port = os.environ.get("AWS_XRAY_DAEMON_ADDRESS", "").rpartition(":")
    if trace.get("Sampled") != "1" or not port.isdigit():
        yield
        return
    segment: dict[str, Any] = {
        "type": "subsegment",
        "id": secrets.token_hex(8),
        "trace_id": trace.get("Root"),
        "parent_id": trace.get("Parent"),
        "name": name,
        "annotations": annotations,
        "start_time": time.time(),
    }
    try:
        yield
    except BaseException:
        segment["fault"] = True
        raise
    finally:
        segment["end_time"] = time.time()
        _send(segment, (host, int(port)))


def _send(segment: Mapping[str, Any], daemon: tuple[str, int]) -> None:
    header = '{"format": "json", "version": 1}\n'
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto((header + json.dumps(segment)).encode(), daemon)
