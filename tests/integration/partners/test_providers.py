"""Create, read, change and delete providers."""

import pytest

from tests.gateway import Erp
from tests.integration.partners.conftest import Make
from tests.stack import Stack

HALDEN = {
    "name": "Halden Switchgear GmbH",
    "description": "Circuit protection\nand boards",
    "email": "export@halden-switchgear.example",
    "phone": "+49 30 901820",
    "paymentinfo": "60 days, 2 % discount within 14 days",
}


def test_provider_has_all_its_fields(erp: Erp, stack: Stack) -> None:
    answer = erp.post("/providers", HALDEN)

    assert answer.status == 201, answer.text
    assert answer.headers["Location"] == f"{stack.tenant().base_url}/providers/1"
    created = answer.data
    times = {name: created[name] for name in ("created_at", "updated_at")}
    assert times["created_at"] == times["updated_at"]
    assert created == {**HALDEN, "id": 1, **times}
    assert erp.get("/providers/1").data == created
    assert erp.walk("/providers") == [created]


def test_fields_that_are_not_sent_are_null(erp: Erp, create_provider: Make) -> None:
    optional = {"description", "email", "phone", "paymentinfo"}
    for created in (create_provider(), create_provider(**dict.fromkeys(optional))):
        assert {name for name, value in created.items() if value is None} == optional
        assert erp.get(f"/providers/{created['id']}").data == created


def test_names_need_not_be_unique(create_provider: Make) -> None:
    assert [create_provider("Midland")["id"], create_provider("Midland")["id"]] == [1, 2]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_only_the_fields_sent_change(erp: Erp, method: str) -> None:
    before = erp.post("/providers", HALDEN).data

    after = erp.send(method, "/providers/1", {"name": "Halden AG", "paymentinfo": None}).ok()
    changed = {"name": "Halden AG", "paymentinfo": None}
    assert after["updated_at"] >= before["updated_at"]
    assert after == {**before, **changed, "updated_at": after["updated_at"]}
    assert erp.get("/providers/1").data == after
    assert erp.walk("/providers", search="halden ag") == [after]
    assert erp.walk("/providers", search="gmbh") == []


def test_deleted_provider_is_gone(erp: Erp, create_provider: Make) -> None:
    created = create_provider(email="sales@midland.example")

    answer = erp.delete("/providers/1")

    assert (answer.status, answer.data) == (200, created)
    for method in ("GET", "DELETE", "PATCH", "PUT"):
        body = {"name": "x"} if method in {"PATCH", "PUT"} else None
        answer = erp.send(method, "/providers/1", body)
        assert (answer.status, answer.code) == (410, "gone")
    for query in ({}, {"email": "sales@midland.example"}, {"search": "mid"}):
        assert erp.walk("/providers", **query) == []
    assert create_provider()["id"] == 2
