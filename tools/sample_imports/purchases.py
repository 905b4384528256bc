"""Purchase orders as a Spanish office writes them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from tools.sample_imports.master_data import Partner, storage_positions
from tools.sample_imports.orders import HALF, quantity, working_day
from tools.sample_imports.sheets import RowValues

FIELDS = (
    "external_ref", "type", "doc_date", "due_date", "partner_code", "partner_name",
    "warehouse_code", "comments", "metadata.comprador", "item_code", "qty", "line_external_ref",
    "batch", "expiry_date", "serials", "destination_bin", "lines.metadata.centro_coste",
)  # fmt: skip
ORDERS = 60

_FIRST_NUMBER = 4301
_FIRST_DAY = date(2026, 11, 2)
_ORDERS_PER_DAY = 4
_TYPES = {"Orden de compra": 40, "Entrada de mercancía": 12, "Entrega": 8}
_PROVIDERS = (
    Partner("P30001", "Suministros Eléctricos Peña, S.L."),
    Partner("P30002", "Cables y Conducciones Ibáñez, S.A."),
    Partner("P30003", "Iluminación Muñoz e Hijos"),
    Partner("P30004", "Tornillería Güell, S.L."),
    Partner("P30005", "Herramientas Logroño, S.A.U."),
    Partner("P30006", "Químicas del Cantábrico «Señal»"),
)
_COMMENTS = (
    None, None, None, "Portes pagados a partir de 250 €", "Avisar a Begoña la víspera; muelle 2",
    "Precio según tarifa de año 2026", "Entregar por la mañana", 'Etiqueta "frágil" en cada caja',
)  # fmt: skip
_BUYERS = ("Begoña", "Íñigo", "Nuria")
_LINE_COUNTS = (1, 2, 3, 3, 4, 5, 6, 8)
_LARGE_QUANTITIES = (500, 1200, 2500)
_DESTINATION_ONE_OF = 4
"""One of so many lines has a destination position."""


def purchases(products: Sequence[RowValues]) -> list[RowValues]:
    """Return purchase orders as rows of an import file."""
    random = Random(4711)  # noqa: S311  the same orders every time
    stocked = [product for product in products if product["inventory_item"] == "yes"]
    positions = storage_positions()
    return [row for index in range(ORDERS) for row in _purchase(index, stocked, positions, random)]


def _purchase(
    index: int, stocked: Sequence[RowValues], positions: Mapping[str, Sequence[str]], random: Random
) -> Iterator[RowValues]:
    partner = random.choice(_PROVIDERS)
    day = working_day(_FIRST_DAY, index // _ORDERS_PER_DAY)
    warehouse = random.choice(("CEN", "CEN", "DUB"))
    head: RowValues = {
        "external_ref": f"PC-{day.year}-{_FIRST_NUMBER + index:05}",
        "type": random.choices(list(_TYPES), list(_TYPES.values()))[0],
        "doc_date": day,
        "due_date": day + timedelta(days=random.randint(5, 30)),
        "partner_code": partner.code,
        "partner_name": partner.name,
        "warehouse_code": warehouse,
        "comments": random.choice(_COMMENTS),
    }
    buyer = {"metadata.comprador": _BUYERS[index % len(_BUYERS)]}
    for at, product in enumerate(random.sample(stocked, random.choice(_LINE_COUNTS)), 1):
        line = _line(product, _FIRST_NUMBER + index, day, random)
        if not random.randrange(_DESTINATION_ONE_OF):
            line["destination_bin"] = random.choice(positions[warehouse])
        line |= {"line_external_ref": str(at), "lines.metadata.centro_coste": f"{4100 + at % 3}"}
        yield head | ({} if at > 1 else buyer) | line


def _line(product: RowValues, order: int, day: date, random: Random) -> RowValues:
    qty = quantity(product, random)
    line: RowValues = {"item_code": product["item_code"], "qty": qty}
    if product["sales_unit"] == "m":
        line["qty"] = random.choice(_LARGE_QUANTITIES) + qty * HALF
    if product["man_btch_num"] == "yes":
        line["batch"] = f"L26{random.randint(100, 999)}"
        line["expiry_date"] = day + timedelta(days=random.randint(200, 900))
    if product["man_ser_num"] == "yes":
        line["serials"] = ", ".join(f"NS{order}{index:03}" for index in range(int(qty)))
    return line
