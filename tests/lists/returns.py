"""The list of returns."""

from shared.warehouse.returns.models import StoredReturn
from shared.warehouse.returns.repository import RETURNS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_STATUSES = ("expected", "receiving", "received", "dispositioned", "cancelled")
_SOURCES = ("api", "import", "web", "sap")
_LINE = {
    "line_num": 1, "product_id": 1, "item_code": "BRICK", "product_name": "Brick",
    "reason": "other", "qty": 40, "restocked_qty": 1,
    "goods": [{"position_id": 1, "bin_code": "A-01", "qty": 2, "open_qty": 1}],
}  # fmt: skip


def _reference(number: int) -> str:
    return f"RMA-{number:07d}"


def _return(number: int, times: spec.Times) -> StoredReturn:
    return StoredReturn.model_validate(
        {
            **times.of(number),
            "status": _STATUSES[number % 5],
            "external_ref": spec.unless(number, 4, _reference(number)),
            "exit_document_id": spec.unless(number, 3, number),
            "card_code": f"C-{number % 7}",
            "card_name": spec.unless(number, 2, "Hillside Joinery"),
            "warehouse_id": warehouse_of(number),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "source": _SOURCES[number % 4],
            "reason": spec.unless(number, 5, "Wrong address"),
            "metadata": {"erp_id": str(number)},
            "operator": spec.unless(number, 2, {"id": 7, "name": "Ana Ruiz"}),
            "received_at": spec.unless(number, 3, times.updated(number)),
            "dispositioned_at": spec.unless(number, 4, times.updated(number)),
            "lines": [{**_LINE, "id": number}],
        }
    )


RETURN_LIST = spec.Listed(
    path="/returns",
    collection=RETURNS,
    make=_return,
    aliases=lambda one: [(f"return_ref#{one.external_ref}", "ALIAS")] if one.external_ref else [],
    period=True,
    fields=spec.fields("""
        integer: id exit_document_id? operator.id
        string: object code status status_label external_ref? exit_doc_num? card_code card_name?
        string: warehouse_code source reason? operator.name?! metadata.erp_id
        object: operator? metadata
        date-time: received_at? dispositioned_at? created_at updated_at
    """),
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "Expected", "open")),
        "warehouse": by_warehouse("warehouse_code"),
        "exit_document_id": spec.equal_id("exit_document_id", lambda number: number | 1),
        "external_ref": spec.equal("external_ref", _reference),
        "search": spec.begins_words(
            lambda row: (row["code"], row["external_ref"], row["card_code"], row["card_name"]),
            values=("RT-1", "rma", "1 r", "joinery c-", "oinery"),
            code=_reference,
        ),
    },
)
