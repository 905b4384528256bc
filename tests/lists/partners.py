"""The lists of clients and of providers."""

from shared.warehouse.partners.models import Client, Provider
from shared.warehouse.partners.repository import CLIENTS, PROVIDERS
from tests.lists import spec

_NAMES = ("Talleres Ñuble", "ÁREA Norte", "area sur", "Zebra Fittings", "brindley")
_PER_ADDRESS = 3


def _email(number: int) -> str:
    return f"Sales.{number // _PER_ADDRESS}@Partner.example"


def _document_id(number: int) -> int:
    return 900_000_000 - number * 17


def _name(number: int) -> str:
    return f"{_NAMES[number % 5]} {number % 31}"


def _client(number: int, times: spec.Times) -> Client:
    return Client(
        id=number,
        name=_name(number),
        document_type=spec.unless(number, 4, "VEJG"[number % 4]),
        document_id=_document_id(number),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "+58 212 555 0111"),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


def _provider(number: int, times: spec.Times) -> Provider:
    return Provider(
        id=number,
        name=_name(number),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "555-0111"),
        description=spec.unless(number, 3, "Cables\nand conduits"),
        paymentinfo=spec.unless(number, 4, "30 days net"),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


_EMAIL = spec.Filter(
    lambda count: (_email(count // 2).lower(), _email(count).upper(), "nobody@partner.example"),
    lambda row, value: (row["email"] or "").lower() == value.lower(),
    ("nobody", "a@b", ""),
    selective=True,
)
_SORTS = {
    "id": spec.by("id"),
    "name": spec.by_folded_text("name"),
    "created_at": spec.by("created_at"),
    "updated_at": spec.by("updated_at"),
}
_FILLED = frozenset({"created_at", "updated_at"})

CLIENT_LIST = spec.Listed(
    path="/clients",
    collection=CLIENTS,
    make=_client,
    aliases=lambda client: [(f"document_id#{client.document_id}", "ALIAS")],
    fields=spec.fields("""
        id integer
        name string
        document_type string?
        document_id integer?
        email string?
        phone string?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=_FILLED | {"document_id"},
    filters={
        "search": spec.contains_text(
            "document_id",
            "name",
            values=["area", "ÑUBLE", "8999", "?"],
            code=lambda number: str(_document_id(number)),
        ),
        "document_id": spec.Filter(
            lambda count: (str(_document_id(max(1, count // 2))), str(_document_id(1)), "7"),
            lambda row, value: row["document_id"] == int(value),
            spec.INVALID_IDS,
            selective=True,
        ),
        "email": _EMAIL,
    },
    sorts=_SORTS,
    default_sort="id",
)

PROVIDER_LIST = spec.Listed(
    path="/providers",
    collection=PROVIDERS,
    make=_provider,
    fields=spec.fields("""
        id integer
        name string
        email string?
        phone string?
        description string?
        paymentinfo string?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=_FILLED,
    filters={
        "search": spec.contains_text("name", values=["area", "ÑUBLE", "zebra fittings 3", "?"]),
        "email": _EMAIL,
    },
    sorts=_SORTS,
    default_sort="id",
)
