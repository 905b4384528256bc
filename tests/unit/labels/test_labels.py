"""Labels and packing slips: they scan, are the same each time, and keep their layout."""

import re
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import count

import biip
import pypdfium2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.warehouse.gs1.numbers import check_digit
from shared.warehouse.labels import label
from shared.warehouse.labels.label_pdf import label_pdf
from shared.warehouse.labels.label_zpl import label_zpl
from shared.warehouse.labels.models import LabelContent, ShippedGoods, SlipUnit
from shared.warehouse.labels.slip_pdf import slip_pdf
from shared.warehouse.packing.models import MAX_SERIALS
from tests.cases import each_case
from tests.unit.labels import examples
from tests.unit.labels.examples import EXPECTED, GOODS, LABEL, PICTURE_DPI, PICTURES, SLIP, WORLD
from tests.unit.labels.pictures import drawn_barcode, picture_of, png_of, rendered, scanned

MAX_CODE = 50
"""Characters of the longest code, batch or serial."""
GS1_128 = "]C1"
"""Symbology identifier of a Code 128 that starts with FNC1."""
MM = 72 / 25.4
LONG = "Hochspannungskabelverbindungsmuffe " * 6

SSCCS = st.from_regex(r"[0-9]{17}", fullmatch=True).map(lambda text: text + check_digit(text))
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200),
    st.text("ابجدهوز 0123 ١٢٣ (),.-% שלום ABC 上海", max_size=120),
)


def _expanded(pdf: bytes) -> list[bytes]:
    """Return a PDF document in parts, its streams inflated: how they are packed depends on zlib."""
    parts, place = list[bytes](), 0
    for head in re.finditer(rb"/Length (\d+)[^>]*>>\nstream\n", pdf):
        if head.start() < place:
            continue  # within a stream
        parts.append(re.sub(rb"/Length \d+", b"", pdf[place : head.end()]))
        place = head.end() + int(head[1])
        parts.append(zlib.decompress(pdf[head.end() : place]))
    return [*parts, pdf[place : pdf.index(b"\nxref", place)]]


@pytest.mark.parametrize("name", sorted(examples.files()))
def test_rendering_is_that_of_the_file(name: str) -> None:
    made, kept = examples.files()[name], (EXPECTED / name).read_bytes()
    if name.endswith(".pdf"):
        assert _expanded(made) == _expanded(kept)
    else:
        assert made == kept


@pytest.mark.parametrize("name", sorted(examples.pictures()))
def test_pictures_of_the_page_are_current(name: str) -> None:
    made, kept = (
        rendered(examples.pictures()[name], PICTURE_DPI),
        picture_of((PICTURES / name).read_bytes()),
    )
    assert (made.width, made.height) == (kept.width, kept.height)
    assert picture_of(png_of(made)) == made
    # PDFium blends the edges of letters differently on another processor.
    different = sum(abs(a - b) > 64 for a, b in zip(made.pixels, kept.pixels, strict=True))
    assert different < len(made.pixels) / 10_000


@pytest.mark.parametrize("content", [LABEL, WORLD], ids=["label", "world"])
def test_labels_scan_as_sscc(content: LabelContent) -> None:
    wanted = [(GS1_128, f"(00){content.sscc}")]
    assert scanned(rendered(label_pdf(content), 203)) == wanted
    assert scanned(drawn_barcode(label_zpl(content))) == wanted
    parsed = biip.parse(f"{GS1_128}00{content.sscc}")
    assert parsed.sscc is not None
    assert parsed.sscc.value == content.sscc


@settings(max_examples=15)
@given(SSCCS)
def test_every_sscc_scans(sscc: str) -> None:
    content = replace(LABEL, sscc=sscc, goods=())
    assert scanned(rendered(label_pdf(content), 203)) == [(GS1_128, f"(00){sscc}")]
    assert scanned(drawn_barcode(label_zpl(content))) == [(GS1_128, f"(00){sscc}")]


@pytest.mark.parametrize("sscc", ["", "37610425002123456", "376104250021234568", "3" * 17 + "x"])
def test_no_label_is_rendered_for_a_wrong_sscc(sscc: str) -> None:
    for render in (label_pdf, label_zpl):
        with pytest.raises(ValueError, match="must be"):
            render(replace(LABEL, sscc=sscc))


def test_barcode_has_the_size_that_gs1_asks_for() -> None:
    [found] = re.findall(r"\^FO(\d+),(\d+)\^BY(\d+)\^BCN,(\d+)", label_zpl(LABEL))
    x, y, module, height = map(int, found)
    width = 156 * module
    assert module == label.MODULE * 8
    assert 0.495 <= label.MODULE <= 1.016
    assert height / 8 >= 31.75
    assert x >= 10 * module
    assert x + width <= 800 - 10 * module
    assert y + height < 1200


# Layout


