"""Logs, metrics and traces, all keyed by tenant, request and route.

Secrets never reach a log: whatever looks like one is masked in the finished line, so that
neither a message nor a traceback can carry it.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import MetricUnit

_NAMESPACE = "Stowage"

_SECRETS = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?"  # tokens
    r"|(sws_|whsec_)[\w+/=-]{16,}"  # secrets of clients and webhooks
    r"|(?i:\b(bearer|basic) )[\w+/=.~-]{8,}",
    re.ASCII,
)


class _Formatter(LambdaPowertoolsFormatter):
    """JSON lines without secrets."""

    def serialize(self, log: Any) -> str:
        return _SECRETS.sub("[secret]", super().serialize(log))


logger = Logger(service="stowage", logger_formatter=_Formatter())
"""JSON logger; its level is the environment variable POWERTOOLS_LOG_LEVEL."""

metrics = Metrics(namespace=_NAMESPACE, service="stowage")
"""CloudWatch metrics, written as log lines: no call, no waiting."""


def bind(*, request_id: str, route: str | None = None, tenant: str | None = None) -> None:
    """Begin an invocation: its log lines and metrics carry these keys and none of the last one's.

    Tenants are no dimension of metrics: CloudWatch bills each combination.
    """
    keys = {"request_id": request_id, "route": route, "tenant": tenant}
    logger.clear_state()
    logger.append_keys(**{key: value for key, value in keys.items() if value is not None})
    metrics.clear_metrics()
    if route is not None:
        metrics.add_dimension(name="route", value=route)


def count(name: str, value: float = 1) -> None:
    """Count something; written by `flush`."""
    metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def flush() -> None:
    """End an invocation: write what was counted, if anything was."""
    if metrics.metric_set:
        metrics.flush_metrics()


@contextmanager
def span(name: str, **annotations: str) -> Iterator[None]:
    """Trace a step in X-Ray; costs nothing where the request is not sampled."""
    recorder = _recorder() if "Sampled=1" in os.environ.get("_X_AMZN_TRACE_ID", "") else None
    if recorder is None:
        yield
        return
    with recorder.in_subsegment(name) as segment:
        for key, value in annotations.items():
            segment.put_annotation(key, value)
        yield


@cache
def _recorder() -> Any:
    """Recorder of the X-Ray SDK, None where it is not installed."""
    if find_spec("aws_xray_sdk") is None:
        return None
    from aws_xray_sdk.core import xray_recorder  # noqa: PLC0415  100 ms, only when sampled

    return xray_recorder
