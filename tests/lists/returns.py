"""The list of returns."""

from shared.warehouse.returns.models import StoredReturn
from shared.warehouse.returns.repository import RETURNS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, warehouse_of

_STATUSES = ("expected", "receiving", "received", "dispositioned", "cancelled")
_SOURCES = ("api", "import", "web", "sap")


def _reference(number: int) -> str:
    return f"RMA-{number:07d}"


def _return(number: int, times: spec.Times) -> StoredReturn:
    goods = {"position_id": 1, "bin_code": "A-01", "qty": 2, "open_qty": 1}
    return StoredReturn.model_validate(
        {
            "id": number,
            "status": _STATUSES[number % 5],
            "external_ref": spec.unless(number, 4, _reference(number)),
            "exit_document_id": spec.unless(number, 3, number),
            "card_code": f"C-{number % 7}",
            "card_name": spec.unless(number, 2, "Hillside Joinery"),
            "warehouse_id": warehouse_of(number),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "source": _SOURCES[number % 4],
            "reason": spec.unless(number, 5, "Wrong address"),
            "operator": spec.unless(number, 2, {"id": 7, "name": "Ana Ruiz"}),
            "received_at": spec.unless(number, 3, times.updated(number)),
            "dispositioned_at": spec.unless(number, 4, times.updated(number)),
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "lines": [
                {
                    "id": number,
                    "line_num": 1,
                    "product_id": 1,
                    "item_code": "BRICK",
                    "product_name": "Brick",
                    "reason": "other",
                    "qty": 40,
                    "goods": [goods],
                    "restocked_qty": 1,
                }
            ],
        }
    )


RETURN_LIST = spec.Listed(
    path="/returns",
    collection=RETURNS,
    make=_return,
    aliases=lambda one: [
        (f"return_ref#{reference}", "ALIAS") for reference in [one.external_ref] if reference
    ],
    period=True,
    fields=spec.fields("""
        object string
        id integer
        code string
        status string
        status_label string
        external_ref string?
        exit_document_id integer?
        exit_doc_num string?
        card_code string
        card_name string?
        warehouse_code string
        source string
        reason string?
        operator object?
        operator.id integer
        operator.name string?
        received_at date-time?
        dispositioned_at date-time?
        created_at date-time
        updated_at date-time
    """),
    always_filled=spec.name_set("operator.name"),
    filters={
        "status": spec.among("status", _STATUSES, wrong=("", "Expected", "open"), narrow=True),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W1", "W4"),
            lambda row, value: row["warehouse_code"] == value,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "exit_document_id": spec.Filter(
            lambda count: (str(count // 2 | 1), "1", "999999999999"),
            lambda row, value: row["exit_document_id"] == int(value),
            spec.INVALID_IDS,
            selective=True,
        ),
        "external_ref": spec.equal("external_ref", _reference),
    },
    sorts={"created_at": spec.by("created_at"), "updated_at": spec.by("updated_at")},
    default_sort="-created_at",
)
