"""Run programs of the project in processes of their own."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_KEPT = ("PATH", "PYTHONPYCACHEPREFIX")
"""Variables of the environment that every program gets."""
_LONGEST = 120
"""Seconds after which a program is killed, so that a test that reads its output fails."""


@contextmanager
def python(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python in the project root with only these environment variables, inside the block."""
    with subprocess.Popen(  # noqa: S603 - a program of this project
        [sys.executable, *arguments],
        cwd=_ROOT,
        env={name: os.environ[name] for name in _KEPT if name in os.environ} | environment,
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


def output_of(*arguments: str, **environment: str) -> str:
    """Return what Python writes with these arguments; it must end without an error."""
    with python(*arguments, **environment) as running:
        output, errors = running.communicate()
    assert running.returncode == 0, errors
    return output
