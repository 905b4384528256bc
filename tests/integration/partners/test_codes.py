"""The codes of clients and providers, and the documents that name partners by them."""

from itertools import count
from typing import Any

import pytest

from tests.gateway import Erp
from tests.integration.documents.bodies import document_body
from tests.integration.partners.conftest import ids
from tests.warehouse_scenario import WarehouseScenario

each_kind = pytest.mark.parametrize("kind", ["client", "provider"])


def _create(erp: Erp, kind: str, number: int, **more: object) -> dict[str, Any]:
    identity = {"document_id": number} if kind == "client" else {}
    body = {"name": f"Partner {number}", **identity, **more}
    return erp.post(f"/{kind}s", body).ok(201)


@each_kind
def test_code_is_unique_among_partners_of_a_kind(erp: Erp, kind: str) -> None:
    other_kind = "client" if kind == "provider" else "provider"
    path = f"/{kind}s"
    assert _create(erp, kind, 1, code="P-1")["code"] == "P-1"
    _create(erp, kind, 2, code="p-1")
    _create(erp, other_kind, 3, code="P-1")

    taken = {"code": f"is already taken by another {kind}"}
    assert erp.post(path, {"name": "x", "document_id": 9, "code": "P-1"}).problems == taken
    assert erp.patch(f"{path}/2", {"code": "P-1"}).problems == taken
    assert set(erp.post(path, {"code": "x" * 51, "name": ""}).problems) >= {"code", "name"}
    assert erp.patch(f"{path}/1", {"code": "P-1", "phone": "1"}).data["code"] == "P-1"


@each_kind
def test_code_is_free_after_a_change_and_a_delete(erp: Erp, kind: str) -> None:
    path = f"/{kind}s"
    for number in (1, 2):
        _create(erp, kind, number, code=f"P-{number}")

    assert erp.patch(f"{path}/1", {"code": None}).data["code"] is None
    assert erp.delete(f"{path}/2").data["code"] == "P-2"
    assert erp.walk(path, code="P-1") == erp.walk(path, code="P-2") == []
    assert _create(erp, kind, 3, code="P-1")["id"] == 3
    assert erp.patch(f"{path}/1", {"code": "P-2", "name": "Renamed"}).data["code"] == "P-2"

    assert ids(erp.walk(path, code="P-2", search="p-2 rename")) == [1]
    assert ids(erp.walk(path, search="P-1")) == [3]


def test_document_takes_the_name_of_its_partner(yard: WarehouseScenario) -> None:
    erp = yard.erp
    _create(erp, "client", 1, code="P-1", name="Client")
    provider = _create(erp, "provider", 2, code="P-1", name="Provider")["id"]

    keys = count()

    def named(path: str, kind: str, reference: str = "1", **more: object) -> tuple[Any, Any]:
        body = document_body(type=kind, external_ref=reference, partner_code="P-1", **more)
        answer = erp.post(path, body, key=f"key-{next(keys)}")
        return answer.data["card_name"], answer.json().get("warning")

    assert named("/entry-documents", "purchase_order") == ("Provider", None)
    assert named("/exit-documents", "return_to_provider") == ("Provider", None)
    assert named("/exit-documents", "sale_order") == ("Client", None)
    assert named("/exit-documents", "sale_order", "2", partner_name="Own") == ("Own", None)

    erp.patch(f"/providers/{provider}", {"name": "Other"}).ok()
    assert named("/entry-documents", "purchase_order") == ("Provider", None), "as it was created"
    assert named("/entry-documents", "purchase_order", "2") == ("Other", None)
    erp.delete(f"/providers/{provider}").ok()
    assert named("/entry-documents", "purchase_order", "3") == (None, None)
