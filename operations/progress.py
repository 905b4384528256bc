"""Reporting the progress of an operation that takes several seconds."""

from collections.abc import Callable

type ReportProgress = Callable[[str], None]
"""Callback that receives a short description of each step, such as "creating the table x"."""


def no_progress(_step: str) -> None:
    """Discard the progress."""
