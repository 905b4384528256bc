"""Labels and packing slips over HTTP: what they show, and when there is none."""

from decimal import Decimal

import pypdfium2
import pytest

from shared.warehouse.labels.models import ShippedGoods, SlipUnit
from shared.warehouse.packing import labels
from shared.warehouse.packing.models import MAX_CONTENTS, MAX_SERIALS
from tests.faults import AwsFaults, stuck_before
from tests.gateway import Response
from tests.openapi import complaints
from tests.packing_scenario import ORDERS, UNITS, PackingScenario
from tests.unit.labels.pictures import rendered, scanned

LABEL, SLIP = "GET /handling-units/{id}/label", "GET /packing-orders/{id}/packing-slip.pdf"
TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture
def packing(packing: PackingScenario) -> PackingScenario:
    """A company whose handling units have SSCCs."""
    packing.yard.change_settings(gs1_company_prefix="4006381", sscc_extension_digit=3)
    return packing


def _label(packing: PackingScenario, unit: int, kind: str = "pdf") -> Response:
    return packing.erp.get(f"{UNITS}/{unit}/label", query={"format": kind})


def _slip(packing: PackingScenario, order: int, part: int | None = None) -> Response:
    query = {} if part is None else {"part": part}
    return packing.erp.get(f"{ORDERS}/{order}/packing-slip.pdf", query=query)


def _text(answer: Response) -> str:
    """Return the text of all pages of a PDF response."""
    assert answer.status == 200, answer.text
    with pypdfium2.PdfDocument(answer.content) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def _assert_refused(name: str, answer: Response, status: int, code: str) -> str:
    assert (answer.status, answer.code) == (status, code), answer.text
    method, path = name.split(" ")
    assert complaints(method, path, answer) == []
    message: str = answer.json()["error"]["message"]
    return message


def test_label_of_a_closed_unit_takes_one_read(
    packing: PackingScenario, aws_faults: AwsFaults
) -> None:
    document, order, unit = packing.packed(("BRICK", 10))
    with aws_faults.recorded() as seen:
        answer = _label(packing, unit)

    assert seen.operations == ["GetItem"]
    assert complaints("GET", "/handling-units/{id}/label", answer) == []
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="HU-1.pdf"'
    sscc = packing.erp.get(f"{UNITS}/{unit}").data["sscc"]
    assert scanned(rendered(answer.content, 203)) == [("]C1", f"(00){sscc}")]
    text = _text(answer)
    for shown in (f"EX-{document} / ", f"10 {TIMES} Brick", "HU-1, 2.5 kg", "Yard"):
        assert shown in text
    tag = answer.headers["ETag"]
    known = packing.erp.get(f"{UNITS}/{unit}/label", headers={"If-None-Match": tag})
    assert (known.status, known.content) == (304, b"")
    zpl = _label(packing, unit, "zpl")
    assert complaints("GET", "/handling-units/{id}/label", zpl) == []
    assert zpl.headers["Content-Type"] == "application/zpl"
    assert zpl.headers["Content-Disposition"] == 'attachment; filename="HU-1.zpl"'
    assert f"^FD>;>800{sscc}^FS".encode() in zpl.content
    slip = _slip(packing, order)
    assert complaints("GET", "/packing-orders/{id}/packing-slip.pdf", slip) == []
    assert slip.headers["Content-Disposition"] == 'attachment; filename="PK-1.pdf"'
    for shown in (f"EX-{document}", f"(00){sscc}", "BRICK", "Yard", "UNITS 1"):
        assert shown in _text(slip).replace("\r\n", " ")


def test_label_and_slip_show_the_structured_address(packing: PackingScenario) -> None:
    packing.yard.stock("BRICK", 1)
    address = {
        "name": "Ana Ruiz", "company": "Obras SA", "line1": "Calle Mayor 1", "line2": "Nave 2",
        "city": "Madrid", "state": "MD", "zip_code": "28001", "country": "ES", "phone": "910 000",
        "email": "ana@example.com",
    }  # fmt: skip
    head = {"ship_to_address": address, "ship_to": "Elsewhere", "partner_name": "Builder"}
    document = packing.yard.order(("BRICK", 1), head=head)
    packing.picked(document, ("BRICK", 1))
    order = packing.order(document)["id"]
    unit = packing.unit(order)
    packing.put(unit, "BRICK", 1)

    for text in (_text(_label(packing, unit)), _label(packing, unit, "zpl").content.decode(),
                 _text(_slip(packing, order))):  # fmt: skip
        for part in address.values():
            assert part in text, part
        assert "Elsewhere" not in text


