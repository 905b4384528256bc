"""What differs between a repeated request and what its reference already names."""

from types import SimpleNamespace

from shared.kernel.differences import differing_lines
from shared.warehouse.documents.models import LineDraft


def test_order_of_serials_is_no_difference() -> None:
    names = {"item_code": "DRILL", "qty": 2, "batch": None, "expiry_date": None}
    stored = [SimpleNamespace(**names, serials=["A", "B"])]
    for serials, differing in ((["B", "A"], []), (["A", "C"], ["lines.0.serials"])):
        sent = [LineDraft.model_validate({**names, "serials": serials})]
        assert list(differing_lines(sent, stored, {})) == differing
