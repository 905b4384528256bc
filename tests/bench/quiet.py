"""Measuring in a process of its own, without log lines and metrics on its output."""

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path

from shared.kernel.observability import logger
from tests.bench.report import Table

type Measure = Callable[[], Sequence[Table]]
"""Measures tables."""


def run_quietly(measure: Measure) -> tuple[Sequence[Table], float]:
    """Return the measured tables, and the seconds of processor time that it took with its
    child processes.

    Log lines and metrics go to the null device, so that writing them still takes time.
    """
    handler = logger.registered_handler
    assert isinstance(handler, logging.StreamHandler)
    began = sum(os.times()[:4])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        before = handler.setStream(nowhere)
        try:
            tables = measure()
        finally:
            handler.setStream(before)
    return tables, sum(os.times()[:4]) - began
