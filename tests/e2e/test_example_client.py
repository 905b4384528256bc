"""The synchronization built on the example client, on the deployed stack."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.stowage_client import Stowage
from examples.sync_orders import sync
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.subprocesses import python


@pytest.fixture
def stowage(stack: Deployed) -> Iterator[Stowage]:
    """The example client of acme."""
    acme = stack.tenants["acme"]
    with httpx.Client(timeout=TIMEOUT) as http:
        yield Stowage(acme.base_url, acme.client_id, acme.client_secret, http=http)


def order(reference: str) -> dict[str, Any]:
    """Return a purchase order for the central warehouse of the sample."""
    return {
        "external_ref": reference,
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "P20001",
        "warehouse_code": "CEN",
        "lines": [{"item_code": "CAB-TE-2R5-100", "qty": 12}],
    }


def test_sync_receives_new_and_changed_orders(stowage: Stowage, run: str, tmp_path: Path) -> None:
    state, known = tmp_path / "orders.state", dict[int, dict[str, Any]]()

    def take(document: dict[str, Any]) -> None:
        known[document["id"]] = document | {"differences": []}  # only in the detail

    def shown(document: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in document.items() if name != "actions"}

    old = shown(stowage.post("/entry-documents", order(f"OLD-{run}")))
    sync(stowage, state, take)
    assert known[old["id"]] == old

    new = shown(stowage.post("/entry-documents", order(f"NEW-{run}")))
    closed = shown(stowage.post(f"/entry-documents/{old['id']}/close"))
    known.clear()
    sync(stowage, state, take)
    assert known[new["id"]] == new
    assert known[old["id"]] == closed


def test_the_sync_program_reports_missing_settings_and_errors_in_one_sentence(
    stack: Deployed, tmp_path: Path
) -> None:
    with python("-m", "examples.sync_orders", STOWAGE_CLIENT_ID="nobody") as running:
        assert running.communicate(timeout=120) == (
            "", "Set STOWAGE_URL, STOWAGE_CLIENT_SECRET.\n"
        )  # fmt: skip
    settings = {"STOWAGE_CLIENT_ID": "nobody", "STOWAGE_CLIENT_SECRET": "x"}
    arguments = ("-m", "examples.sync_orders", str(tmp_path / "state"))
    with python(*arguments, STOWAGE_URL=stack.base_url, **settings) as running:
        printed, errors = running.communicate(timeout=120)
    assert (printed, running.returncode) == ("", 1)
    assert errors.startswith(f"{stack.base_url}: 401 invalid_client: ")
    assert errors.count("\n") == 1
