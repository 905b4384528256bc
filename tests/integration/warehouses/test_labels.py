"""Labels of positions and of products over HTTP."""

import pypdfium2
import pytest

from tests.cases import each_case
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.warehouses.conftest import Make
from tests.unit.labels.pictures import rendered, scanned

GTIN = "05012345678900"


def _text(answer: Response) -> str:
    with pypdfium2.PdfDocument(answer.content) as document:
        text: str = document[0].get_textpage().get_text_range()
        return text


def _product(erp: Erp, **more: object) -> int:
    made = erp.post("/products", {"item_code": "BRICK", "name": "Red brick", **more}).ok(201)
    return int(made["id"])


def test_label_of_a_position_takes_one_round_trip(
    central: Erp, create_position: Make, aws_faults: AwsFaults
) -> None:
    number = create_position("A-01", description="Cold store")["id"]
    with aws_faults.recorded() as seen:
        answer = central.get(f"/warehouse-positions/{number}/label")

    assert answer.status == 200, answer.text
    assert seen.operations == ["GetItem"]
    assert answer.headers["Content-Disposition"] == f'attachment; filename="position-{number}.pdf"'
    assert scanned(rendered(answer.content, 203)) == [("]C0", "A-01")]
    for shown in ("A-01", "CEN", "Cold store"):
        assert shown in _text(answer)
    zpl = central.get(
        f"/warehouse-positions/{number}/label", query={"format": "zpl", "size": "small"}
    )
    assert zpl.headers["Content-Disposition"] == f'attachment; filename="position-{number}.zpl"'
    assert b"^PW480^LL240" in zpl.content
    wrong = central.get(f"/warehouse-positions/{number}/label", query={"size": "huge"})
    assert (wrong.status, wrong.code) == (422, "validation_failed")


@each_case(
    ("barcode", "packaging", "scans"),
    [
        (None, [], ("]C0", "BRICK")),
        ("no number", [], ("]C0", "BRICK")),
        ("5012345678900", [], ("]C1", f"(01){GTIN}")),
        ("4006381333931", [{"gtin": GTIN}], ("]C1", f"(01){GTIN}")),
        (None, [{"gtin": GTIN, "units": 12}], ("]C0", "BRICK")),
        (None, [{"gtin": GTIN, "unit": "BOX"}], ("]C0", "BRICK")),
    ],
)
def test_label_of_a_product_has_the_gtin_of_one_unit(
    erp: Erp, barcode: str | None, packaging: list[object], scans: tuple[str, str]
) -> None:
    number = _product(erp, barcode=barcode)
    change = {"gtins": packaging, "units": [{"unit": "BOX", "qty": 1}]}
    assert erp.put(f"/products/{number}/packaging", change).status == 200

    answer = erp.get(f"/products/{number}/label")
    assert scanned(rendered(answer.content, 203)) == [scans]
    assert "Red brick" in _text(answer)
    erp.delete(f"/products/{number}")


@pytest.mark.parametrize("path", ["/warehouse-positions", "/products"])
def test_there_is_no_label_of_what_is_gone(central: Erp, create_position: Make, path: str) -> None:
    made = {"/warehouse-positions": lambda: create_position("A-01")["id"]}
    number = made.get(path, lambda: _product(central))()
    assert central.delete(f"{path}/{number}").status in {200, 204}
    assert central.get(f"{path}/{number}/label").status == 410
    assert central.get(f"{path}/999/label").status == 404


def test_labels_of_several_come_in_one_file_in_the_order_of_the_ids(
    central: Erp, create_position: Make, aws_faults: AwsFaults
) -> None:
    numbers = [create_position(f"A-0{at}")["id"] for at in (1, 2, 3)]
    wanted = {"ids": ",".join(map(str, reversed(numbers)))}
    with aws_faults.recorded() as seen:
        answer = central.get("/warehouse-positions/labels", query=wanted)

    assert answer.status == 200, answer.text
    assert seen.operations == ["BatchGetItem"]
    assert answer.headers["Content-Disposition"] == 'attachment; filename="positions.pdf"'
    assert [scanned(rendered(answer.content, 203, page)) for page in range(3)] == [
        [("]C0", code)] for code in ("A-03", "A-02", "A-01")
    ]
    zpl = central.get("/warehouse-positions/labels", query=wanted | {"format": "zpl"})
    assert (zpl.content.count(b"^XA"), zpl.headers["Content-Type"]) == (3, "application/zpl")


@each_case(("path", "noun"), [("/warehouse-positions", "position"), ("/products", "product")])
def test_labels_of_several_name_all_that_do_not_exist(
    central: Erp, create_position: Make, path: str, noun: str
) -> None:
    number = create_position("A-01")["id"] if noun == "position" else _product(central)
    assert central.get(f"{path}/labels", query={"ids": str(number)}).status == 200

    answer = central.get(f"{path}/labels", query={"ids": f"998,{number},999"})
    assert answer.problems == {"ids": f"has ids of no {noun}: 998, 999"}
    assert central.get(f"{path}/labels").problems == {"ids": "is required"}
