"""Labels and packing slips arrive over HTTP as the files that they are."""

import httpx

from tests.e2e.responses import fields, walk


def test_labels_and_slips_of_the_sample_are_files(acme: httpx.Client) -> None:
    unit = next(
        one for one in walk(acme, "/handling-units", sort="created_at")
        if one["sscc"] and one["contents"]
    )  # fmt: skip
    path = f"/handling-units/{unit['id']}/label"

    label, zpl = acme.get(path), acme.get(path, params={"format": "zpl"})
    slip = acme.get(f"/packing-orders/{unit['packing_order_id']}/packing-slip.pdf")

    for answer, kind, beginning in (
        (label, "application/pdf", b"%PDF-"),
        (zpl, "application/zpl", b"^XA^CI28"),
        (slip, "application/pdf", b"%PDF-"),
    ):
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind), answer.text
        assert answer.content.startswith(beginning)
    assert label.headers["Content-Disposition"] == f'attachment; filename="{unit["code"]}.pdf"'
    assert f">;>800{unit['sscc']}^FS".encode() in zpl.content
    known = acme.get(path, headers={"If-None-Match": label.headers["ETag"]})
    assert (known.status_code, known.content) == (304, b"")
    assert fields(acme.get(path, params={"format": "png"})) == ["format"]