@pytest.mark.parametrize("is_closed", [False, True])
def test_label_of_a_pallet_sums_the_goods_of_its_cartons(
    packing: PackingScenario, aws_faults: AwsFaults, *, is_closed: bool
) -> None:
    order = packing.staged_order(("BRICK", 10))
    pallet, other = packing.unit(order, "pallet"), packing.unit(order)
    tote = packing.unit(order, "tote", parent_id=pallet)
    carton = packing.unit(order, parent_id=tote)
    for unit, qty in ((other, 1), (pallet, 2), (tote, 3), (carton, 4)):
        packing.done(packing.put(unit, "BRICK", qty))
    if is_closed:
        for unit in (carton, tote, pallet):
            packing.done(packing.act(unit, "close"))

    with aws_faults.recorded() as seen:
        answer = _label(packing, pallet)

    assert f"9 {TIMES} Brick" in _text(answer)
    assert seen.round_trips == (2 if is_closed else 4)
    if is_closed:
        packing.done(packing.act(pallet, "reopen"))
        packing.done(packing.act(tote, "reopen"))
        packing.done(packing.remove(tote, "BRICK", 3))
        assert f"6 {TIMES} Brick" in _text(_label(packing, pallet))


@pytest.mark.parametrize(("is_closed", "at"), [(False, 1), (False, 2), (False, 3), (True, 1)])
def test_label_never_counts_goods_twice_that_move_meanwhile(
    packing: PackingScenario, aws_faults: AwsFaults, at: int, *, is_closed: bool
) -> None:
    order = packing.staged_order(("BRICK", 10))
    pallet = packing.unit(order, "pallet")
    carton = packing.unit(order, parent_id=pallet)
    for unit, qty in ((pallet, 2), (carton, 4)):
        packing.done(packing.put(unit, "BRICK", qty))
    if is_closed:
        for unit in (carton, pallet):
            packing.done(packing.act(unit, "close"))

    def move() -> None:
        for unit in (pallet, carton) if is_closed else ():
            packing.done(packing.act(unit, "reopen"))
        packing.done(packing.remove(pallet, "BRICK", 1))
        packing.done(packing.put(carton, "BRICK", 1))

    with aws_faults.faulty(stuck_before(at, move)):
        answer = _label(packing, pallet)

    assert f"6 {TIMES} Brick" in _text(answer)


def test_labels_that_cannot_be_made_are_refused(packing: PackingScenario) -> None:
    order = packing.staged_order(("BRICK", 10))
    unit, gone = packing.unit(order), packing.unit(order)
    assert "HU-1 is empty" in _assert_refused(LABEL, _label(packing, unit), 409, "conflict")
    assert "PK-1" in _assert_refused(SLIP, _slip(packing, order), 409, "conflict")
    refused = _label(packing, unit, "png")
    _assert_refused(LABEL, refused, 422, "validation_failed")
    assert refused.invalid_fields == ["format"]
    packing.done(packing.erp.delete(f"{UNITS}/{gone}"))
    _assert_refused(LABEL, _label(packing, gone), 410, "gone")
    _assert_refused(LABEL, _label(packing, 99), 404, "not_found")
    _assert_refused(SLIP, _slip(packing, 99), 404, "not_found")
    packing.yard.change_settings(gs1_company_prefix=None)
    plain = packing.unit(order)
    packing.done(packing.put(plain, "BRICK", 1))
    assert "no SSCC" in _assert_refused(LABEL, _label(packing, plain), 409, "conflict")
    assert _slip(packing, order).status == 200


def test_long_slip_is_refused_and_comes_in_parts(
    packing: PackingScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = packing.staged_order(("BRICK", 10))
    units = [packing.unit(order) for _ in range(3)]
    for unit in units:
        packing.done(packing.put(unit, "BRICK", 1))
    whole = _slip(packing, order)
    assert _slip(packing, order, 1).content == whole.content, "a short slip is one part"
    monkeypatch.setattr(labels, "MAX_SLIP_SIZE", 2 * len("BRICKBrick  ") + 10)

    refused = _assert_refused(SLIP, _slip(packing, order), 413, "payload_too_large")
    parts = [_slip(packing, order, part) for part in (1, 2)]
    beyond = _slip(packing, order, 3)

    assert refused.endswith("get its 2 parts with part=1 to part=2.")
    assert [[f"HU-{unit} " in _text(part) for unit in units] for part in parts] == [
        [True, True, False],
        [False, False, True],
    ]
    assert "PK-1, part 2 of 2, page 1 of 1" in _text(parts[1])
    assert parts[1].headers["Content-Disposition"] == 'attachment; filename="PK-1-2.pdf"'
    _assert_refused(SLIP, beyond, 422, "validation_failed")
    assert beyond.invalid_fields == ["part"]
    for invalid in (0, "x"):
        answer = packing.erp.get(f"{ORDERS}/{order}/packing-slip.pdf", query={"part": invalid})
        assert answer.invalid_fields == ["part"]


def test_one_unit_is_never_too_long_for_a_part() -> None:
    texts = ("c" * 50, "n" * 200, Decimal(1), "b" * 50)
    serials = ("s" * 50,) * (MAX_SERIALS // MAX_CONTENTS)
    unit = SlipUnit("HU-1", "carton", [ShippedGoods(*texts, serials)] * MAX_CONTENTS)

    assert unit.size < labels.MAX_SLIP_SIZE
