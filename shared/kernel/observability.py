"""Logs, metrics and traces with tenant, request and route.

Secrets never reach a log: everything that looks like one is masked in the finished line, so that
neither a message nor a traceback contains it.
"""

import json
import logging
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from shared.kernel.clock import instant

_NAMESPACE = "Stowage"
_SERVICE = "stowage"

_SECRETS = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?"  # access tokens
    r"|str_[a-z0-9-]{3,32}\.[0-9a-f-]{10,}\.[\w-]{16,}"  # refresh tokens
    r"|(sws_|whsec_)[\w+/=-]{16,}"  # secrets of clients and webhooks
    r"|(?i:\b(bearer|basic) )[\w+/=.~-]{8,}",
    re.ASCII,
)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

# The attributes of a log record that no line shows take a third of the time to make one.
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
logging.logAsyncioTasks = False  # type: ignore[attr-defined]  # newer than its description
_OWN_ATTRIBUTES = logging.LogRecord("", 0, "", 0, "", (), None).__dict__.keys()


def mask_secrets(text: str) -> str:
    """Replace everything that looks like a secret."""
    return _SECRETS.sub("[secret]", text)


class _Formatter(LambdaPowertoolsFormatter):
    """JSON lines without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; nearly all have no exception, and Powertools needs long for them."""
        if record.exc_info:
            return super().format(record)
        more = {name: one for name, one in vars(record).items() if name not in _OWN_ATTRIBUTES}
        line = self.log_format | more
        line |= {
            "level": record.levelname,
            "location": f"{record.funcName}:{record.lineno}",
            "message": record.getMessage(),
            "timestamp": self.formatTime(record),
            "xray_trace_id": self._get_latest_trace_id(),
        }
        return self.serialize({name: value for name, value in line.items() if value is not None})

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - the name of the library
        """Return the time of a record as the service writes all times."""
        return instant(int(record.created * 1000))

    def serialize(self, log: Any) -> str:
        """Return the line of a record as JSON without secrets."""
        return mask_secrets(_ENCODER.encode(log))


_formatter = _Formatter(service=_SERVICE)

logger = Logger(service=_SERVICE, logger_formatter=_formatter)
"""JSON logger; its level is the environment variable POWERTOOLS_LOG_LEVEL."""

_metrics = Metrics(namespace=_NAMESPACE, service=_SERVICE)
_MOST_VALUES = 100
"""Values of one metric in one line that CloudWatch reads."""
_collected: dict[str, dict[str, Any]] = {}
"""The metrics of this invocation in the form of Powertools, which writes them at the end."""


def bind(*, request_id: str, route: str | None = None, tenant: str | None = None) -> None:
    """Start an invocation: its log lines get these keys instead of the last ones.

    Metrics get only the function as a dimension, because CloudWatch bills each combination of
    dimensions; log queries count by route and tenant.
    """
    keys = {"request_id": request_id, "route": route, "tenant": tenant}
    _formatter.clear_state()
    _formatter.append_keys(**{key: value for key, value in keys.items() if value is not None})
    _collected.clear()


def add_to_log(**keys: str | None) -> None:
    """Add keys to the further log lines of this invocation."""
    _formatter.append_keys(**keys)


def request_id() -> str | None:
    """Return the request id of this invocation; None outside of an invocation."""
    return _bound("request_id")


def bound_tenant() -> str | None:
    """Return the tenant of this invocation; None if none was bound."""
    return _bound("tenant")


def _bound(key: str) -> str | None:
    value = _formatter.get_current_keys().get(key)
    return None if value is None else str(value)


def count(name: str, value: float = 1) -> None:
    """Add `value` to the metric `name`; `flush` writes it."""
    _add(name, MetricUnit.Count, value)


def count_for_service(name: str) -> None:
    """Write the metric `name` at once, for an alarm on all functions: it does not name this one."""
    with single_metric(name, MetricUnit.Count, 1, namespace=_NAMESPACE) as metric:
        metric.add_dimension("service", _SERVICE)


def measure(name: str, milliseconds: float) -> None:
    """Add a duration to the metric `name`; `flush` writes it."""
    _add(name, MetricUnit.Milliseconds, milliseconds)


def _add(name: str, unit: MetricUnit, value: float) -> None:
    values = _collected.setdefault(name, {"Unit": unit.value, "Value": []})["Value"]
    values.append(float(value))
    if len(values) == _MOST_VALUES:
        flush()


def flush() -> None:
    """End an invocation: write its metrics, if there are any."""
    collected = dict(_collected)
    _collected.clear()
    if not collected:
        return
    function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    dimensions = {"function": function} if function else {}
    line = _metrics.serialize_metric_set(collected, {**dimensions, "service": _SERVICE})
    sys.stdout.write(f"{_ENCODER.encode(line)}\n")


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
