"""Our programs as processes of their own."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_LONGEST = 60
"""Seconds after which a program is killed, so that a test that reads what it says fails."""


@contextmanager
def python(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python at the root of the project, in this environment alone, until the block ends."""
    with subprocess.Popen(  # noqa: S603 - our own programs
        [sys.executable, *arguments],
        cwd=_ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        watchdog = threading.Timer(_LONGEST, running.kill)
        watchdog.start()
        try:
            yield running
        finally:
            watchdog.cancel()
            running.kill()
