"""Create, read, change and delete clients and providers."""

from collections.abc import Mapping

import pytest

from tests.gateway import Erp
from tests.stack import Stack

BRINDLEY = {
    "name": "Brindley Electrical Contractors Ltd",
    "code": "C-1001",
    "document_type": "V",
    "document_id": 999_000_100,
    "email": "Orders@brindley-electrical.example",
    "phone": "+44 121 496 0111",
}
HALDEN = {
    "name": "Halden Switchgear GmbH",
    "code": "V-1001",
    "description": "Circuit protection\nand boards",
    "email": "export@halden-switchgear.example",
    "phone": "+49 30 901820",
    "paymentinfo": "60 days, 2 % discount within 14 days",
}
type Fields = Mapping[str, object]

each_partner = pytest.mark.parametrize(
    ("path", "whole"), [("/clients", BRINDLEY), ("/providers", HALDEN)], ids=["client", "provider"]
)


@each_partner
def test_partner_has_all_its_fields(erp: Erp, stack: Stack, path: str, whole: Fields) -> None:
    answer = erp.post(path, whole)

    created = answer.ok(201)
    assert answer.headers["Location"] == f"{stack.tenant().base_url}{path}/1"
    times = {name: created[name] for name in ("created_at", "updated_at")}
    assert times["created_at"] == times["updated_at"]
    assert created == {**whole, "id": 1, "metadata": {}, **times}
    assert erp.get(f"{path}/1").data == created
    assert erp.walk(path) == [created]


@each_partner
def test_fields_that_are_not_sent_are_null(erp: Erp, path: str, whole: Fields) -> None:
    required = {"name": " Web shop ", **{n: whole[n] for n in whole if n == "document_id"}}
    optional = whole.keys() - required.keys()

    for sent in ({}, dict.fromkeys(optional)):
        created = erp.post(path, {**required, **sent}).ok(201)
        assert {name for name, value in created.items() if value is None} == optional
        assert created["name"] == "Web shop"
        assert erp.delete(f"{path}/{created['id']}").data == created


def test_names_of_providers_need_not_be_unique(erp: Erp) -> None:
    assert [erp.post("/providers", {"name": "Midland"}).id for _ in range(2)] == [1, 2]


@each_partner
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_only_the_fields_sent_change(erp: Erp, path: str, whole: Fields, method: str) -> None:
    before = erp.post(path, whole).data
    optional = next(name for name in ("document_type", "paymentinfo") if name in whole)
    changed = {"name": "Gilling AG", "email": "ap@gilling.example", optional: None}

    after = erp.send(method, f"{path}/1", changed).ok()

    assert after["updated_at"] >= before["updated_at"]
    assert after == {**before, **changed, "updated_at": after["updated_at"]}
    assert erp.get(f"{path}/1").data == after
    for query in ({"email": "ap@gilling.example"}, {"search": "gilling ag"}):
        assert erp.walk(path, **query) == [after]
    for name, parameter in (("email", "email"), ("name", "search")):
        assert erp.walk(path, **{parameter: whole[name]}) == []


@each_partner
def test_deleted_partner_is_gone(erp: Erp, path: str, whole: Fields) -> None:
    created = erp.post(path, whole).data

    answer = erp.delete(f"{path}/1")

    assert (answer.status, answer.data) == (200, created)
    for method in ("GET", "DELETE", "PATCH", "PUT"):
        body = {"name": "x"} if method in {"PATCH", "PUT"} else None
        answer = erp.send(method, f"{path}/1", body)
        assert (answer.status, answer.code) == (410, "gone")
    keys = {name: whole[name] for name in ("email", "document_id") if name in whole}
    for query in ({}, {"search": whole["name"]}, *({name: keys[name]} for name in keys)):
        assert erp.walk(path, **query) == []
    assert erp.post(path, whole).id == 2, "its document id can be used again"
