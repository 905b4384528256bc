"""The cost of every operation on packing orders and handling units, of RFID, and of dispatch."""

from collections.abc import Iterator

from operations import provisioning
from shared.warehouse.rfid.models import MAX_TAGS
from tests.dynamodb.request_cost import Gauge, Measurement
from tests.epc_encoding import tag_of
from tests.tenant_cache import apply_now
from tests.warehouse_operations.stock import goods_at, lines_of
from tests.warehouse_operations.warehouse import BenchWarehouse, code

_QTY = 4


def packing(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of packing the goods of a sales order of `lines` lines."""
    warehouse, size = BenchWarehouse(meter, lines), lines_of(lines)
    apply_now(provisioning.set_settings, "acme", {"gs1_company_prefix": "4006381"})
    document = warehouse.sale(lines, _QTY)
    picking = meter.create("/pickings", {"document_id": document})
    meter.post(f"/pickings/{picking}/start")
    for line in range(1, lines + 1):
        meter.post(f"/pickings/{picking}/picks", goods_at(line, _QTY))
    meter.post(f"/pickings/{picking}/finalize")
    yield meter.measure(size, "/packing-orders", {"exit_document_id": document})
    order = meter.only_resource("/packing-orders")
    pallet = meter.create(f"{order}/handling-units", {"type": "pallet"})
    carton = {"type": "carton", "parent_id": pallet}
    yield meter.measure(size, f"{order}/handling-units", carton)
    path = f"/handling-units/{pallet + 1}"
    goods = {"item_code": code(1), "qty": 1}
    yield meter.measure(f"first goods, 1 of {size}", f"{path}/contents", goods)
    yield meter.measure(f"more goods, 1 of {size}", f"{path}/contents", goods)
    yield meter.measure(f"1 of {size}", f"{path}/contents/remove", goods)
    closed = {"weight_kg": 12.5, "tracking_number": "1Z999AA10123456784"}
    yield meter.measure(size, f"{path}/close", closed)
    yield meter.measure(size, f"{path}/reopen")
    meter.post(f"{path}/close")
    if lines == 1:
        yield from _validations(meter, order)
    yield meter.measure(size, f"{order}/complete", {"short": True, "reason": "Too long"})
    with meter.rolled_back():
        yield meter.measure(f"2 units, {size}", f"{order}/cancel")
    yield meter.measure(f"{size} in 2 units", f"/exit-documents/{document}/dispatch")


def _validations(meter: Gauge, order: str) -> Iterator[Measurement]:
    """Measure validations of a packing order with one packed unit."""
    gtin = "4006381333931"
    meter.erp.put("/products/1/packaging", {"gtins": [{"gtin": gtin}]}).ok()
    number = int(order.rpartition("/")[2])
    for tags, size in ((1, "1 tag, passed"), (MAX_TAGS, f"{MAX_TAGS:,} tags, failed")):
        epcs = [tag_of(gtin, serial) for serial in range(tags)]
        body = {"packing_order_id": number, "epcs": epcs}
        yield meter.measure(size, "/rfid-validations", body)
