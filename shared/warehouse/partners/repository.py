"""Storage of clients and providers. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import SEPARATOR, Facets, fold, id_text, searchable
from shared.kernel.db.indexes import Lookup
from shared.kernel.db.items import Item, Key, alias_key, item_at
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.store import Store
from shared.warehouse.partners.codes import code_alias, code_key
from shared.warehouse.partners.models import Client, ClientParameters, Provider, ProviderParameters


def _email_text(email: str | None) -> str | None:
    """Return the index value of an e-mail address; lookups ignore case."""
    return email.lower() if email else None


def _partner_facets(partner: Client | Provider) -> Facets:
    return {
        "id": id_text(partner.id),
        "code": partner.code,
        "name": fold(partner.name),
        "email": _email_text(partner.email),
        "search": _search_text(partner.code, partner.name),
        "created_at": partner.created_at,
        "updated_at": partner.updated_at,
    }


def _search_text(*texts: str | None) -> str:
    """Return what a search finds; the separator prevents a match that spans two texts."""
    return SEPARATOR.join(searchable(text) for text in texts if text is not None)


def _client_facets(client: Client) -> Facets:
    number = str(client.document_id)
    search = _search_text(number, client.code, client.name)
    return {**_partner_facets(client), "document_id": number, "search": search}


CLIENTS = Collection(
    kind="client",
    noun="Client",
    listed_as="client",
    model=Client,
    facets=_client_facets,
    sorts={"id": 1, "updated_at": 2, "name": 3, "created_at": 4},
    lookups={
        "document_id": lambda number: [document_id_key(number)],
        "code": lambda code: [code_key("client", code)],
        "email": Lookup(5),
    },
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"name", "created_at"}),
)


PROVIDERS = Collection(
    kind="provider",
    noun="Provider",
    listed_as="provider",
    model=Provider,
    facets=_partner_facets,
    sorts={"id": 1, "updated_at": 2, "name": 3, "created_at": 4},
    lookups={"code": lambda code: [code_key("provider", code)], "email": Lookup(5)},
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"name", "created_at"}),
)


def list_clients(store: Store, parameters: ClientParameters) -> Page[Client]:
    """Return a page of clients."""
    number = parameters.document_id
    query = parameters.list_query(
        equal={
            "document_id": None if number is None else str(number),
            "code": parameters.code,
            "email": _email_text(parameters.email),
        },
        search=parameters.search,
    )
    return read_page(store, CLIENTS, query)


def list_providers(store: Store, parameters: ProviderParameters) -> Page[Provider]:
    """Return a page of providers."""
    query = parameters.list_query(
        equal={"code": parameters.code, "email": _email_text(parameters.email)},
        search=parameters.search,
    )
    return read_page(store, PROVIDERS, query)


def document_id_key(number: int | str) -> Key:
    """Return the key of the alias of the client with a tax document number."""
    return alias_key("document_id", str(number))


def client_aliases(client: Client) -> list[Item]:
    """Return the aliases of a client: those of its tax document number and of its code."""
    number = item_at(document_id_key(client.document_id), id=client.id)
    code = client.code
    return [number] + ([code_alias("client", code, client.id, client.name)] if code else [])


def provider_aliases(provider: Provider) -> list[Item]:
    """Return the alias of the code of a provider, if it has one."""
    code = provider.code
    return [code_alias("provider", code, provider.id, provider.name)] if code else []
