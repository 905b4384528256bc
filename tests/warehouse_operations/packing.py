"""The cost of every operation on packing orders and handling units, of RFID, and of dispatch."""

from collections.abc import Iterator

from operations import provisioning
from shared.identity.tenancy.directory import directory
from shared.warehouse.rfid.models import MAX_TAGS
from tests.dynamodb.request_cost import Gauge
from tests.epc_encoding import tag_of
from tests.warehouse_operations.stock import Measurement, lines_of, taken
from tests.warehouse_operations.warehouse import BenchWarehouse, code

_QTY = 4


def packing(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of packing the goods of a sales order of `lines` lines."""
    warehouse, size = BenchWarehouse(meter, lines), lines_of(lines)
    provisioning.set_settings("acme", {"gs1_company_prefix": "4006381"})
    directory.clear()
    document = warehouse.sale(lines, _QTY)
    picking = meter.create("/pickings", {"document_id": document})
    meter.post(f"/pickings/{picking}/start")
    for line in range(1, lines + 1):
        meter.post(f"/pickings/{picking}/picks", taken(line, _QTY))
    meter.post(f"/pickings/{picking}/finalize")
    orders, units, name = "/packing-orders", "/handling-units", "POST /handling-units/{id}"
    read = meter.read(orders, {"exit_document_id": document})
    yield f"POST {orders}", size, read
    order = meter.only_resource(orders)
    pallet = meter.create(f"{order}/handling-units", {"type": "pallet"})
    carton = {"type": "carton", "parent_id": pallet}
    read = meter.read(f"{order}/handling-units", carton)
    yield f"POST {orders}/{{id}}/handling-units", size, read
    path = f"{units}/{pallet + 1}"
    goods = {"item_code": code(1), "qty": 1}
    read = meter.read(f"{path}/contents", goods)
    yield f"{name}/contents", f"first goods, 1 of {size}", read
    read = meter.read(f"{path}/contents", goods)
    yield f"{name}/contents", f"more goods, 1 of {size}", read
    yield f"{name}/contents/remove", f"1 of {size}", meter.read(f"{path}/contents/remove", goods)
    closed = {"weight_kg": 12.5, "tracking_number": "1Z999AA10123456784"}
    yield f"{name}/close", size, meter.read(f"{path}/close", closed)
    yield f"{name}/reopen", size, meter.read(f"{path}/reopen")
    meter.post(f"{path}/close")
    if lines == 1:
        yield from _validations(meter, order)
    short = {"short": True, "reason": "Too long"}
    yield f"POST {orders}/{{id}}/complete", size, meter.read(f"{order}/complete", short)
    with meter.rolled_back():
        yield f"POST {orders}/{{id}}/cancel", f"2 units, {size}", meter.read(f"{order}/cancel")
    leave = f"/exit-documents/{document}/dispatch"
    yield "POST /exit-documents/{id}/dispatch", f"{size} in 2 units", meter.read(leave)


def _validations(meter: Gauge, order: str) -> Iterator[Measurement]:
    """Measure validations of a packing order with one packed unit."""
    gtin, path = "4006381333931", "POST /rfid-validations"
    meter.erp.put("/products/1/packaging", {"gtins": [{"gtin": gtin}]}).ok()
    number = int(order.rpartition("/")[2])
    for tags, size in ((1, "1 tag, passed"), (MAX_TAGS, f"{MAX_TAGS:,} tags, failed")):
        epcs = [tag_of(gtin, serial) for serial in range(tags)]
        body = {"packing_order_id": number, "epcs": epcs}
        yield path, size, meter.read("/rfid-validations", body)
