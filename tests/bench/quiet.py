"""Suppression of log lines and metrics during measurements."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from shared.kernel.observability import logger
from tests.bench.report import Table

type Measure = Callable[[bool], list[Table]]
"""Measures tables; the argument is the value of --quick."""


@contextmanager
def quiet() -> Iterator[None]:
    """Write log lines and metrics to the null device, so that writing them still takes time."""
    handler = logger.registered_handler
    assert isinstance(handler, logging.StreamHandler)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        before = handler.setStream(nowhere)
        try:
            with redirect_stdout(nowhere):
                yield
        finally:
            handler.setStream(before)


def run_quietly(measure: Measure, quick: bool) -> tuple[list[Table], float]:  # noqa: FBT001 - as Measure
    """Return the measured tables and the seconds that it took; also in another process."""
    began = time.monotonic()
    with quiet():
        tables = measure(quick)
    return tables, time.monotonic() - began
