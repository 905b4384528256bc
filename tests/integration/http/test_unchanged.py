"""A write of the values that a resource has already changes nothing."""

from typing import Any

import pytest

from tests.gateway import Erp
from tests.integration.stored_entities import collections
from tests.integration.write_routes import EXAMPLES
from tests.integration.write_users import MARIA, PACKERS
from tests.stack import Stack
from tests.webhook_scenario import URL

CHANGES = [name for name in EXAMPLES if name.startswith(("PUT ", "PATCH "))]
CHANGES.remove("PUT /warehouses/{id}/layout")  # publishes the next version, whatever is sent

_ADDING = {"PATCH /entry-documents/{id}"}
"""The changes whose body adds a line, so that it adds another one when it is sent again."""

_WITH_ENTRIES = {
    "/roles": PACKERS,
    "/users": {**MARIA, "roles": [2, 1]},
    "/webhooks": {"url": URL, "events": ["wave.planned", "stock.updated"]},
}


def _heads(stack: Stack) -> dict[str, Any]:
    """Return the entities with their versions, by key."""
    kinds = {collection.kind for collection in collections()}
    return {
        item["PK"]["S"]: item
        for item in stack.items()
        if item["SK"]["S"] == "HEAD" and item["PK"]["S"].partition("#")[0] in kinds
    }


@pytest.mark.parametrize("name", CHANGES)
def test_same_values_leave_version_time_and_tag_and_raise_no_event(
    stack: Stack, erp: Erp, name: str
) -> None:
    method, _, path = name.partition(" ")
    values = EXAMPLES[name].prepared(erp)
    target, body = path.format(**values), EXAMPLES[name].filled(values)
    assert erp.send(method, target, body).status == 200
    before, heads, events = erp.get(target), _heads(stack), stack.event_count()

    for same in (before.data, {}) if name in _ADDING else (body, before.data, {}):
        answer = erp.send(method, target, same)

        assert answer.status == 200, answer.text
        # A packaging has no time of its own; that of its product is among the heads.
        assert answer.data.get("updated_at") == before.data.get("updated_at")
        assert answer.headers.get("ETag", before.headers["ETag"]) == before.headers["ETag"]
        assert erp.get(target).text == before.text
        assert _heads(stack) == heads
        assert stack.event_count() == events


@pytest.mark.parametrize(
    ("path", "field"), [("/roles", "permissions"), ("/users", "roles"), ("/webhooks", "events")]
)
def test_same_entries_in_another_order_change_nothing(
    stack: Stack, erp: Erp, path: str, field: str
) -> None:
    for name in ("A", "B"):
        erp.post("/roles", {"name": name, "permissions": ["exits.manage", "users.manage"]})
    made = erp.post(path, _WITH_ENTRIES[path])
    target = f"{path}/{made.id}"
    before, heads, audited = erp.get(target), _heads(stack), erp.get("/audit-log").data

    answer = erp.patch(target, {field: made.data[field][::-1]})

    assert (answer.status, answer.data[field]) == (200, made.data[field])
    assert erp.get(target).text == before.text
    assert _heads(stack) == heads
    assert erp.get("/audit-log").data == audited