def _boxes(pdf: bytes) -> list[list[tuple[float, float, float, float]]]:
    """Return the boxes of everything on each page: left, bottom, right, top in millimetres."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [
            [tuple(edge / MM for edge in one.get_bounds()) for one in page.get_objects()]
            for page in document
        ]


def assert_inside(pdf: bytes, width: float, height: float, margin: float) -> None:
    """Assert that everything on each page is within a margin, in millimetres."""
    for boxes in _boxes(pdf):
        for left, bottom, right, top in boxes:
            assert margin - 1 <= left, "a letter may reach a little beyond its place"
            assert right <= width - margin + 1
            assert 2 <= bottom <= top <= height - 2


def _worst(text: str, goods: Sequence[ShippedGoods]) -> LabelContent:
    return replace(
        LABEL, code=text, recipient=text, ship_to=f"{text}\n" * 9, document=text, sender=text,
        carrier=text, tracking_number=text, goods=goods,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", [LONG, LONG.replace(" ", ""), examples.ARABIC_NAME * 9, examples.CHINESE_ADDRESS * 9]
)
def test_long_texts_stay_on_the_label(text: str) -> None:
    goods = [replace(one, name=text, batch=text) for one in GOODS] * 4
    content = _worst(text, goods)

    assert_inside(label_pdf(content), label.WIDTH, label.HEIGHT, label.MARGIN)
    assert scanned(rendered(label_pdf(content), 203)) == [(GS1_128, f"(00){LABEL.sscc}")]


@settings(max_examples=30)
@given(TEXTS)
@example("\N{ZERO WIDTH SPACE}")
def test_any_text_is_rendered(text: str) -> None:
    content = _worst(text, [replace(GOODS[0], name=text)])
    zpl = label_zpl(content)

    assert_inside(label_pdf(content), label.WIDTH, label.HEIGHT, label.MARGIN)
    assert [zpl.count(one) for one in ("^XA", "^XZ", "^BC")] == [1, 1, 1]
    assert zpl.count("^FD") + zpl.count("^GF") + zpl.count("^GB") == zpl.count("^FS")
    for total, size, row, data in re.findall(r"\^GFA,(\d+),(\d+),(\d+),([0-9A-F]*)\^FS", zpl):
        assert int(total) == int(size) == len(data) // 2
        assert int(total) % int(row) == 0


def test_a_slip_of_many_lines_has_all_of_them_in_order() -> None:
    lines = [
        ShippedGoods(
            f"ITEM-{n:03d}",
            LONG[: 20 + n * 3],
            Decimal(n),
            "B-1",
            [f"S{n:03d}-{m:02d}" for m in range(n % 3 * 9)],
        )
        for n in range(1, 121)
    ]
    units = [SlipUnit(f"HU-{n}", "carton", lines[n * 40 : n * 40 + 40]) for n in range(3)]
    pdf = slip_pdf(replace(SLIP, units=units))

    assert_inside(pdf, 210, 297, 10)
    with pypdfium2.PdfDocument(pdf) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    assert [f"page {n} of {len(pages)}" in page for n, page in enumerate(pages, 1)] == [True] * len(
        pages
    )
    assert all("Quantity" in page for page in pages), "each page has the head of the table"
    assert re.findall(r"ITEM-\d+", "".join(pages)) == [one.item_code for one in lines]
    serials = [serial for one in lines for serial in one.serials]
    assert re.findall(r"S\d{3}-\d\d", "".join(pages)) == serials


def test_a_slip_has_whole_codes_all_serials_of_a_full_unit_and_the_whole_address() -> None:
    code, serials = "上" * MAX_CODE, [f"{n:0>{MAX_CODE}}" for n in range(MAX_SERIALS)]
    address = [f"Line-{n}" for n in range(9)]
    goods = ShippedGoods(code, "Drill", Decimal(MAX_SERIALS), code, serials)
    content = replace(SLIP, units=[SlipUnit("HU-1", "carton", [goods])], ship_to="\n".join(address))

    with pypdfium2.PdfDocument(slip_pdf(content)) as document:
        text = "".join(page.get_textpage().get_text_range() for page in document)

    assert re.findall(rf"\d{{{MAX_CODE}}}", text) == serials
    assert re.findall(r"Line-\d", text) == address
    assert text.count("上") == 2 * MAX_CODE


@each_case("products", [2, 7, 9])
def test_a_unit_with_a_long_head_begins_on_the_page_of_its_first_product(products: int) -> None:
    units = [
        SlipUnit(
            f"HU-{n:02d}",
            "carton",
            [ShippedGoods(f"ITEM-{n:02d}", "Item", Decimal(1)) for _ in range(products)],
            tracking_number="T" * 100,
        )
        for n in range(20)
    ]

    with pypdfium2.PdfDocument(slip_pdf(replace(SLIP, units=units))) as document:
        pages = [page.get_textpage().get_text_range() for page in document]

    heads = [re.findall(r"HU-(\d\d)", page) for page in pages]
    listed = [re.findall(r"ITEM-(\d\d)", page) for page in pages]
    assert all(set(units) <= set(items) for units, items in zip(heads, listed, strict=True))


@each_case(("render", "most"), [(label_pdf, 40_000), (label_zpl, 300_000)])
def test_calls_for_a_label_do_not_grow_with_its_texts(
    render: Callable[[LabelContent], object], most: int
) -> None:
    """Calls of Python functions are counted: machines differ in speed."""
    many = 50
    recipient, ship_to = (f"{text} " * many for text in (WORLD.recipient, WORLD.ship_to))
    content, made = replace(WORLD, recipient=recipient, ship_to=ship_to), count()
    before = sys.getprofile()
    sys.setprofile(lambda _frame, event, _value: event == "call" and next(made))
    try:
        render(content)
    finally:
        sys.setprofile(before)
    assert 1_000 < next(made) < most
