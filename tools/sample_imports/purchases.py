"""Purchase orders as the office in Spain writes them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from tools.sample_imports.master_data import Partner, shelves
from tools.sample_imports.orders import HALF, quantity, working_day
from tools.sample_imports.sheets import Record

FIELDS = (
    "external_ref", "type", "doc_date", "due_date", "partner_code", "partner_name",
    "warehouse_code", "comments", "item_code", "qty", "batch", "expiry_date", "serials",
    "destination_bin",
)  # fmt: skip
ORDERS = 60

_FIRST_NUMBER = 4301
_FIRST_DAY = date(2026, 11, 2)
_PER_DAY = 4
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
_LINES = (1, 2, 3, 3, 4, 5, 6, 8)
_A_LOT = (500, 1200, 2500)
_ONE_IN = 4


def purchases(products: Sequence[Record]) -> list[Record]:
    """Return purchase orders, as rows of an import."""
    chance = Random(4711)  # noqa: S311  the same orders each time
    stocked = [product for product in products if product["inventory_item"] == "yes"]
    places = shelves()
    return [row for at in range(ORDERS) for row in _purchase(at, stocked, places, chance)]


def _purchase(
    at: int, stocked: Sequence[Record], places: Mapping[str, Sequence[str]], chance: Random
) -> Iterator[Record]:
    partner = chance.choice(_PROVIDERS)
    day = working_day(_FIRST_DAY, at // _PER_DAY)
    warehouse = chance.choice(("CEN", "CEN", "DUB"))
    head: Record = {
        "external_ref": f"PC-{day.year}-{_FIRST_NUMBER + at:05}",
        "type": chance.choices(list(_TYPES), list(_TYPES.values()))[0],
        "doc_date": day,
        "due_date": day + timedelta(days=chance.randint(5, 30)),
        "partner_code": partner.code,
        "partner_name": partner.name,
        "warehouse_code": warehouse,
        "comments": chance.choice(_COMMENTS),
    }
    for product in chance.sample(stocked, chance.choice(_LINES)):
        line = _line(product, _FIRST_NUMBER + at, day, chance)
        if not chance.randrange(_ONE_IN):
            line["destination_bin"] = chance.choice(places[warehouse])
        yield head | line


def _line(product: Record, order: int, day: date, chance: Random) -> Record:
    qty = quantity(product, chance)
    line: Record = {"item_code": product["item_code"], "qty": qty}
    if product["sales_unit"] == "m":
        line["qty"] = chance.choice(_A_LOT) + qty * HALF
    if product["man_btch_num"] == "yes":
        line["batch"] = f"L26{chance.randint(100, 999)}"
        line["expiry_date"] = day + timedelta(days=chance.randint(200, 900))
    if product["man_ser_num"] == "yes":
        line["serials"] = ", ".join(f"NS{order}{at:03}" for at in range(int(qty)))
    return line
