"""What a demonstration tells: calls, what came of them, and what follows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from rich.table import Table

from examples.stowage_client import Stowage, StowageError


class StoryEnded(Exception):
    """Something that had to go well did not."""


def _refusal(body: Any) -> str:
    """Say why a request was refused; the token route does it in its own form."""
    return str(body.get("message") or body.get("error_description") or body)


@dataclass
class Story:
    """What has happened so far: one row per call."""

    stowage: Stowage
    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request; a refusal is an answer, too."""
        try:
            return self.stowage.send(method, path, **request)
        except StowageError as refusal:
            return refusal.answer

    def tell(
        self,
        what: str,
        answer: httpx.Response,
        expected: int,
        outcome: Callable[[Any], str],
        *,
        read: Callable[[httpx.Response], Any] = httpx.Response.json,
    ) -> Any:
        """Add a call and what came of it; return the body, as `read` reads it."""
        request = answer.request
        call = f"{request.method} {request.url.path.rpartition('/v1')[2]} → {answer.status_code}"
        fine = answer.status_code == expected
        body = read(answer) if fine else answer.json()
        self.rows.append((what, call, outcome(body) if fine else _refusal(body), fine))
        return body

    def do(self, method: str, path: str, body: Any = None) -> Any:
        """Do what has to go well for the story to go on, without a row of its own; `data`."""
        answer = self.send(method, path, json=body)
        if not answer.is_success:
            raise StoryEnded(f"{method} {path} {body}: {answer.status_code} {answer.text}")
        return answer.json()["data"]

    def listed(self, path: str, **query: Any) -> list[Any]:
        """Every row of a list."""
        return list(self.stowage.each(path, **query))

    def fact(self, what: str, outcome: str, *, fine: bool) -> None:
        """Add something that follows from several calls."""
        self.rows.append((what, "", outcome, fine))

    def table(self) -> Table:
        """Show everything."""
        table = Table(title="What happens in a warehouse", show_lines=False)
        for column in ("What happens", "Call", "Outcome", ""):
            table.add_column(column, overflow="fold")
        for what, call, outcome, fine in self.rows:
            table.add_row(what, call, outcome, "[green]✓[/]" if fine else "[red]✗[/]")
        return table

    @property
    def went_well(self) -> bool:
        """Whether everything came as promised."""
        return all(fine for *_, fine in self.rows)
