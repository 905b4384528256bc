"""The JSON lines that functions write: log lines and metrics."""

import io
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

from shared.kernel import observability
from shared.kernel.observability import logger


@dataclass(frozen=True, slots=True)
class Written:
    """What functions have written inside a `captured` block."""

    log: io.StringIO = field(default_factory=io.StringIO)
    out: io.StringIO = field(default_factory=io.StringIO)

    def lines(self, message: str | None = None) -> list[dict[str, Any]]:
        """Return the log lines, or those with this message."""
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line for line in lines if message in {None, line["message"]}]

    def metrics(self) -> list[Mapping[str, Any]]:
        """Return namespace, name, dimensions and values of each metric that was written."""
        found: list[Mapping[str, Any]] = []
        for line in self.out.getvalue().splitlines():
            content = json.loads(line)
            for directive in content["_aws"]["CloudWatchMetrics"]:
                (dimensions,) = directive["Dimensions"]
                found += [
                    {
                        "namespace": directive["Namespace"],
                        "name": metric["Name"],
                        "dimensions": {name: content[name] for name in dimensions},
                        "values": content[metric["Name"]],
                    }
                    for metric in directive["Metrics"]
                ]
        return found

    def values(self, name: str) -> list[float]:
        """Return every value of one metric."""
        return [value for one in self.metrics() if one["name"] == name for value in one["values"]]


@contextmanager
def captured() -> Iterator[Written]:
    """Capture what functions write inside the block."""
    handler, written = logger.registered_handler, Written()
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(written.log)
    try:
        # pytest replaces sys.stdout before each phase of a test.
        stdout = mock.patch.object(observability, "sys", SimpleNamespace(stdout=written.out))
        with stdout, mock.patch("builtins.print", partial(print, file=written.out)):
            yield written
    finally:
        handler.setStream(before)
