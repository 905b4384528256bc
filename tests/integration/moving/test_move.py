"""A tenant is moved into another deployment: everything is equal there, and works."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends

from operations import provisioning
from operations.export import export_tenant
from operations.items_file import ITEMS_FILE
from operations.tenant_import import import_tenant, open_export
from operations.tenant_overview import get_overview
from shared.integration.webhooks.signatures import unseal_secret
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db.items import unpack
from shared.kernel.events.feed import read_head
from shared.kernel.json_text import loads
from tests.faults import AwsFaults, Killed, kill_after
from tests.gateway import Erp, LambdaContext, _function
from tests.integration.call_faults import throttled_at_first
from tests.integration.moving.two_deployments import (
    ADDRESS,
    HOST,
    KEY,
    PASSPHRASE,
    PRODUCT,
    SECRET_KEY,
    WORK_FILE,
    TwoDeployments,
    control_items,
    table_items,
)
from tests.integration.offboarding.test_export import read_all_files
from tests.lists import LISTS
from tests.sampling import deadly_calls
from tests.stack import ACCOUNT, REGION
from tests.tenant_cache import apply_now
from tests.webhook_scenario import RELAY, URL, stream_batch


def _is_sealed(key: str, item: dict[str, Any]) -> bool:
    is_sealed_record = item.get("sealed", {}).get("BOOL", False)
    return key.startswith("webhook#") or "totp" in item or is_sealed_record


def test_every_item_of_the_table_is_equal(both: TwoDeployments, tmp_path: Path) -> None:
    folder = both.export(tmp_path / "acme")
    before = table_items("stowage")
    done = both.import_(folder)
    after = table_items("other")
    new = [key for key in after if key not in before]
    assert before.keys() <= after.keys()
    assert {key.partition("#")[0] for key in new} <= {"audit", "count"}
    changed = {
        key
        for key in before
        if before[key] != after[key] and not key.startswith(("count#audit", "sequence audit"))
    }
    assert changed == {key for key, item in before.items() if _is_sealed(key, item)} != set()
    compared = {each.what: (each.exported, each.imported) for each in done.compared}
    assert compared["items"] == (len(before), len(before))
    assert compared["files"] == (2, 2)
    assert compared["clients"] == (2, 2)
    assert done.clients_without_secret == ()


def test_lists_are_equal_and_requests_work(both: TwoDeployments, tmp_path: Path) -> None:
    paths = {"/api-clients", *(listed.path for listed in LISTS.values())} - {"/audit-log"}
    before = {path: both.client_erp.walk(path) for path in paths}
    picking = both.client_erp.get(both.picking).ok()
    assert [fill["external_ref"] for fill in picking["lines"][0]["fills"]] == ["10"]
    both.import_(both.export(tmp_path / "acme"))
    erp = Erp(both.gateway, both.token(HOST))
    for path in paths:
        rows = str(erp.walk(path)).replace(ADDRESS, "https://api.stowage.test/api/v1")
        assert rows == str(before[path]), path
    assert erp.get(both.picking).ok() == picking
    made = erp.post("/products", {"item_code": "MOVED-2", "name": "Reel"})
    assert made.status == 201, made.text
    assert made.headers["Location"].startswith(ADDRESS)
    assert made.data["id"] == both.created.data["id"] + 2


def test_key_that_was_used_at_the_source_returns_the_stored_response(moved: TwoDeployments) -> None:
    erp = Erp(moved.gateway, moved.token(HOST))
    again = erp.post("/products", PRODUCT, key=KEY)
    assert (again.status, again.data) == (201, moved.created.data)
    assert again.headers["Idempotent-Replayed"] == "true"
    body = {"url": URL, "events": ["product.created"]}
    again = erp.post("/webhooks", body, key=SECRET_KEY)
    assert again.data["secret"] == moved.webhook["secret"]


def test_signing_secret_is_that_of_the_source(moved: TwoDeployments) -> None:
    number = moved.webhook["id"]
    data = table_items("other")[f"webhook#{number:012d} HEAD"]["data"]["B"]
    (secret,) = loads(unpack([data]))["secrets"]
    assert unseal_secret("acme", number, secret["sealed"]) == moved.webhook["secret"]


def test_user_signs_in_with_password_and_app(moved: TwoDeployments) -> None:
    assert moved.sign_in(HOST).status == 200


def test_source_names_the_new_address_after_the_move(moved: TwoDeployments) -> None:
    moved.enter_source()
    apply_now(provisioning.set_state, "acme", "moved", moved_to=ADDRESS)
    answer = moved.client_erp.get("/products")
    assert (answer.status, answer.code) == (410, "tenant_moved")
    assert ADDRESS in answer.text


def test_tenant_keeps_plan_limits_and_counters(moved: TwoDeployments) -> None:
    before, after = (
        control_items(template)["TENANT#acme"] for template in (moved.source.template, moved.other)
    )
    assert before.setdefault("mobile_clients", {"N": "0"}) == {"N": "0"}  # none was ever created
    differing = {name for name in before | after if before.get(name) != after.get(name)}
    assert differing == {"state", "base_url", "import_source", "suspended_for"}
    assert (after["state"]["S"], after["base_url"]["S"]) == ("active", ADDRESS)
    assert "suspended_for" not in after


def test_only_events_that_were_not_relayed_are_relayed(moved: TwoDeployments) -> None:
    events = moved.target.events()
    assert len(events) > 1
    batch = stream_batch(events)
    relayed: list[str] = []

    def _relay(_: object, entries: list[str]) -> set[str]:
        relayed.extend(entries)
        return set()

    original = "shared.integration.webhooks.relay.Relay.relay"
    moved.monkeypatch.setattr(original, _relay)
    _function(RELAY)(batch, LambdaContext())
    assert len(relayed) == 1


def test_followers_of_the_source_start_again_in_the_target(moved: TwoDeployments) -> None:
    store = moved.target.store()
    head = read_head(store)
    assert head
    assert (head.position, head.is_complete) == (0, True)
    assert head.checksums["product"][0] > 1
    changes = partial(Erp(moved.gateway, moved.token(HOST)).get, "/changes")
    assert changes().status == 200
    assert changes(query={"epoch": head.epoch - 1}).code == "gone"


def test_only_files_of_the_work_bucket_are_written(both: TwoDeployments, tmp_path: Path) -> None:
    both.import_(both.export(tmp_path / "acme"))
    s3 = aws.client("s3")
    assert "Contents" not in s3.list_objects_v2(Bucket=config().import_bucket)
    found = s3.get_object(Bucket=config().import_work_bucket, Key="acme/sources/0a1b")
    assert found["Body"].read() == WORK_FILE


def test_export_holds_no_secret_in_clear(both: TwoDeployments, tmp_path: Path) -> None:
    folder = both.export(tmp_path / "acme")
    secrets = (both.webhook["secret"], both.totp_secret, both.credentials.client_secret, "argon2")
    for name, content in read_all_files(folder).items():
        for secret in secrets:
            assert secret.encode() not in content, name
    export_tenant("acme", folder)
    assert not (folder / ITEMS_FILE).exists()


def test_import_that_died_at_any_call_is_completed_by_the_next_run(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    folder = both.export(tmp_path / "acme")
    both.enter_target()
    export = open_export(folder, PASSPHRASE)
    restore = both.source.take_snapshot()
    with aws_faults.recorded() as seen:
        complete = import_tenant(export, export.terms, base_url=ADDRESS)
    expected = table_items("other")
    audits = sum(key.startswith("audit#") for key in expected)
    for call in deadly_calls("import of a tenant", seen.operations, every=40):
        _forget_target(restore)
        with aws_faults.faulty(kill_after(call)), pytest.raises(Killed):
            import_tenant(export, export.terms, base_url=ADDRESS)
        done = import_tenant(export, export.terms, base_url=ADDRESS)
        assert get_overview("acme").state == "active"
        actual = table_items("other")
        assert _without_shards(actual) == _without_shards(expected), call
        assert sum(key.startswith("audit#") for key in actual) == audits, call
        assert done.compared in {complete.compared, ()}
        assert "import_pending" not in control_items(both.other)["TENANT#acme"]
        assert len(both.target.events()) == len(both.source.events())


def test_import_goes_on_when_dynamodb_has_throttled_whole_batches(
    both: TwoDeployments, aws_faults: AwsFaults, tmp_path: Path
) -> None:
    folder = both.export(tmp_path / "acme")
    before = table_items("stowage")
    with aws_faults.faulty(throttled_at_first("BatchWriteItem", "BatchGetItem")):
        both.import_(folder)
    assert before.keys() <= table_items("other").keys()


def _without_shards(items: Iterable[str]) -> set[str]:
    """Return keys without audit entries, whose ids and shards of their number may differ."""
    return {key for key in items if not key.startswith(("audit#", "count#audit"))}


def _forget_target(restore: Any) -> None:
    dynamodb_backends[ACCOUNT][REGION].tables.pop("other-tenant-acme", None)
    restore()
