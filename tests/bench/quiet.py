"""Suppression of log lines and metrics during measurements."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from shared.kernel.observability import logger


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
