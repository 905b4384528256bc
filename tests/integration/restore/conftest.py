"""Point-in-time recovery in moto, which ignores the time and copies the present items."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.table import RestoredPITTable

from shared.identity.tenancy.directory import (
    CACHE_SECONDS,
    directory,
    read_item,
    tenant_key,
)
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from tests.clock import Clock
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack


def text_of(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def item() -> dict[str, Any]:
    """Return the item of acme in the control table."""
    return read_item(tenant_key("acme")) or {}


def items_of(table: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the items of a table except rate limit windows."""
    found = stored_items(ACCOUNT, REGION, table)
    return {
        (each["PK"]["S"], each["SK"]["S"]): each
        for each in found
        if not each["PK"]["S"].startswith("rate#")
    }


@dataclass(slots=True)
class Recovery:
    """The table of acme with a moment whose items a restore returns."""

    stack: Stack
    clock: Clock
    kept: Any = None
    at: str = ""

    @property
    def table(self) -> Any:
        return dynamodb_backends[ACCOUNT][REGION].tables[config().tenant_table("acme")]

    def remember(self) -> str:
        """Make now the moment to restore, and let an hour pass; return it."""
        now = datetime.fromtimestamp(now_ms() / 1000, UTC)
        self.kept, self.at = copy.deepcopy(self.table.items), text_of(now)
        self.clock.advance(3600)
        self.set_window(now - timedelta(hours=2), now + timedelta(minutes=55))
        return self.at

    def set_window(self, earliest: datetime, latest: datetime) -> None:
        self.table.continuous_backups["PointInTimeRecoveryDescription"] |= {
            "EarliestRestorableDateTime": earliest.timestamp(),
            "LatestRestorableDateTime": latest.timestamp(),
        }

    def let_caches_expire(self) -> None:
        """Read the tenant again, as every execution environment does after 10 s."""
        self.clock.advance(CACHE_SECONDS)
        directory.clear()


@pytest.fixture
def recovery(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recovery]:
    recovery = Recovery(stack, clock)
    for module in ("tokens", "rules", "client_grants"):  # tokens are issued after the wait
        monkeypatch.setattr(f"shared.identity.auth.{module}.time", clock)
    # The snapshot of the stack shares it.
    recovery.table.continuous_backups = copy.deepcopy(recovery.table.continuous_backups)
    recovery.table.tags = copy.copy(recovery.table.tags)
    copy_present = DynamoDBBackend.restore_table_to_point_in_time

    def restore(
        backend: DynamoDBBackend, target_table_name: str, source_table_name: str
    ) -> RestoredPITTable:
        made = copy_present(backend, target_table_name, source_table_name)
        if source_table_name == recovery.table.name:
            made.items = copy.deepcopy(recovery.kept)
        return made

    monkeypatch.setattr(DynamoDBBackend, "restore_table_to_point_in_time", restore)
    yield recovery
    tables = dynamodb_backends[ACCOUNT][REGION].tables
    for name in [name for name in tables if ".r20" in name]:
        del tables[name]
