"""Export of a tenant: all data of the company, without secrets."""

import hashlib
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from operations import provisioning, tenant_overview
from operations.api_clients import rotate_client
from operations.export import FILE_NAMES, export_tenant
from operations.stored_collections import COLLECTIONS
from shared.kernel.db import items
from shared.kernel.errors import Conflict, NotFound
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after
from tests.integration import write_routes
from tests.integration.call_faults import at_calls
from tests.integration.offboarding.company import FILE_KEYS as KEYS
from tests.integration.offboarding.company import Company
from tests.integration.unknown_fields import NAME, add_unknown_fields
from tests.sampling import sampled
from tests.webhook_scenario import URL


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def read_all_files(to: Path) -> dict[str, bytes]:
    """Return the content of every file of an export by its path."""
    return {
        path.relative_to(to).as_posix(): path.read_bytes()
        for path in sorted(to.rglob("*"))
        if path.is_file()
    }


def test_export_contains_the_entities_of_the_lists(company: Company, tmp_path: Path) -> None:
    erp = company.stack.erp()
    write_routes.EXAMPLES["POST /receipts"].prepared(erp)
    manifest = export_tenant("acme", tmp_path)
    for path, name in (
        ("/products", "products"),
        ("/warehouses", "warehouses"),
        ("/warehouse-positions", "warehouse-positions"),
        ("/entry-documents", "entry-documents"),
    ):
        exported = {line["id"] for line in read_lines(tmp_path / f"{name}.jsonl")}
        assert exported == {row["id"] for row in erp.walk(path)}, name
        assert manifest["counts"][f"{name}.jsonl"] == len(exported) > 0
    (order,) = read_lines(tmp_path / "entry-documents.jsonl")[:1]
    assert order["lines"]
    assert manifest["complete"] is True
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest


def test_export_shows_no_fields_of_another_release(company: Company, tmp_path: Path) -> None:
    add_unknown_fields(company.stack)
    export_tenant("acme", tmp_path)
    shown = [name for name, text in read_all_files(tmp_path).items() if NAME.encode() in text]
    assert shown == []


def test_every_collection_has_an_export_file() -> None:
    """Deliveries of webhooks have a file, too, but are no collection."""
    assert FILE_NAMES.keys() == {*COLLECTIONS, "delivery"}


def test_tenant_file_contains_no_secrets(company: Company, tmp_path: Path) -> None:
    export_tenant("acme", tmp_path)
    described = json.loads((tmp_path / "tenant.json").read_text())
    assert described["plan"] == "enterprise"
    assert described["timezone"] == "UTC"
    assert described["settings"]["pick_substitution"] == "none"
    clients = described["api_clients"]
    assert {one["name"]: one["active"] for one in clients} == {"ERP": True, "Shop": False}
    for one in clients:
        assert set(one) == {"client_id", "kind", "name", "active", "scopes", "created_at"}
    assert company.stack.tenant().slug == described["tenant"]


def test_export_contains_no_secrets(company: Company, tmp_path: Path) -> None:
    erp = company.stack.erp()
    body = {"url": URL, "events": ["product.created"]}
    webhook = erp.post("/webhooks", body, key="0b6f7c3e-6f0b-4d8e-9a0e-0d2f5c1b7a11").data
    clients = json.loads(_exported(tmp_path / "0", "tenant.json"))["api_clients"]
    (client_id,) = (one["client_id"] for one in clients if one["active"])
    secret = rotate_client(client_id).client_secret
    user = erp.post("/users", {"username": "ana", "name": "Ana"}, key=str(uuid.uuid4())).ok(201)
    stored = str(company.stack.items())
    assert webhook["secret"] not in stored
    export_tenant("acme", tmp_path / "1")
    text = b"\n".join(read_all_files(tmp_path / "1").values()).decode()
    (exported,) = read_lines(tmp_path / "1" / "webhooks.jsonl")
    assert exported["url"] == webhook["url"]
    assert "secrets" not in exported
    (exported,) = read_lines(tmp_path / "1" / "users.jsonl")
    assert exported["username"] == "ana"
    hidden = (webhook["secret"], secret, user["password"], "argon2", "sealed", "idempotency#")
    for each in hidden:
        assert each not in text


