"""The states of the subjects on their pages, from their tables of actions."""

from collections.abc import Mapping
from functools import cache

from tools.action_tables import SUBJECTS, Subject
from tools.pages.markers import table

WITH_DIAGRAM = (
    "receipts", "pickings", "transfers", "transfer orders", "waves", "packing orders",
    "handling units", "returns", "holds", "counts", "approvals", "imports",
    "exports",
)  # fmt: skip
"""Subjects whose page has a diagram of their states."""


@cache
def _subjects() -> Mapping[str, Subject]:
    return {subject.path.strip("/").replace("-", " "): subject for subject in SUBJECTS}


def diagram(name: str) -> str:
    """Return the diagram of the states of a subject; `name` is its path in words."""
    subject = _subjects()[name]
    labels: dict[tuple[str, str], list[str]] = {}
    for before, after, cause in subject.others:
        labels.setdefault((before, after), []).append(cause)
    for action in subject.table.actions.values():
        note = subject.notes.get(action.name)
        label = action.name + (f" ({note})" if note else "")
        for before in action.starts:
            for after in action.leads_to or [before]:
                labels.setdefault((before, after), []).append(label)
    lines = [
        f"    {before} --> {after}: {', '.join(texts)}" for (before, after), texts in labels.items()
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def actions() -> str:
    """Return the actions that each status admits, of all subjects."""
    rows = [
        (
            f"`GET {subject.path}/{{id}}`",
            f"`{status}`",
            " ".join(
                f"`{action.name}`"
                for action in subject.table.actions.values()
                if status in action.starts
            )
            or "none",
        )
        for subject in SUBJECTS
        for status in subject.table.statuses
    ]
    return table(("Resource", "Status", "`actions`"), rows)
