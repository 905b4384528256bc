"""What differs between a repeated request and what its reference already names."""

from types import SimpleNamespace

from shared.kernel.differences import differing_lines
from shared.warehouse.documents.models import LineDraft


def test_order_of_serials_is_no_difference() -> None:
    names = dict.fromkeys(LineDraft.model_fields) | {"item_code": "DRILL", "qty": 2}
    stored = [SimpleNamespace(**names | {"serials": ["A", "B"]})]
    for serials, differing in ((["B", "A"], []), (["A", "C"], ["lines.0.serials"])):
        sent = [LineDraft.model_validate({"item_code": "DRILL", "qty": 2, "serials": serials})]
        assert list(differing_lines(sent, stored, {})) == differing