def _exported(to: Path, name: str) -> str:
    export_tenant("acme", to)
    return (to / name).read_text()


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split entities into several items from 100 bytes on."""
    monkeypatch.setattr(items, "PART_SIZE", 100)


@pytest.mark.usefixtures("small_parts")
def test_entity_of_several_items_is_exported_as_one_line(company: Company, tmp_path: Path) -> None:
    erp = company.stack.erp()
    write_routes.EXAMPLES["POST /entry-documents"].prepared(erp)
    assert erp.post("/entry-documents", write_routes.PURCHASE, key="large").status == 201
    heads = {one["PK"]["S"]: one for one in company.stack.items() if "parts" in one}
    assert int(heads[f"entry#{1:012d}"]["parts"]["N"]) > 1
    export_tenant("acme", tmp_path)
    (order,) = read_lines(tmp_path / "entry-documents.jsonl")
    assert order["external_ref"] == write_routes.PURCHASE["external_ref"]
    assert [line["qty"] for line in order["lines"]] == [250, "0.5"]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["Cable", hashlib.sha512(b"cable").hexdigest()])
def test_entity_changed_during_the_export_is_read_again(
    company: Company, aws_faults: AwsFaults, tmp_path: Path, name: str
) -> None:
    """A product is changed, and another deleted, between the scan and the read of their parts."""
    erp = company.stack.erp()
    for number in (2, 3):
        incompressible = hashlib.sha512(b"%d" % number).hexdigest()
        body = {"item_code": f"P-{number}", "name": incompressible, "type": "item"}
        assert erp.post("/products", body).status == 201

    def change() -> None:
        assert erp.patch("/products/2", {"name": name}).status == 200
        assert erp.delete("/products/3").status == 200

    with aws_faults.faulty(at_calls("Scan", [0], after=change)):
        export_tenant("acme", tmp_path)
    exported = {line["id"]: line["name"] for line in read_lines(tmp_path / "products.jsonl")}
    assert exported == {1: "Cable", 2: name}


def test_files_are_copied_with_safe_names(company: Company, tmp_path: Path) -> None:
    to = tmp_path / "acme"
    export_tenant("acme", to)
    listed = read_lines(to / "files.jsonl")
    assert sorted(line["key"] for line in listed) == sorted(
        key.removeprefix("acme/") for key in KEYS * 2
    )
    assert {line["bucket"] for line in listed} == {"import", "work"}
    for line in listed:
        copied = to / line["file"]
        assert copied.read_bytes() == f"acme/{line['key']}".encode()
        assert copied.resolve().parent == (to / "files").resolve()
        assert line["size"] == copied.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["acme"]
    assert len(list((to / "files").iterdir())) == len(listed)
    assert company.files("beta")


def test_export_replaces_an_earlier_export(company: Company, tmp_path: Path) -> None:
    export_tenant("acme", tmp_path)
    erp = company.stack.erp()
    assert erp.delete("/products/1").status == 200
    export_tenant("acme", tmp_path)
    assert not (tmp_path / "products.jsonl").exists()
    again = read_all_files(tmp_path)
    export_tenant("acme", tmp_path)
    repeated = read_all_files(tmp_path)
    for name in ("manifest.json", "audit-log.jsonl"):
        assert again.pop(name) != repeated.pop(name)
    assert repeated == again


def test_each_export_is_recorded_in_the_audit_log(company: Company, tmp_path: Path) -> None:
    for _ in range(2):
        export_tenant("acme", tmp_path)
    log = read_lines(tmp_path / "audit-log.jsonl")
    entries = [line for line in log if line["action"] == "tenant.exported"]
    assert [line["target"]["id"] for line in entries] == ["acme", "acme"]
    assert entries[0]["actor"]["type"] == "operator"
    assert entries[0]["changes"] == {}
    assert company.stack.tenant().state == "active"


def test_interrupted_export_is_marked_and_can_be_repeated(
    company: Company, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    complete = tmp_path / "complete"
    export_tenant("acme", complete)
    with aws_faults.recorded() as seen:
        export_tenant("acme", tmp_path / "counted")
    for call in sampled("export of a tenant", range(len(seen.calls) - 1), every=5):
        to = tmp_path / str(call)
        with aws_faults.faulty(kill_after(call)), pytest.raises(Killed):
            export_tenant("acme", to)
        if (to / "manifest.json").exists():
            assert json.loads((to / "manifest.json").read_text())["complete"] is False
        export_tenant("acme", to)
        actual, expected = read_all_files(to), read_all_files(complete)
        for name in ("manifest.json", "audit-log.jsonl"):
            assert actual.pop(name) != expected.pop(name)
        assert actual == expected
    assert company.files("acme")


def test_export_interrupted_while_writing_the_first_manifest_can_be_repeated(
    company: Company, tmp_path: Path
) -> None:
    assert company
    (tmp_path / "manifest.part").write_text("{")
    assert export_tenant("acme", tmp_path)["complete"] is True


@pytest.mark.parametrize(
    "manifest", [None, "", "{", "[]", '"acme"', "{}", '{"tenant": "beta"}', '{"tenant": null}']
)
def test_export_into_a_directory_with_other_files_changes_nothing(
    company: Company, tmp_path: Path, manifest: str | None
) -> None:
    assert company
    (tmp_path / "products.jsonl").write_text("mine")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    before = read_all_files(tmp_path)
    with pytest.raises(Conflict, match="contains no export of acme"):
        export_tenant("acme", tmp_path)
    assert read_all_files(tmp_path) == before


@pytest.mark.parametrize("state", ["suspended", "cancelled"])
def test_suspended_or_cancelled_tenant_can_be_exported(
    company: Company, tmp_path: Path, state: Any
) -> None:
    provisioning.set_state("acme", state)
    assert export_tenant("acme", tmp_path)["counts"]["products.jsonl"] == 1
    assert json.loads((tmp_path / "tenant.json").read_text())["state"] == state
    assert tenant_overview.get_overview("acme").state == state
    assert company.stack.tenant("beta").state == "active"


def test_export_of_an_unknown_tenant_creates_no_directory(
    company: Company, clock: Clock, tmp_path: Path
) -> None:
    assert clock
    company.delete()
    for slug in ("acme", "nobody"):
        with pytest.raises(NotFound):
            export_tenant(slug, tmp_path / slug)
    assert list(tmp_path.iterdir()) == []
