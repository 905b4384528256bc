"""Storage of entry and exit documents. Keys and indexes: see docs/internals/storage.md."""

from dataclasses import replace

from shared.kernel.db.collection import SHARES, Collection
from shared.kernel.db.facets import SEPARATOR, Facets, facets_of, integer_text
from shared.kernel.db.indexes import AnyLookup, Lookup, Partition
from shared.kernel.db.items import Key, alias_key, item_at
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.search import BEGINNINGS, SEARCH, SEARCH_INDEX, marked_text
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.documents.level_shares import entry_shares, exit_shares
from shared.warehouse.documents.models import Document, EntryParameters, ExitParameters
from shared.warehouse.documents.vocabulary import TYPES, DocumentKind, doc_num
from shared.warehouse.stock.level_book import add_shares
from shared.warehouse.stock.models import SHARES_SINCE
from shared.warehouse.work.ranks import RANK, by_rank, rank_of

_facets = facets_of(
    "status", "type", "external_ref", "card_code", "source",
    "doc_date", "due_date", "created_at", "updated_at",
)  # fmt: skip


def _searched(kind: DocumentKind, document: Document) -> Facets:
    number, one = doc_num(kind, document.id), document
    return {SEARCH: marked_text(number, one.external_ref, one.card_code, one.card_name)}


def _entry_facets(document: Document) -> Facets:
    return {**_facets(document), **_searched("entry", document)}


def _exit_facets(document: Document) -> Facets:
    return {
        **_facets(document),
        **_searched("exit", document),
        "priority": integer_text(document.priority),
        RANK: integer_text(rank_of(document.priority)),
    }


def _lookups(kind: DocumentKind) -> dict[str, AnyLookup]:
    return {
        "external_ref": lambda reference: [
            reference_key(kind, document_type, reference) for document_type in TYPES[kind]
        ],
        "card_code": Lookup(5),
    }


_FIXED = frozenset({"type", "source", "card_code", "doc_date", "due_date", "created_at"})

ENTRIES = Collection(
    kind="entry",
    noun="Entry document",
    listed_as="entry_document",
    model=Document,
    facets=_entry_facets,
    sorts={"created_at": 1, "updated_at": 2, "doc_date": 3},
    partitions={
        "status": Partition({"created_at": 4}),
        "type": Partition({"created_at": 8}),
        "source": Partition({"created_at": 9}),
    },
    fixed=_FIXED,
    lookups=_lookups("entry"),
    volatile=frozenset({SEARCH}),
    searched=_FIXED,
    search_entries=BEGINNINGS,
    since={SHARES: SHARES_SINCE, SEARCH: 4, SEARCH_INDEX: 4},
    add_shares=add_shares(entry_shares),
)

EXITS = replace(
    ENTRIES,
    kind="exit",
    noun="Exit document",
    listed_as="exit_document",
    facets=_exit_facets,
    sorts={**ENTRIES.sorts, "priority": 6, RANK: 7},
    fixed=ENTRIES.fixed | {"priority", RANK},
    lookups=_lookups("exit"),
    add_shares=add_shares(exit_shares),
)

COLLECTIONS: dict[DocumentKind, Collection[Document]] = {"entry": ENTRIES, "exit": EXITS}


def reference_key(kind: DocumentKind, document_type: str, external_ref: str) -> Key:
    """Return the key of the alias that makes a reference unique within a document type."""
    return alias_key(f"{kind}_ref", f"{document_type}{SEPARATOR}{external_ref}")


def put_reference(tx: Transaction, kind: DocumentKind, document: Document) -> None:
    """Add the alias of the reference; the commit raises StaleRead if it exists."""
    tx.insert(item_at(reference_key(kind, document.type, document.external_ref), id=document.id))


def list_documents(
    store: Store, kind: DocumentKind, parameters: EntryParameters | ExitParameters
) -> Page[Document]:
    """Return a page of documents."""
    priority = parameters.priority if isinstance(parameters, ExitParameters) else None
    query = parameters.list_query(
        equal=parameters.filters(due_to=None) | {"priority": integer_text(priority)},
        search=parameters.search,
        between={"due_date": (None, parameters.due_to)} if parameters.due_to else None,
    )
    return read_page(store, COLLECTIONS[kind], by_rank(query))
