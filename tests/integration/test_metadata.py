"""Metadata of the caller's own system, at everything that has it: kept, shown and changed."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.gateway import Erp
from tests.integration.write_routes import EXAMPLES
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack, event_attributes
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

_TEXTS = {"ERP.id-7_a": "PO 4711 ", "empty": "", "memo": "ñ\nline 2"}
_MASTER_DATA = "/products", "/clients", "/providers", "/warehouses"
_DOCUMENTS = "/entry-documents", "/exit-documents", "/transfer-orders", "/returns"


def _body(erp: Erp, path: str) -> dict[str, Any]:
    example = EXAMPLES[f"POST {path}"]
    body = example.filled(example.prepared(erp))
    assert isinstance(body, Mapping)
    return {**body}


@pytest.mark.parametrize("path", _MASTER_DATA)
def test_metadata_of_master_data(path: str, erp: Erp) -> None:
    body = _body(erp, path)
    made = erp.post(path, body | {"metadata": _TEXTS}).ok(201)
    one = f"{path}/{made['id']}"

    def shown() -> object:
        detail = erp.get(one).data["metadata"]
        assert [row["metadata"] for row in erp.get(path).data if row["id"] == made["id"]] == [
            detail
        ]
        return detail

    assert made["metadata"] == shown() == _TEXTS
    for send in erp.patch, erp.put:
        changed = send(one, {"metadata": {"memo": None, "unknown": None, "new": "x"}}).ok()
        assert changed["metadata"] == shown() == _without_memo() | {"new": "x"}
        assert send(one, {"metadata": {"memo": _TEXTS["memo"], "new": None}}).ok()["metadata"]
    same = erp.patch(one, {"name": made["name"], "metadata": {}}).ok()
    assert same["metadata"] == shown() == _TEXTS
    before = erp.get(one).data
    erp.patch(one, {"metadata": _TEXTS}).ok()
    assert erp.get(one).data == before, "nothing changes"

    for send in erp.patch, erp.put:
        full = {f"n{number}": "" for number in range(48)}
        answer = send(one, {"name": "", "metadata": {**full, "a b": "x", "memo": 1}})
        assert sorted(_fields(answer.json())) == ["metadata.a b", "metadata.memo", "name"]
        answer = send(one, {"name": "", "metadata": full})
        assert sorted(_fields(answer.json())) == ["metadata", "name"]
    assert erp.get(one).data == before
    half, other = ({f"{name}{at}": "x" * 500 for at in range(9)} for name in "ab")
    erp.patch(one, {"metadata": half}).ok()
    too_large = erp.patch(one, {"metadata": other}).problems["metadata"]
    assert too_large.startswith("must have at most 8192 bytes, has 9"), too_large
    erp.patch(one, {"metadata": dict.fromkeys(half)}).ok()
    refused = erp.post(path, body | {"metadata": {"memo": None}})
    assert (refused.status, _fields(refused.json())[0]) == (422, "metadata.memo")
    assert erp.patch(one, {"metadata": dict.fromkeys(_TEXTS)}).ok()["metadata"] == {}


def _without_memo() -> dict[str, str]:
    return {name: text for name, text in _TEXTS.items() if name != "memo"}


def _fields(answer: Any) -> list[str]:
    return [problem["field"] for problem in answer["errors"]]


@pytest.mark.parametrize("path", _DOCUMENTS)
def test_metadata_of_documents_and_their_lines(path: str, erp: Erp) -> None:
    body = _body(erp, path)
    line, *_ = body["lines"]
    plain = {name: value for name, value in line.items() if name != "metadata"}
    body |= {
        "external_ref": "REF-1",
        "metadata": _TEXTS,
        "lines": [plain | {"metadata": {"line": "10"}}],
    }
    made = erp.post(path, body, key="k1").ok(201)
    detail = erp.get(f"{path}/{made['id']}").data
    assert made["metadata"] == detail["metadata"] == _TEXTS
    assert [one["metadata"] for one in detail["lines"]] == [{"line": "10"}]
    assert [row["metadata"] for row in erp.get(path).data] == [_TEXTS]

    assert "warning" not in erp.post(path, body, key="k2").json()
    other = body | {"metadata": {"memo": "x"}, "lines": [plain | {"metadata": {"line": "20"}}]}
    repeated = erp.post(path, other, key="k3").json()
    assert repeated["warning"].endswith(
        "The request differs in: metadata.memo, metadata.ERP.id-7_a, metadata.empty,"
        " lines.0.metadata.line."
    ), repeated
    bad = {"line": "x" * 501, "a b": "", **{f"n{number}": "" for number in range(9)}}
    refused = erp.post(
        path, body | {"metadata": {"memo": None}, "lines": [plain | {"metadata": bad}]}, key="k4"
    )
    assert refused.status == 422
    line_fields = {f"lines.0.metadata{name}" for name in ("", ".a b", ".line")}
    assert {"metadata.memo", *line_fields} <= {*_fields(refused.json())}
    assert "X-Ignored-Fields" not in erp.post(path, body, key="k5").headers


def test_last_event_of_a_resource_shows_what_its_detail_shows(
    erp: Erp, yard: WarehouseScenario, stack: Stack
) -> None:
    line: dict[str, Any] = {"external_ref": "10", "metadata": {"pos": "A"}}
    goods = {**line, "item_code": "BRICK", "qty": 2}
    head = {"metadata": _TEXTS, "lines": [goods]}
    erp.patch("/products/1", {"metadata": _TEXTS}).ok()
    receiving = ReceivingScenario(erp, yard)
    receipt = receiving.started(receiving.order(line | {"qty": 6}))
    receiving.receive(receipt, 6).ok()
    receiving.act(receipt, "finalize").ok()
    address = {"city": "Bath", "country": "GB"}
    document = yard.order(head={**head, "ship_to_address": address, "carrier_code": "DHL"})
    yard.picked(document, qty=1)
    erp.post(f"/exit-documents/{document}/dispatch", {"rest": "keep"}).ok()
    returned = {**head, "exit_document_id": document, "lines": [goods | {"qty": 1}]}
    number = erp.post("/returns", returned).id
    back = {"item_code": "BRICK", "qty": 1}
    erp.post(f"/returns/{number}/lines", {"lines": [back | {"bin_code": "B-01"}]}).ok()
    erp.post(f"/returns/{number}/finish").ok()
    erp.post(f"/returns/{number}/dispositions", {"lines": [back | {"action": "scrap"}]}).ok()
    transfers = TransferScenario(erp, yard)
    order = transfers.order(**head)
    transfers.pick(order, "BRICK", 1)
    transfers.done(order, "finish-picking")
    transfers.done(order, "dispatch")
    transfers.receive(order, back).ok()

    last = {event["href"]["S"]: event_attributes(event) for event in stack.events()}

    further = {"exit-documents": {"shipped", "rest", "units"}}
    compared = set[str]()
    for path, shown in last.items():
        collection = path.split("/")[1]
        if "?" in path:  # stock levels have no detail
            continue
        detail = erp.get(path).ok()
        assert shown.keys() - detail.keys() == further.get(collection, set())
        # Later work of others may change when it was changed last.
        names = (shown.keys() & detail.keys()) - {"updated_at"}
        detail["lines"] = detail.get("lines") if shown.get("lines") else None
        assert {name: shown[name] for name in names} == {name: detail[name] for name in names}, path
        compared |= {collection}
    assert compared == {
        "products", "receipts", "pickings", "exit-documents", "returns", "transfer-orders",
    }  # fmt: skip
    sent = [last[path] for path in ("/exit-documents/1", "/returns/1", "/transfer-orders/1")]
    assert [one["metadata"] for one in [last["/products/1"], *sent]] == [_TEXTS] * 4
    assert last["/transfer-orders/1"]["lines"] is None  # as in its list
    [ordered] = last["/exit-documents/1"]["lines"]
    assert {name: ordered[name] for name in line} == line
