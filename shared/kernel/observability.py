"""Logs with tenant, request and route, metrics, and units of the database.

Secrets never reach a log: everything that looks like one is masked in the finished line, so that
neither a message nor a traceback contains it.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from threading import Lock
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from shared.kernel import precompiled
from shared.kernel.clock import instant

_NAMESPACE = "Stowage"
_SERVICE = "stowage"

_LOGGED_PATH = 200
"""Characters of a path that a log line keeps."""

# Every alternative begins with a letter, so that a search skips all other characters quickly.
_SECRETS = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?"  # access tokens
    r"|str_[a-z0-9-]{3,32}\.[0-9a-f-]{10,}\.[\w-]{16,}"  # refresh tokens
    r"|sws_[\w+/=-]{16,}"  # secrets of clients
    r"|whsec_[\w+/=-]{16,}"  # secrets of webhooks
    r"|b(?i:earer|asic) [\w+/=.~-]{8,}"
    r"|B(?i:earer|asic) [\w+/=.~-]{8,}",
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


_lock = Lock()
_reads: dict[str, float] = {}
_writes: dict[str, float] = {}
"""Request units of DynamoDB that this invocation has consumed, by name of the table."""
_throttled = 0
_is_started = False
"""Whether an invocation of this process has ended."""


def add_units(table: str, units: float, *, is_read: bool) -> None:
    """Add what a call has consumed of a table and its indexes to what this invocation has."""
    consumed = _reads if is_read else _writes
    with _lock:  # calls run in several threads
        consumed[table] = consumed.get(table, 0) + units


def add_throttled() -> None:
    """Count a call that DynamoDB has throttled; `flush` writes the metric."""
    global _throttled  # noqa: PLW0603 - a count of the invocation
    with _lock:
        _throttled += 1


def read_units() -> float:
    """Return the read units that this invocation has consumed so far."""
    with _lock:
        return sum(_reads.values())


def _consumed(wanted: Callable[[str], bool] = lambda _: True) -> dict[str, float]:
    """Return the keys of a log line that tell what was consumed of the wanted tables."""
    with _lock:
        return {
            name: round(sum(units for table, units in consumed.items() if wanted(table)), 1)
            for name, consumed in (("read_units", _reads), ("write_units", _writes))
        }


def bind(
    *,
    request_id: str,
    route: str | None = None,
    tenant: str | None = None,
    traceparent: str | None = None,
) -> None:
    """Start an invocation: its log lines get these keys instead of the last ones.

    `traceparent` is the trace of the caller, None if it has none.

    Metrics get only the function as a dimension, because CloudWatch bills each combination of
    dimensions; log queries count by route and tenant.
    """
    keys = {
        "request_id": request_id,
        "route": route,
        "tenant": tenant,
        "traceparent": traceparent,
    }
    _formatter.clear_state()
    _formatter.append_keys(**{key: value for key, value in keys.items() if value is not None})
    _collected.clear()
    with _lock:
        _reads.clear()
        _writes.clear()


def add_to_log(**keys: str | None) -> None:
    """Add keys to the further log lines of this invocation."""
    _formatter.append_keys(**keys)


def request_id() -> str | None:
    """Return the request id of this invocation; None outside of an invocation."""
    return _bound("request_id")


def bound_route() -> str | None:
    """Return the route of this invocation; None if none was bound."""
    return _bound("route")


def traceparent() -> str | None:
    """Return the trace of the caller of this invocation; None if it has none."""
    return _bound("traceparent")


def bound_tenant() -> str | None:
    """Return the tenant of this invocation; None if none was bound."""
    return _bound("tenant")


def _bound(key: str) -> str | None:
    value = _formatter.get_current_keys().get(key)
    return None if value is None else str(value)


def count(name: str, value: float = 1) -> None:
    """Add `value` to the metric `name`; `flush` writes it."""
    _add(name, MetricUnit.Count, value)


def count_for_service(name: str, value: float = 1) -> None:
    """Write the metric `name` at once, for an alarm on all functions of the stack.

    It does not name the function: an alarm watches one combination of dimensions.
    """
    with single_metric(name, MetricUnit.Count, value, namespace=_NAMESPACE) as metric:
        metric.add_dimension("service", _SERVICE)
        metric.add_dimension("stack", os.environ.get("STACK_NAME", "-"))


def measure(name: str, milliseconds: float) -> None:
    """Add a duration to the metric `name`; `flush` writes it."""
    _add(name, MetricUnit.Milliseconds, milliseconds)


def _add(name: str, unit: MetricUnit, value: float) -> None:
    values = _collected.setdefault(name, {"Unit": unit.value, "Value": []})["Value"]
    values.append(float(value))
    if len(values) == _MOST_VALUES:
        _write_collected()


def flush() -> None:
    """End an invocation: write its metrics, if there are any."""
    global _throttled, _is_started  # noqa: PLW0603 - of the process
    # Only Lambda sets this variable; elsewhere nothing is precompiled.
    if not _is_started and "AWS_EXECUTION_ENV" in os.environ and not precompiled.is_effective():
        count("starts_compiling")
    _is_started = True
    _write_collected()
    with _lock:
        throttled, _throttled = _throttled, 0
    if throttled:
        count_for_service("throttled_calls", throttled)


def _write_collected() -> None:
    collected = dict(_collected)
    _collected.clear()
    if not collected:
        return
    function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    dimensions = {"function": function} if function else {}
    line = _metrics.serialize_metric_set(collected, {**dimensions, "service": _SERVICE})
    sys.stdout.write(f"{_ENCODER.encode(line)}\n")


def log_response(
    *, method: str, path: str, status: int, code: str | None, milliseconds: float
) -> None:
    """Write the log line of a request, and its metrics.

    Log queries count requests, errors and costs by the keys of this line; they are in the template.
    A response of 5xx is also a metric, because the alarm of a gradual deployment needs it within
    minutes. `code` is the error code of the response; None without an error. Only the beginning of
    the path is logged.
    """
    logger.info(
        "answered",
        method=method,
        path=path[:_LOGGED_PATH],
        status=status,
        milliseconds=round(milliseconds),
        extra={**({"code": code} if code else {}), **_consumed()},
    )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        count("answers_5xx")
    flush()


def log_consumed() -> None:
    """Write what this invocation has consumed, one line for each tenant.

    For functions that work for several tenants at once. The line of the tables that tenants share
    names no tenant.
    """
    prefix = f"{os.environ.get('STACK_NAME', '')}-tenant-"
    tables = {*_reads, *_writes}
    for table in sorted(table for table in tables if table.startswith(prefix)):
        # The name of a restored table ends in a dot and the time of the restore.
        tenant = table.removeprefix(prefix).partition(".")[0]
        logger.info("consumed", extra={"tenant": tenant, **_consumed(table.__eq__)})
    if any(not table.startswith(prefix) for table in tables):
        shared = _consumed(lambda table: not table.startswith(prefix))
        logger.info("consumed", extra=shared)
