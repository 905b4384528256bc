"""A company with every kind of data, made by production code, for tests of the verification."""

from functools import partial
from typing import Any

from operations.operator_identity import run_as_operator
from shared.identity.users import roles, service
from shared.identity.users.models import RoleCreate, UserCreate
from shared.kernel.db.transaction import Transaction
from tests.dns import HOOKS
from tests.epc_encoding import tag_of
from tests.gateway import Erp
from tests.packing_scenario import PackingScenario
from tests.people import PICKER
from tests.stack import prepare_once
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_BRICK, _CEMENT = "96385074", "4006381333931"
"""GTINs: a barcode, and one of a packaging."""
_METADATA = {"ERP.id": "0017", "memo": ""}
RETURNED_EXIT = 7
"""Id of an exit document whose goods come back; there are fewer warehouses."""


def build_company(erp: Erp) -> None:
    """Create the company, or restore what was created before."""
    prepare_once(erp, "company to verify", lambda: _build(erp))


def build_small_company(erp: Erp) -> None:
    """Create products, and a warehouse with stock of one of them."""
    WarehouseScenario.create_goods(erp, ("YARD",))
    WarehouseScenario(erp).stock("BRICK", 100)


def _post(
    erp: Erp, path: str, body: Any = None, *, status: int = 201, key: str | None = None
) -> Any:
    answer = erp.post(path, body, key=key)
    assert answer.status == status, f"{path}: {answer.text}"
    return answer.data


def _build(erp: Erp) -> None:
    _people()
    WarehouseScenario.create_goods(erp, ("YARD", "SHOP"))
    yard = WarehouseScenario(erp)
    scenario = TransferScenario(erp, yard)
    waves = WaveScenario(yard)
    _post(erp, "/product-categories", {"name": "Stone"})
    client = {
        "name": "Brindley", "document_type": "V", "document_id": 999_000_100, "code": "C-1",
        "metadata": _METADATA,
    }  # fmt: skip
    _post(erp, "/clients", client)
    _post(erp, "/providers", {"name": "Cable Works", "code": "V-1"})
    face = {"item_code": "BRICK", "warehouse_code": "YARD", "bin_code": "F-01", "minimum": 1}
    _post(erp, "/pick-faces", face)
    gtins = [{"gtin": _CEMENT}, {"gtin": "14006381333938", "units": 12}]
    packaging = {"gtins": gtins, "units": [{"unit": "BOX", "qty": 12}]}
    assert erp.put("/products/2/packaging", packaging).status == 200
    _post(erp, "/webhooks", {"url": f"https://{HOOKS}/in", "events": ["stock.updated"]})
    yard.stock("BRICK", 100)
    yard.stock("CEMENT", 8, batch="L1")
    yard.stock("CEMENT", 2, batch="L2", inventory_status="quarantine")
    yard.stock("DRILL", 1, serial="S1")
    yard.stock("DRILL", 1, serial="S2", bin_code="B-01")
    _receive(erp)
    _pick(yard)
    scenario.underway(("BRICK", 4))  # transfer order 1, in transit
    scenario.receive(1, {"item_code": "BRICK", "qty": 1})
    scenario.draft(("BRICK", 2), external_ref="TO-A", metadata=_METADATA, carrier_code="DHL")
    waves.wave(waves.pickings(2, allocate=True), "plan", "release")
    waves.work(_picking_of_wave(erp, 1))
    move = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [move]}
    _post(erp, "/transfers", ends)
    _post(erp, "/transfers", {**ends, "execute": False})
    _return(erp, yard)
    _pack(PackingScenario(erp, yard))


def _people() -> None:
    """Create a role, and users until one has the id of the picker."""

    def create_role(tx: Any) -> Any:
        return roles.create_role(tx, RoleCreate(name="Pickers", permissions=["exits.manage"]))

    role = run_as_operator("acme", create_role).id
    for number in range(1, PICKER + 1):
        draft = UserCreate(username=f"person-{number}", name=f"Person {number}", roles=[role])
        run_as_operator("acme", partial(_create_user, draft))


def _create_user(draft: UserCreate, tx: Transaction) -> None:
    service.create_user(tx, draft)


