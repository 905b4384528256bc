"""What a whole order costs, and to keep texts and references of the caller's own system at one."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from operations import scenarios
from tests.dynamodb.request_cost import Gauge, Measurement, Reading
from tests.warehouse_operations.stock import goods_at
from tests.warehouse_operations.warehouse import HOME, BenchWarehouse, code

MORE = "write units more"
"""Column of the write units that a request costs more than one without what it sends."""

_QTY = 2
_UNIT = "BOX"
_ADDRESS = {
    "name": "Ana Ruiz",
    "company": "Acme Iberia",
    "line1": "Calle Mayor 1",
    "city": "Madrid",
    "zip_code": "28013",
    "country": "ES",
    "phone": "+34 911 234 567",
    "email": "ana@acme.example",
}
_OF_ORDER = {
    "metadata": {"erp_id": "4711", "cost_center": "CC-20"},
    "ship_to_address": _ADDRESS,
    "carrier_code": "SEUR",
    "service_code": "24H",
}

type Compared = tuple[Measurement, float]
"""A measurement, and the write units that it has more than the same without references."""


def orders_compared(meter: Gauge) -> Iterator[Compared]:
    """Measure an order with metadata, units, references and address, and work on references."""
    yield _difference(meter, "POST /exit-documents", _created)
    yield _difference(meter, "a picking with fills", _picked)


def whole_order(meter: Gauge) -> Iterator[Measurement]:
    """Measure an order from its creation to its dispatch, as half of those of a day.

    Another order has been shipped before, so that its goods have rows at the staging position.
    """
    lines, cost = 8, Reading()
    BenchWarehouse(meter, lines)
    goods = [{"item_code": code(line), "qty": _QTY} for line in range(1, lines + 1)]
    before = _order(goods) | {"external_ref": "4500012344"}
    scenarios.ship(meter.post, meter.create("/exit-documents", before))
    meter.read("/exit-documents", _order(goods), into=cost)
    meter.read("/pickings", {"document_id": 2}, into=cost)
    meter.read("/pickings/2/start", into=cost)
    for line in range(1, lines + 1):
        meter.read("/pickings/2/picks", goods_at(line, _QTY), into=cost)
    meter.read("/pickings/2/finalize", into=cost)
    meter.read("/exit-documents/2/dispatch", into=cost)
    yield "a whole order", f"{lines} lines picked one by one", cost


def _difference(
    meter: Gauge, operation: str, measured: Callable[..., tuple[str, Reading]]
) -> Compared:
    (_, without), (size, cost) = (measured(meter, full=full) for full in (False, True))
    return (operation, size, cost), cost.units.writes - without.units.writes


def _created(meter: Gauge, *, full: bool) -> tuple[str, Reading]:
    lines = 10
    BenchWarehouse(meter, lines)
    for line in range(1, lines + 1):
        body = {"units": [{"unit": _UNIT, "qty": _QTY}]}
        assert meter.erp.put(f"/products/{line}/packaging", body).status == 200
    order = _order([_line(line, full=full) for line in range(1, lines + 1)])
    if full:
        order |= _OF_ORDER
    size = f"{lines} lines with metadata, units, references and address"
    return size, meter.read("/exit-documents", order)


def _picked(meter: Gauge, *, full: bool) -> tuple[str, Reading]:
    """Start a picking, pick each line and finalize it."""
    lines, cost = 8, Reading()
    BenchWarehouse(meter, lines)
    wanted = [
        {"item_code": code(line), "qty": _QTY} | (_reference(line) if full else {})
        for line in range(1, lines + 1)
    ]
    order = meter.create("/exit-documents", _order(wanted))
    meter.post("/pickings", {"document_id": order})
    path = meter.only_resource("/pickings")
    meter.read(f"{path}/start", into=cost)
    for line in range(1, lines + 1):
        meter.read(f"{path}/picks", goods_at(line, _QTY), into=cost)
    meter.read(f"{path}/finalize", into=cost)
    return f"{lines} lines with references", cost


def _order(lines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    return {
        "external_ref": "4500012345",
        "type": "sale_order",
        "warehouse_code": HOME,
        "partner_code": "C-1",
        "doc_date": "2026-01-05",
        "lines": lines,
    }


def _line(number: int, *, full: bool) -> dict[str, object]:
    line: dict[str, object] = {"item_code": code(number), "qty": _QTY}
    if full:
        more = {"unit": _UNIT, "metadata": {"cost_center": f"CC-{number}"}}
        line |= {**_reference(number), **more}
    return line


def _reference(number: int) -> dict[str, object]:
    return {"external_ref": f"4500012345-{number * 10:05d}"}
