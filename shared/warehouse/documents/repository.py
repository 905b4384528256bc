"""Storage of entry and exit documents. Keys and indexes: see docs/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import SEPARATOR, Facets, integer_text
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.items import Key, alias_key, item_at
from shared.kernel.db.listing import read_page
from shared.kernel.db.page import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.documents.models import Document, EntryParameters, ExitParameters
from shared.warehouse.documents.vocabulary import TYPES, DocumentKind
from shared.warehouse.ranks import RANK, by_rank, rank_of


def _facets(document: Document) -> Facets:
    return {
        "status": document.status,
        "type": document.type,
        "external_ref": document.external_ref,
        "card_code": document.card_code,
        "source": document.source,
        "doc_date": document.doc_date,
        "due_date": document.due_date,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _exit_facets(document: Document) -> Facets:
    return {
        **_facets(document),
        "priority": integer_text(document.priority),
        RANK: integer_text(rank_of(document.priority)),
    }


_FIXED = frozenset({"type", "source", "card_code", "doc_date", "due_date", "created_at"})
_PARTITIONS = {
    "status": Partition({"created_at": 4}),
    "type": Partition({"created_at": 8}),
    "source": Partition({"created_at": 9}),
}
_SINCE: dict[str | int, int] = {8: 3, 9: 3, "due_date": 3}

ENTRIES = Collection(
    kind="entry",
    noun="Entry document",
    model=Document,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2, "doc_date": 3},
    partitions=_PARTITIONS,
    fixed=_FIXED,
    lookups={
        "external_ref": lambda reference: _reference_keys("entry", reference),
        "card_code": Lookup(5),
    },
    since=_SINCE,
)

EXITS = Collection(
    kind="exit",
    noun="Exit document",
    model=Document,
    facets=_exit_facets,
    sorts={"created_at": 1, "updated_at": 2, "doc_date": 3, "priority": 6, RANK: 7},
    partitions=_PARTITIONS,
    fixed=_FIXED | {"priority", RANK},
    lookups={
        "external_ref": lambda reference: _reference_keys("exit", reference),
        "card_code": Lookup(5),
    },
    since=_SINCE,
)

COLLECTIONS: dict[DocumentKind, Collection[Document]] = {"entry": ENTRIES, "exit": EXITS}


def reference_key(kind: DocumentKind, document_type: str, external_ref: str) -> Key:
    """Return the key of the alias that makes a reference unique within a document type."""
    return alias_key(f"{kind}_ref", f"{document_type}{SEPARATOR}{external_ref}")


def _reference_keys(kind: DocumentKind, external_ref: str) -> list[Key]:
    return [reference_key(kind, document_type, external_ref) for document_type in TYPES[kind]]


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
        between={"due_date": (None, parameters.due_to)} if parameters.due_to else None,
    )
    return read_page(store, COLLECTIONS[kind], by_rank(query))
