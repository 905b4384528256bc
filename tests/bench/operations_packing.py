"""The cost of every operation on packing orders and handling units, and of their dispatch."""

from collections.abc import Iterator

from operations import provisioning
from shared.identity.tenancy.directory import directory
from tests.bench.operations_stock import Measurement, lines_of, taken
from tests.bench.request_cost import Gauge
from tests.bench.warehouse import BenchWarehouse, code

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
    short = {"short": True, "reason": "Too long"}
    yield f"POST {orders}/{{id}}/complete", size, meter.read(f"{order}/complete", short)
    with meter.rolled_back():
        yield f"POST {orders}/{{id}}/cancel", f"2 units, {size}", meter.read(f"{order}/cancel")
    leave = f"/exit-documents/{document}/dispatch"
    yield "POST /exit-documents/{id}/dispatch", f"{size} in 2 units", meter.read(leave)
