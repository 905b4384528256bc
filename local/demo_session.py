"""A demo: a sequence of API calls, and the table of their outcomes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from rich.table import Table
from stowage_client import Stowage, StowageError

type Describe = str | Callable[[Any], str]
"""Describes the body of a response: a function, or a template for its fields."""


class DemoFailed(Exception):
    """A call failed without which the demo cannot continue."""


def _described(body: Any, describe: Describe) -> str:
    return describe.format(**body) if isinstance(describe, str) else describe(body)


def _error_message(body: Any) -> str:
    """Return the message of an error, in the format of the API or of the token route."""
    return str(body.get("message") or body.get("error_description") or body)


@dataclass
class Demo:
    """Sends requests as one API client, and collects one row per step."""

    stowage: Stowage
    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request; return the response, also if it is an error."""
        try:
            return self.stowage.send(method, path, **request)
        except StowageError as error:
            return error.answer

    def step(
        self,
        title: str,
        response: httpx.Response,
        expected: int,
        describe: Describe,
        *,
        read: Callable[[httpx.Response], Any] = httpx.Response.json,
    ) -> Any:
        """Add a row for a call; return the body.

        Args:
            title: Title of the step.
            response: The response.
            expected: Status with which the step succeeds.
            describe: Describes the body of such a response.
            read: Reads the body from the response.
        """
        request = response.request
        call = f"{request.method} {request.url.path.rpartition('/v1')[2]} → {response.status_code}"
        fine = response.status_code == expected
        body = read(response) if fine else response.json()
        outcome = _described(body, describe) if fine else _error_message(body)
        self.rows.append((title, call, outcome, fine))
        return body

    def post(
        self,
        title: str,
        path: str,
        body: Any = None,
        describe: Describe = "{data[status]}",
        *,
        expected: int = 200,
    ) -> Any:
        """Add a row for a POST; return `data` of the response, or the whole body of an error."""
        found = self.step(title, self.send("POST", path, json=body), expected, describe)
        return found.get("data", found)

    def call(self, path: str, body: Any = None, *, method: str = "POST") -> Any:
        """Send a request without adding a row; return `data`.

        Raises:
            DemoFailed: The response is an error.
        """
        answer = self.send(method, path, json=body)
        if not answer.is_success:
            raise DemoFailed(f"{method} {path} {body}: {answer.status_code} {answer.text}")
        return answer.json()["data"]

    def list_all(self, path: str, **query: Any) -> list[Any]:
        """Return all rows of a list."""
        return list(self.stowage.each(path, **query))

    def check(self, title: str, outcome: str, *, passed: bool) -> None:
        """Add a row for a result of several calls; `passed` says whether it is as expected."""
        self.rows.append((title, "", outcome, passed))

    def skip(self, title: str, reason: str) -> None:
        """Add a row for a part of the demo that the tenant cannot use."""
        self.rows.append((title, "", f"skipped: {reason}", True))

    def table(self) -> Table:
        """Return all rows as a table."""
        table = Table(title="Stowage demo", show_lines=False)
        for column in ("Step", "Request → status", "Outcome", ""):
            table.add_column(column, overflow="fold")
        for what, call, outcome, fine in self.rows:
            table.add_row(what, call, outcome, "[green]✓[/]" if fine else "[red]✗[/]")
        return table

    @property
    def succeeded(self) -> bool:
        """Whether every step had the expected result."""
        return all(fine for *_, fine in self.rows)
