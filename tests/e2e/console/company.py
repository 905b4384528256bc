"""A company for pictures: the sample data, loaded in one order, so that ids stay the same."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from unittest.mock import patch

import httpx
from playwright.sync_api import Route
from rich.progress import Progress

from local import sample, sample_operations
from tests.e2e.conftest import Deployed, client_of, token_of_tenant
from tests.e2e.import_calls import import_file

SLUG = "larkhill"
PASSWORD = "seven copper kettles"
USERNAME = "olivia.byrne"
_PERMISSIONS = ("approvals.grant", "entries.manage", "exits.manage", "imports.run",
                "inventory.manage", "transfer-orders.manage", "users.manage")  # fmt: skip
_REJECTED = "web-orders.csv"
_ORDERS = """\
Reference,Type,Document date,Due date,Client code,Warehouse,Priority,Item code,Quantity
WEB-118201,sale_order,2026-10-27,2026-10-29,C10012,CEN,normal,CAB-TE-1R5-50,4
WEB-118201,sale_order,2026-10-27,2026-10-29,C10012,CEN,normal,BOX-MS-35-1G,12
WEB-118202,sale_order,2026-10-27,2026-10-29,C10012,CEN,normal,CAB-TE-1R5-5O,2
WEB-118203,sale_order,2026-10-27,2026-10-30,C10012,CEN,urgent,PPE-GLS-CLR,6
WEB-118204,sale_order,2026-10-27,2026-10-30,C10012,BHX,normal,HND-MSR-8M,1
WEB-118205,sale_order,2026-10-27,2026-10-30,C10012,CEN,high,FIX-ROD-M6,0
WEB-118206,sale_order,2026-10-27,30/02/2027,C10012,CEN,normal,FIX-STR-21,20
WEB-118207,sale_order,2026-10-27,2026-10-30,C10012,DUB,normal,ACC-HSW-20,10
"""
_ADDRESS = "https://wms.larkhill.example/api/v1"
_SHIFT_BEGINS = datetime(2026, 10, 27, 6, 12, tzinfo=UTC)
_BETWEEN_EVENTS = timedelta(minutes=3)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
_DATED = ("/entry-documents", "/exit-documents", "/receipts", "/approvals", "/stock-movements")


@dataclass
class Company:
    """A company that has the sample data, and what else its pictures need."""

    client: httpx.Client
    slug: str

    @cached_property
    def api(self) -> sample.TokenClient:
        """The API with the token of `client`."""
        token = self.client.headers["Authorization"].removeprefix("Bearer ")
        base_url = str(self.client.base_url).rstrip("/")
        return sample.TokenClient(base_url, token=token, http=self.client)

    def prepare(self) -> None:
        """Create a user of the office and an import with rejected rows, if there are none."""
        draft = {"name": "Warehouse office", "permissions": _PERMISSIONS}
        role = self.client.post("/roles", json=draft)
        if role.is_success:  # otherwise an earlier run made them
            person = {"username": USERNAME, "name": "Olivia Byrne", "password": PASSWORD}
            made = self.client.post("/users", json=person | {"roles": [role.json()["data"]["id"]]})
            assert made.status_code == httpx.codes.CREATED, made.text
        if not self.import_ids():
            import_file(self.client, "exit_documents", _REJECTED, _ORDERS.encode())

    def import_ids(self) -> list[int]:
        """Return the import with rejected rows, if it was made."""
        return [row["id"] for row in self.rows("/imports") if row["file"] == _REJECTED]

    def rows(self, path: str, **query: str) -> list[sample.Body]:
        """Return the rows of a list."""
        return list(self.api.each(path, **query))

    def number(self, path: str, **query: str) -> int:
        """Return the id of the first row of a list."""
        return int(self.rows(path, **query)[0]["id"])

    @cached_property
    def _events(self) -> Sequence[str]:
        """When the work of the company was done."""
        return sorted({row["created_at"] for path in _DATED for row in self.rows(path)})

    def answer_steadily(self, route: Route) -> None:
        """Answer a request of a page with the same address and times in every run.

        The work, which was done in minutes, is shown as that of a shift.
        """
        answer = route.fetch()
        if answer.headers["content-type"] != "application/json":
            return route.fulfill(response=answer)
        body = answer.text().replace(str(self.client.base_url).rstrip("/"), _ADDRESS)
        return route.fulfill(response=answer, body=_INSTANT.sub(self._shown, body))

    def _shown(self, found: re.Match[str]) -> str:
        instant = datetime.fromisoformat(found[0])
        days = max(timedelta(), instant - datetime.now(UTC)).days
        after = bisect_right(self._events, found[0]) * _BETWEEN_EVENTS
        shown = _SHIFT_BEGINS + (timedelta(days=days + 1) if instant > datetime.now(UTC) else after)
        return f"{shown:%Y-%m-%dT%H:%M:%S}.000Z"


@contextmanager
def new_company(stack: Deployed) -> Iterator[Company]:
    """Create the company and load its data one request after the other; again, nothing changes."""
    with (
        client_of(stack.base_url, token_of_tenant(stack, SLUG)) as client,
        patch.object(sample, "_CONCURRENCY", 1),
        patch.object(sample_operations, "_CONCURRENCY", 1),
        Progress(disable=True) as progress,
    ):
        client.patch("/settings", json={"timezone": "Europe/London"}).raise_for_status()
        company = Company(client, SLUG)
        sample.load_with(company.api, progress)
        sample_operations.SampleOperations(company.api).run(progress)
        yield company
