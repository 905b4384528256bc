"""What goes back gets a version that it never had, so that no version stands for two states."""

import pytest

from operations import restored_versions, table_lease
from operations.restore import restore_tenant, switch_table
from tests.faults import AwsFaults, kill_after
from tests.gateway import Erp
from tests.integration.restore.conftest import Recovery, item, items_of
from tests.integration.restore.test_interruptions import remove_new_tables
from tests.integration.restore.test_restore import FIRST, product
from tests.sampling import deadly_calls
from tests.stack import Stack
from tests.webhook_scenario import URL


def rename(erp: Erp, number: int, name: str) -> str:
    """Change a product; return its ETag."""
    changed = erp.patch(f"/products/{number}", {"name": name})
    assert changed.status == 200, changed.text
    return changed.headers["ETag"]


def versions_of(table: str) -> dict[str, int]:
    return {
        key[0]: int(found["version"]["N"])
        for key, found in items_of(table).items()
        if key[1] == "HEAD" and "version" in found
    }


def restored(recovery: Recovery) -> str:
    done = restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()
    return done.table


def test_changed_entity_goes_back_with_a_higher_version(recovery: Recovery, stack: Stack) -> None:
    erp = stack.erp()
    number, other = product(erp, "BEFORE"), product(erp, "OTHER")
    rename(erp, number, "Old")
    recovery.remember()
    erp = stack.erp()  # with a token of this hour
    unchanged = erp.get(f"/products/{other}")
    for name in ("New", "Newer", "Newest"):
        etag = rename(erp, number, name)
    newest = erp.get(f"/products/{number}").json()["data"]

    restored(recovery)

    erp = stack.erp()
    shown = erp.get(f"/products/{number}")
    assert shown.json()["data"]["name"] == "Old"
    assert shown.json()["data"]["updated_at"] > newest["updated_at"]
    versions = versions_of(FIRST), versions_of(restored(recovery))
    key = f"product#{number:012d}"
    assert versions[1][key] == versions[0][key] + 1
    # A client that has read the newest state must not replace the old one unseen.
    stale = erp.patch(f"/products/{number}", {"name": "X"}, headers={"If-Match": etag})
    assert (stale.status, stale.code) == (409, "stale_state")
    assert erp.get(f"/products/{number}", headers={"If-None-Match": etag}).status == 200
    same = erp.get(f"/products/{other}")
    assert (same.text, same.headers["ETag"]) == (unchanged.text, unchanged.headers["ETag"])


def test_sync_loop_reads_what_has_gone_back(recovery: Recovery, stack: Stack) -> None:
    erp = stack.erp()
    changed, deleted = product(erp, "CHANGED"), product(erp, "DELETED")
    product(erp, "OTHER")
    recovery.remember()
    erp = stack.erp()
    rename(erp, changed, "New")
    assert erp.delete(f"/products/{deleted}").status == 200
    position = erp.get("/products", query={"sort": "-updated_at"}).json()["data"][0]["updated_at"]
    recovery.clock.advance(60)

    restored(recovery)

    query = {"sort": "updated_at", "updated_since": position}
    found = stack.erp().get("/products", query=query).json()["data"]
    assert {row["item_code"] for row in found if row["updated_at"] > position} == {
        "CHANGED",
        "DELETED",
    }


def test_event_after_a_restore_has_a_higher_sequence_than_all_before(
    recovery: Recovery, stack: Stack
) -> None:
    """Receivers ignore an event whose sequence is not higher than the last one."""
    number = product(stack.erp(), "BEFORE")
    recovery.remember()
    for name in ("New", "Newer"):
        rename(stack.erp(), number, name)
    before = max(int(event["version"]["N"]) for event in stack.events())
    restored(recovery)
    rename(stack.erp(), number, "Other")
    (*_, last) = stack.events()
    assert int(last["version"]["N"]) > before


def test_deactivated_subscription_gets_a_version_of_its_own(
    recovery: Recovery, stack: Stack
) -> None:
    """The restore itself changes it: it is active at the moment and inactive today."""
    stack.erp().post("/webhooks", {"url": URL, "events": ["product.created"]}).ok(201)
    recovery.remember()
    stack.erp().patch("/webhooks/1", {"is_active": False}).ok()
    restored(recovery)
    shown = stack.erp().get("/webhooks/1")
    assert shown.json()["data"]["is_active"] is False
    key = f"webhook#{1:012d}"
    table = item()["table_name"]["S"]
    assert versions_of(table)[key] > versions_of(FIRST)[key]


def test_switch_back_raises_versions_again(recovery: Recovery, stack: Stack) -> None:
    number = product(stack.erp(), "BEFORE")
    recovery.remember()
    rename(stack.erp(), number, "New")
    table = restored(recovery)
    rename(stack.erp(), number, "Other")
    switch_table("acme", FIRST)
    recovery.let_caches_expire()
    assert stack.erp().get(f"/products/{number}").json()["data"]["name"] == "New"
    key = f"product#{number:012d}"
    assert versions_of(FIRST)[key] == versions_of(table)[key] + 1


def test_killed_restore_raises_each_version_once(
    recovery: Recovery, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restored_versions, "_CHUNK", 2)
    monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 3_600)  # renewals change nothing else
    recovery.clock.freeze()
    numbers = [product(stack.erp(), f"P-{number}") for number in range(5)]
    recovery.remember()
    for number in numbers:
        rename(stack.erp(), number, "New")
    undo = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        restore_tenant("acme", recovery.at)
    first = seen.operations.index("Scan")
    # Totals are in random shards, so that a run may have some calls less.
    calls = deadly_calls("versions of a restore", seen.operations[:-8], every=12)
    for call in calls:
        if call < first:  # it has not begun to raise versions
            continue
        remove_new_tables()
        undo()
        assert aws_faults.kills(kill_after(call), lambda: restore_tenant("acme", recovery.at))
        found = versions_of(restore_tenant("acme", recovery.at).table)
        assert {found[f"product#{number:012d}"] for number in numbers} == {3}, call