def _receive(erp: Erp) -> None:
    """Entry 1 is received in part, with an open approval, and entry 2 is open."""
    for number in (1, 2):
        named = {"external_ref": str(number), "metadata": {"pos": "A"}}
        lines = [{"item_code": "BRICK", "qty": 10, **named}]
        body = {
            "external_ref": f"PO-{number}", "type": "purchase_order", "doc_date": "2026-03-01",
            "partner_code": "P-1", "warehouse_code": "YARD", "lines": lines, "metadata": _METADATA,
        }  # fmt: skip
        _post(erp, "/entry-documents", body, key=f"entry-{number}")
    receipt = _post(erp, "/receipts", {"document_id": 1})["id"]
    _post(erp, f"/receipts/{receipt}/start", status=200)
    line = {"item_code": "BRICK", "qty": 6, "bin_code": "B-01"}
    _post(erp, f"/receipts/{receipt}/lines", line, status=200)
    assert erp.post(f"/receipts/{receipt}/lines", {**line, "qty": 7}).code == "approval_required"


def _pick(yard: Any) -> None:
    """Picking 1 is finalized and dispatched, 2 is for two orders and started, 3 finalized."""
    shipping = {"carrier_code": "DHL", "service_code": "EXPRESS", "metadata": _METADATA}
    head = {"ship_to_address": {"city": "Bath"}, **shipping}
    one = yard.started(yard.order(("BRICK", 3), head=head, external_ref="10"))
    assert yard.pick(one, "BRICK", 3).status == 200
    [line] = yard.erp.get(f"/pickings/{one}").ok()["lines"]
    assert [fill["external_ref"] for fill in line["fills"]] == ["10"]
    assert yard.act(one, "finalize").status == 200
    assert yard.erp.post("/exit-documents/1/dispatch").status == 200
    two = yard.started(yard.order(("BRICK", 5), ("CEMENT", 1)), yard.order(("DRILL", 1)))
    assert yard.pick(two, "BRICK", 2).status == 200
    three = yard.started(yard.order(("BRICK", 2)))
    assert yard.pick(three, "BRICK", 1).status == 200
    assert yard.act(three, "finalize", shortage_reason="damaged").status == 200


def _return(erp: Erp, yard: WarehouseScenario) -> None:
    """Return 1 is of 3 bricks: one is restocked, one scrapped, and one in quarantine.

    They left with a dispatch that kept another one open.
    """
    line = {"item_code": "BRICK", "qty": 3}
    named = {"external_ref": "10", "metadata": {"pos": "A"}}
    assert yard.order(("BRICK", 4)) == RETURNED_EXIT
    number = yard.started(RETURNED_EXIT)
    assert yard.pick(number, "BRICK", 3).status == 200
    assert yard.act(number, "finalize", shortage_reason="damaged").status == 200
    _post(erp, f"/exit-documents/{RETURNED_EXIT}/dispatch", {"rest": "keep"}, status=200)
    body = {"exit_document_id": RETURNED_EXIT, "external_ref": "RMA-1", "metadata": _METADATA}
    _post(erp, "/returns", {**body, "lines": [line | named]})
    goods = {"lines": [{**line, "bin_code": "B-01"}]}
    _post(erp, "/returns/1/lines", goods, status=200)
    _post(erp, "/returns/1/finish", status=200)
    lines = [{**line, "qty": 1, "action": action} for action in ("restock", "scrap")]
    _post(erp, "/returns/1/dispositions", {"lines": lines}, status=200)


def _pack(packing: PackingScenario) -> None:
    """Packing order 1 has a carton with goods on a pallet, and had a unit that was deleted."""
    yard = packing.yard
    yard.change_settings(gs1_company_prefix="4006381")
    document = yard.order(("BRICK", 3), ("CEMENT", 1))
    number = yard.started(document)
    assert yard.pick(number, "BRICK", 3).status == 200
    assert yard.pick(number, "CEMENT", 1, batch="L1").status == 200
    assert yard.act(number, "finalize").status == 200
    order = packing.order(document)["id"]
    pallet = packing.unit(order, "pallet")
    carton, empty = packing.unit(order, parent_id=pallet), packing.unit(order)
    packing.done(packing.put(carton, "BRICK", 2))
    packing.done(packing.put(pallet, "CEMENT", 1))
    packing.done(packing.act(carton, "close", weight_kg=4))
    packing.done(packing.erp.delete(f"/handling-units/{empty}"))
    _validate(packing.erp, order)


def _validate(erp: Erp, order: int) -> None:
    """The packing order has passed validation 1 and failed validation 2."""
    assert erp.patch("/products/1", {"barcode": _BRICK}).status == 200
    tags = [tag_of(_BRICK, 1), tag_of(_BRICK, 2), tag_of(_CEMENT, 1)]
    for epcs, result in ((tags, "passed"), (tags[1:], "failed")):
        body = {"packing_order_id": order, "epcs": epcs}
        assert _post(erp, "/rfid-validations", body)["result"] == result


def _picking_of_wave(erp: Erp, number: int) -> int:
    picking: int = erp.get(f"/waves/{number}").data["orders"][0]["picking_id"]
    return picking
