"""The goods of a work, as devices keep them that scan without a network."""

from shared.kernel.fields import Stored
from shared.warehouse.catalog.models import PackagedGtin

MAX_GOODS = 1000
"""Most products of a work that are shown; the device looks up others when they are scanned."""

GOODS_TEXT = (
    "What names the goods on labels, for devices that scan without a network: the products of its"
    f" lines with their barcodes and GTINs, at most {MAX_GOODS}, and the places of its positions in"
    " the order of picking."
)
"""The description of the routes."""


class WorkProduct(Stored):
    """A product, and what stands for it on labels: its code, barcode and GTINs."""

    id: int
    item_code: str
    name: str
    barcode: str | None
    man_btch_num: bool
    man_ser_num: bool
    gtins: list[PackagedGtin]


class WorkPosition(Stored):
    """A position, and its place in the order of picking."""

    bin_code: str
    pick_sequence: int | None


class WorkGoods(Stored):
    """The products and positions of a receipt, picking, count or other work."""

    whs_code: str | None
    products: list[WorkProduct]
    positions: list[WorkPosition]
