"""Labels of positions and products: they scan in every size, and have no barcode that would not."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.warehouse.labels.barcode import QUIET_ZONE
from shared.warehouse.labels.code_label import SIZES, CodeLabel, LabelSize
from shared.warehouse.labels.label_pdf import code_labels_pdf
from shared.warehouse.labels.label_zpl import code_labels_zpl
from shared.warehouse.labels.models import CodeLabelContent
from tests.cases import each_case
from tests.unit.labels.examples import POSITION, PRODUCT
from tests.unit.labels.pictures import drawn_barcode, rendered, scanned
from tests.unit.labels.test_labels import TEXTS, assert_inside

CODE_128, GS1_128 = "]C0", "]C1"
CODES = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=31)


def _assert_scans(content: CodeLabelContent, size: LabelSize, wanted: tuple[str, str]) -> None:
    label = CodeLabel(content, SIZES[size])
    assert scanned(rendered(code_labels_pdf([label]), 203)) == [wanted]
    assert scanned(drawn_barcode(code_labels_zpl([label]))) == [wanted]


@pytest.mark.parametrize("size", SIZES)
def test_labels_scan_in_every_size(size: LabelSize) -> None:
    _assert_scans(POSITION, size, (CODE_128, POSITION.code))
    _assert_scans(PRODUCT, size, (GS1_128, f"(01){PRODUCT.gtin}"))


@settings(max_examples=15)
@given(CODES.filter(str.strip))
@example("A>0^FS~_41\\")
def test_every_code_scans(code: str) -> None:
    _assert_scans(replace(POSITION, code=code), "medium", (CODE_128, code))


@each_case(
    ("code", "size", "has_barcode"),
    [
        ("A" * 16, "small", True),
        ("A" * 17, "small", False),
        ("A" * 31, "large", True),
        ("A" * 32, "large", False),
        ("Ñ-1", "large", False),
        ("A\u007f", "large", False),
        ("A\u001f", "large", False),
    ],
)
def test_a_code_without_readable_bars_has_no_barcode(
    code: str, size: LabelSize, *, has_barcode: bool
) -> None:
    label = CodeLabel(replace(POSITION, code=code), SIZES[size])
    assert ("^BC" in code_labels_zpl([label])) is has_barcode
    assert bool(scanned(rendered(code_labels_pdf([label]), 203))) is has_barcode


@each_case("size", SIZES)
def test_bars_are_whole_dots_and_leave_the_quiet_zones(size: LabelSize) -> None:
    for code in ("A", "A" * 9, "A" * 16):
        label = CodeLabel(replace(POSITION, code=code), SIZES[size])
        [found] = re.findall(r"\^FO(\d+),(\d+)\^BY(\d+)\^BCN,(\d+)", code_labels_zpl([label]))
        left, top, module, height = map(int, found)
        bars = label.bars
        assert bars is not None
        right = left + bars.barcode.width * module
        assert 2 <= module <= 4
        assert left >= QUIET_ZONE * module - 1
        assert right <= label.size.width * 8 - QUIET_ZONE * module + 1
        assert top + height < label.size.height * 8


@settings(max_examples=20)
@given(TEXTS, st.sampled_from(list(SIZES)))
def test_any_text_stays_on_the_label(text: str, size: LabelSize) -> None:
    label = CodeLabel(CodeLabelContent(text, [text, text]), SIZES[size])
    assert_inside(code_labels_pdf([label]), label.size.width, label.size.height, 1)
    zpl = code_labels_zpl([label])
    assert [zpl.count(one) for one in ("^XA", "^XZ")] == [1, 1]
