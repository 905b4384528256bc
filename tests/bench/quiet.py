"""What the functions write to standard output goes nowhere, but is written."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from shared.kernel.observability import logger


@contextmanager
def quiet() -> Iterator[None]:
    """Send log lines and metrics to the null device."""
    handler = logger.registered_handler
    assert isinstance(handler, logging.StreamHandler)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        before = handler.setStream(nowhere)
        try:
            with redirect_stdout(nowhere):
                yield
        finally:
            handler.setStream(before)
