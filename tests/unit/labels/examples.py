"""Examples of labels and packing slips, and the files that they are compared with.

`python -m tests.unit.labels.examples` writes the files and the pictures of docs/guides/labels.md,
after an intended change of the layout, or of a font or a library.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

from shared.warehouse.labels.code_label import SIZES, CodeLabel
from shared.warehouse.labels.label_pdf import code_labels_pdf, label_pdf
from shared.warehouse.labels.label_zpl import code_labels_zpl, label_zpl
from shared.warehouse.labels.models import (
    CodeLabelContent,
    LabelContent,
    ShippedGoods,
    SlipContent,
    SlipUnit,
)
from shared.warehouse.labels.slip_pdf import slip_pdf
from tests.unit.labels.pictures import png_of, rendered

ROOT = Path(__file__).parents[3]
EXPECTED = Path(__file__).parent / "expected"
PICTURES = ROOT / "docs" / "guides" / "labels"
PICTURE_DPI = 100

SSCC, SECOND = "376104250021234569", "376104250021234576"
ARABIC_NAME = "شركة الخليج 24 للكهرباء (دبي)"
CHINESE_ADDRESS = "上海市浦东新区世纪大道100号"

GOODS = (
    ShippedGoods(
        "CHM-SIL-WHT", "Silicone sealant neutral cure white 310 ml", Decimal(24), "L-2026-03"
    ),
    ShippedGoods("CAB-TE-1R0-50", "Twin and earth cable 6242Y 1.0 mm² grey, 50 m drum", Decimal(2)),
    ShippedGoods(
        "TLS-DRL-18V", "Cordless drill 18 V", Decimal(2), serials=("DR-20418", "DR-20419")
    ),
)
MIXED = (
    ShippedGoods("CAB-AR", "كابل كهربائي ٢٫٥ مم² أسود 100 م", Decimal(2)),
    ShippedGoods("CHM-ZH", "硅酮密封胶 白色 310 ml 中性固化", Decimal("1.5"), "批次-7"),
)

LABEL = LabelContent(
    sscc=SSCC,
    code="HU-12",
    recipient="Brindley Electrical Contractors Ltd",
    ship_to="7 Quay Street\nBristol\nBS1 4XX\nUnited Kingdom",
    document="EX-3 / SO-9",
    day=date(2026, 3, 2),
    goods=GOODS,
    sender="Midland Wholesale, Birmingham",
    weight_kg=Decimal("12.4"),
    carrier="DHL",
    tracking_number="1Z999AA10123456784",
)
WORLD = LabelContent(
    sscc=SECOND,
    code="HU-13",
    recipient=ARABIC_NAME,
    ship_to=f"{CHINESE_ADDRESS}\nΑθήνα 10431, Ελλάδα\nМосква",
    document="EX-4",
    day=date(2026, 3, 2),
    goods=(*MIXED, *GOODS * 2),
    sender="Ünïted ^Wholesale~ _Ñandú",
)
SLIP = SlipContent(
    code="PK-7",
    document="EX-3",
    external_ref="SO-9",
    recipient=LABEL.recipient,
    ship_to=LABEL.ship_to,
    day=LABEL.day,
    sender=LABEL.sender,
    units=(
        SlipUnit("HU-12", "carton", GOODS, SSCC, Decimal("12.4"), LABEL.tracking_number),
        SlipUnit("HU-13", "pallet", (*MIXED, GOODS[0]), SECOND, Decimal(180)),
        SlipUnit("HU-14", "tote", GOODS[1:2]),
    ),
)
POSITION = CodeLabelContent("A-01-1-03", ("CEN", "Cable drums, floor"))
PRODUCT = CodeLabelContent(GOODS[0].item_code, (GOODS[0].name,), gtin="05012345678900")


def files() -> Mapping[str, bytes]:
    """Return the contents of the files of `expected` by name."""
    return {
        "label.pdf": label_pdf(LABEL),
        "label.zpl": label_zpl(LABEL).encode(),
        "world.pdf": label_pdf(WORLD),
        "world.zpl": label_zpl(WORLD).encode(),
        "slip.pdf": slip_pdf(SLIP),
        "position.pdf": code_labels_pdf([CodeLabel(POSITION, SIZES["medium"])]),
        "product.pdf": code_labels_pdf([CodeLabel(PRODUCT, SIZES["medium"])]),
        "product.zpl": code_labels_zpl([CodeLabel(PRODUCT, SIZES["small"])]).encode(),
    }


def pictures() -> Mapping[str, bytes]:
    """Return the PDF files that the page of labels shows as pictures, by name of the picture."""
    made = files()
    return {"label.png": made["label.pdf"], "world.png": made["world.pdf"],
            "slip.png": made["slip.pdf"], "position.png": made["position.pdf"],
            "product.png": made["product.pdf"]}  # fmt: skip


def main() -> None:
    """Write all files."""
    for name, content in files().items():
        (EXPECTED / name).write_bytes(content)
    for name, content in pictures().items():
        (PICTURES / name).write_bytes(png_of(rendered(content, PICTURE_DPI)))


if __name__ == "__main__":
    main()
