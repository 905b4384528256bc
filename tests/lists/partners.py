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
        **times.of(number),
        name=_name(number),
        document_type=spec.unless(number, 4, "VEJG"[number % 4]),
        document_id=_document_id(number),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "+58 212 555 0111"),
    )


def _provider(number: int, times: spec.Times) -> Provider:
    return Provider(
        **times.of(number),
        name=_name(number),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "555-0111"),
        description=spec.unless(number, 3, "Cables\nand conduits"),
        paymentinfo=spec.unless(number, 4, "30 days net"),
    )


_EMAIL = spec.in_any_case("email", _email, ("nobody", "a@b", ""))
_SORTS = spec.sorted_by("id name created_at updated_at")

CLIENT_LIST = spec.Listed(
    path="/clients",
    collection=CLIENTS,
    make=_client,
    aliases=lambda client: [(f"document_id#{client.document_id}", "ALIAS")],
    fields=spec.fields("""
        integer: id document_id?!
        string: name document_type? email? phone?
        date-time: created_at?! updated_at?!
    """),
    filters={
        "search": spec.contains_text(
            "document_id",
            "name",
            values=["area", "ÑUBLE", "8999", "?"],
            code=lambda number: str(_document_id(number)),
        ),
        "document_id": spec.equal_id("document_id", _document_id),
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
        integer: id
        string: name email? phone? description? paymentinfo?
        date-time: created_at?! updated_at?!
    """),
    filters={
        "search": spec.contains_text("name", values=["area", "ÑUBLE", "zebra fittings 3", "?"]),
        "email": _EMAIL,
    },
    sorts=_SORTS,
    default_sort="id",
)
