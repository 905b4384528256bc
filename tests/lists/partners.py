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


def _code(number: int) -> str:
    return f"K-{number:07d}"


def _name(number: int) -> str:
    return f"{_NAMES[number % 5]} {number % 31}"


def _client(number: int, times: spec.Times) -> Client:
    return Client(
        **times.of(number),
        name=_name(number),
        code=spec.unless(number, 3, _code(number)),
        document_type=spec.unless(number, 4, "VEJG"[number % 4]),
        document_id=_document_id(number),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "+58 212 555 0111"),
        metadata={"erp_id": str(number)},
    )


def _provider(number: int, times: spec.Times) -> Provider:
    return Provider(
        **times.of(number),
        name=_name(number),
        code=spec.unless(number, 3, _code(number)),
        email=spec.unless(number, 5, _email(number)),
        phone=spec.unless(number, 2, "555-0111"),
        description=spec.unless(number, 3, "Cables\nand conduits"),
        paymentinfo=spec.unless(number, 4, "30 days net"),
        metadata={"erp_id": str(number)},
    )


_EMAIL = spec.in_any_case("email", _email, ("nobody", "a@b", ""))
_CODE = spec.equal("code", _code)
_SORTS = spec.sorted_by("id name created_at updated_at")


def _code_aliases(kind: str, code: str | None) -> list[tuple[str, str]]:
    return [] if code is None else [(f"{kind}_code#{code}", "ALIAS")]


CLIENT_LIST = spec.Listed(
    path="/clients",
    collection=CLIENTS,
    make=_client,
    aliases=lambda client: [
        (f"document_id#{client.document_id}", "ALIAS"),
        *_code_aliases("client", client.code),
    ],
    fields=spec.fields("""
        integer: id document_id?!
        string: name code? document_type? email? phone? metadata.erp_id
        object: metadata
        date-time: created_at?! updated_at?!
    """),
    filters={
        "search": spec.contains_text(
            "document_id",
            "code",
            "name",
            values=["area", "ÑUBLE", "8999", "?"],
            code=lambda number: str(_document_id(number)),
        ),
        "document_id": spec.equal_id("document_id", _document_id),
        "code": _CODE,
        "email": _EMAIL,
    },
    sorts=_SORTS,
    default_sort="id",
)

PROVIDER_LIST = spec.Listed(
    path="/providers",
    collection=PROVIDERS,
    make=_provider,
    aliases=lambda provider: _code_aliases("provider", provider.code),
    fields=spec.fields("""
        integer: id
        string: name code? email? phone? description? paymentinfo? metadata.erp_id
        object: metadata
        date-time: created_at?! updated_at?!
    """),
    filters={
        "search": spec.contains_text(
            "code", "name", values=["area", "ÑUBLE", "zebra fittings 3", "k-00", "?"]
        ),
        "code": _CODE,
        "email": _EMAIL,
    },
    sorts=_SORTS,
    default_sort="id",
)
