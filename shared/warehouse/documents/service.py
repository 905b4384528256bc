"""Use cases of entry and exit documents."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from shared.kernel import references
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import CreatedRecord, Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.validation import Checked, InvalidBody
from shared.warehouse.catalog.drafts import more_problems
from shared.warehouse.catalog.lines import LineProblems, ensure_no_problems, numbered
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.documents import oversell, repository, rules, views
from shared.warehouse.documents.actions import ACTIONS
from shared.warehouse.documents.models import (
    Document,
    DocumentProgress,
    EntryDraft,
    ExitDraft,
    LineDraft,
)
from shared.warehouse.documents.vocabulary import TYPES, DocumentKind, doc_num
from shared.warehouse.holds import service as holds
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.partners import codes as partner_codes
from shared.warehouse.settings.values import DispatchRest
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.level_book import LevelBook
from shared.warehouse.warehouses.models import KnownWarehouse
from shared.warehouse.work.models import DocumentReference
from shared.warehouse.work.sources import source_of

_NUMBER = re.compile(r"(EX-)?([1-9][0-9]{0,14})", re.IGNORECASE)
"""The number of an exit document, or its id."""


def create_document(
    tx: Transaction,
    kind: DocumentKind,
    draft: Checked[EntryDraft | ExitDraft],
    *,
    import_id: int | None = None,
) -> CreatedRecord[Document]:
    """Create a document, or return the one that has its reference and type.

    `import_id` is the import that creates the document, if an import does.

    An exit document that names a hold takes its goods: the hold is used in the same transaction.

    Raises:
        RuleBlocked: The draft is valid, but a rule forbids it.
        StaleState: The hold was used or released, or has expired.
    """
    wanted = document_keys(kind, draft)
    if isinstance(draft, InvalidBody):
        tx.fence(kind, wanted)
        found = tx.store.get_many(wanted)
    else:
        _, number = run_all(lambda: tx.fence(kind, wanted), lambda: tx.next_id(kind))
        found = tx.store.get_many(wanted)
        existing = references.existing_id(found, _reference(kind, draft))
        if existing:
            record = repository.COLLECTIONS[kind].get(tx.store, existing)
            return CreatedRecord(
                record, new=False, differing=rules.differences(draft, record.entity)
            )
    known = _codes(draft).known(tx, found)
    draft = lines_in_base_units(draft, found)
    draft = ensure_no_problems(draft, _examine(tx, kind, draft, known))
    if draft.partner_name is None:
        partner = rules.partner_kind(kind, draft.type)
        name = partner_codes.name_of(found, partner, draft.partner_code)
        draft = draft.model_copy(update={"partner_name": name})
    if (hold_id := _hold_id(draft)) is not None:
        holds.use_hold(tx, hold_id, number)
    source = source_of(tx, import_id)
    document = rules.new_document(number, draft, known, tx.now, source=source, import_id=import_id)
    record = _insert(tx, kind, document)
    references.record_use(tx, found.values())
    return CreatedRecord(record, new=True)


def _examine(
    tx: Transaction,
    kind: DocumentKind,
    draft: Checked[EntryDraft | ExitDraft],
    known: MasterData,
    *,
    commits: bool = True,
) -> LineProblems:
    """Return the problems of a document that field validation does not find."""
    found = rules.examine(draft, known)
    lines = list(numbered(_lines_of(draft)))
    invalid = [*found.invalid, *wrong_dates(tx.store, kind, lines, known)]
    blocked = list(found.blocked)
    hold_id = _hold_id(draft)
    if hold_id is not None:
        # It orders at most what is held, so that it takes nothing of what can be sold.
        of_hold = holds.examine_use(tx.store, hold_id, draft.warehouse_code, lines, known)
        invalid += of_hold.invalid
        blocked += of_hold.blocked
    elif oversell.is_refused(tx.company, kind):
        oversold = LevelBook.of(tx).limit(oversell.ordered(draft, known), commits=commits)
        if oversold and commits:
            # By a concurrent request with the same reference, maybe: its document is the answer.
            tx.read_twice("oversold")
        blocked += oversold
    return LineProblems(invalid, blocked)


def _hold_id(draft: Checked[EntryDraft | ExitDraft]) -> int | None:
    number: int | None = getattr(draft, "hold_id", None)
    return number


def _lines_of(draft: Checked[EntryDraft | ExitDraft]) -> Sequence[Checked[LineDraft]]:
    return draft.lines or ()


def wrong_dates(
    store: Store,
    kind: DocumentKind,
    lines: Iterable[tuple[str, Checked[LineDraft]]],
    known: MasterData,
) -> list[Problem]:
    """Return the problems of new lines, with their paths, that name another date than is in stock.

    What a line of an exit document names is to be picked, so its batch must have its date.
    """
    if kind == "entry":
        return []
    dated = [
        (path, product.item_code, (product.id, line.batch), line.expiry_date)
        for path, line in lines
        if (product := known.products.get(line.item_code or "")) and line.batch and line.expiry_date
    ]
    wanted: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
    for *_, lot, date in dated:
        wanted[lot].add(date)
    there = stock.other_dates(store, wanted) if wanted else {}
    return [
        Problem(
            f"{path}.expiry_date",
            stock.date_refusal(item_code, lot[1], there[lot], date),
        )
        for path, item_code, lot, date in dated
        if lot in there and there[lot] != date
    ]


def _insert(tx: Transaction, kind: DocumentKind, document: Document) -> Record[Document]:
    record = repository.COLLECTIONS[kind].insert(tx, document.id, document)
    repository.put_reference(tx, kind, document)
    references.register_references(tx, kind, document.id, document.named)
    return record


def insert_exit_with_work(
    tx: Transaction,
    draft: ExitDraft,
    products: Mapping[str, KnownProduct],
    warehouse: KnownWarehouse,
    *,
    work: int,
) -> Record[Document]:
    """Create an exit document on which the picking with the id `work` is in progress.

    Its draft is valid, and its reference is free: the commit raises StaleRead if it is not.
    """
    known = MasterData(products, {warehouse.whs_code: warehouse}, {})
    number, source = tx.next_id("exit"), source_of(tx)
    document = rules.new_document(number, draft, known, tx.now, source=source)
    progress = DocumentProgress(started_work=work)
    return _insert(tx, "exit", rules.advanced(document, progress))


def has_reference(store: Store, kind: DocumentKind, document_type: str, external_ref: str) -> bool:
    """Return whether a document has a type and reference."""
    return store.get(repository.reference_key(kind, document_type, external_ref)) is not None


def examine_document(
    tx: Transaction, kind: DocumentKind, draft: Checked[EntryDraft | ExitDraft]
) -> tuple[int | None, list[Problem]]:
    """Check a draft without writing.

    Returns:
        The id of the document that already has the reference and type of the draft, or None;
        and the problems that field validation does not find.
    """
    found = tx.store.get_many(keys_to_examine(kind, draft))
    known = _codes(draft).known(tx, found)
    counted = lines_in_base_units(draft, found)
    findings = _examine(tx, kind, counted, known, commits=False)
    existing = references.existing_id(found, _reference(kind, draft))
    return existing, [*more_problems(counted, draft), *findings.all]


def document_differences(
    store: Store, kind: DocumentKind, drafts: Mapping[int, EntryDraft | ExitDraft]
) -> Mapping[int, Sequence[str]]:
    """Return the fields in which drafts differ from the documents with their ids."""
    records = get_documents(store, kind, drafts)
    return {one.id: rules.differences(drafts[one.id], one.entity) for one in records}


def document_of(
    store: Store, kind: DocumentKind, document_type: str, external_ref: str
) -> Record[Document] | None:
    """Return the document with a type and reference, or None."""
    alias = store.get(repository.reference_key(kind, document_type, external_ref))
    return repository.COLLECTIONS[kind].get(store, int(alias["id"])) if alias else None


def exit_documents_named(store: Store, names: Iterable[str]) -> Mapping[str, Sequence[int]]:
    """Return the ids of the exit documents that each name may mean.

    A name is a document number such as EX-12, the reference of a document of any type, or an id.
    """
    found: dict[str, set[int]] = {name: set() for name in names}
    keys = {
        repository.reference_key("exit", document_type, name): name
        for name in found
        for document_type in TYPES["exit"]
    }
    for key, alias in store.get_many(keys).items():
        found[keys[key]].add(int(alias["id"]))
    numbers = {name: int(match[2]) for name in found if (match := _NUMBER.fullmatch(name))}
    existing = {one.id for one in get_documents(store, "exit", sorted({*numbers.values()}))}
    for name, number in numbers.items():
        if not name.isdecimal():
            found[name] = {number}
        elif number in existing:
            found[name].add(number)
    return {name: sorted(ids) for name, ids in found.items()}


def close_document(tx: Transaction, kind: DocumentKind, number: int) -> Record[Document]:
    """Close a document; open quantities of its lines become 0.

    Raises:
        Conflict: Work on it is in progress, or goods are staged for it.
    """
    collection = repository.COLLECTIONS[kind]
    record = collection.get(tx.store, number)
    ensure(kind, record.entity, "close")
    changed = collection.save(tx, record, rules.closed(record.entity))
    references.release_references(tx, kind, number)
    return changed


def ensure(kind: DocumentKind, document: Document, action: str) -> None:
    """Raise an error unless the state of a document admits an action: see `ActionTable.ensure`."""
    ACTIONS[kind].ensure(document, action)


def get_documents(
    store: Store, kind: DocumentKind, numbers: Iterable[int]
) -> list[Record[Document]]:
    """Return the existing documents with these ids, in the order of the ids."""
    return repository.COLLECTIONS[kind].get_many(store, numbers)


def advance_document(
    tx: Transaction, kind: DocumentKind, record: Record[Document], progress: DocumentProgress
) -> Record[Document]:
    """Record the progress of a document and return the changed document."""
    return save(tx, kind, record, rules.advanced(record.entity, progress))


def save(
    tx: Transaction, kind: DocumentKind, record: Record[Document], after: Document
) -> Record[Document]:
    """Replace a document by `after`.

    The document is in the register of references to master data while something is open: itself,
    or work on it.
    """
    before = record.entity
    changed = repository.COLLECTIONS[kind].save(tx, record, after)
    if before.is_open and not after.is_open:
        references.release_references(tx, kind, record.id)
    elif after.is_open and not (before.is_open and before.named == after.named):
        references.register_references(tx, kind, record.id, after.named)
    return changed


def record_dispatch(
    tx: Transaction, record: Record[Document], rest: DispatchRest, shown: Mapping[str, object]
) -> Record[Document]:
    """Record that the staged goods of an exit document left, and raise shipment.dispatched.

    The document is closed, unless `rest` keeps open quantities. `shown` is what the event shows in
    addition to the document, what left and whether the rest is open.
    """
    changed = save(tx, "exit", record, rules.dispatched(record.entity, rest))
    shown = {
        **shown,
        "shipped": rules.shipped(record.entity),
        "rest": "closed" if changed.entity.status == "closed" else "open",
    }
    raise_record_event(tx, "shipment.dispatched", views.EXIT_DOCUMENT_EVENTS, changed, shown)
    return changed


def get_document(store: Store, kind: DocumentKind, number: int) -> Record[Document]:
    """Return a document."""
    return repository.COLLECTIONS[kind].get(store, number)


list_documents = repository.list_documents
document_after = rules.advanced


def reference_to(kind: DocumentKind, record: Record[Document]) -> DocumentReference:
    """Return what a receipt or picking keeps of its document."""
    document = record.entity
    return DocumentReference(
        id=record.id,
        type=document.type,
        doc_num=doc_num(kind, record.id),
        card_code=document.card_code,
        external_ref=document.external_ref,
    )


def document_keys(kind: DocumentKind, draft: Checked[EntryDraft | ExitDraft]) -> list[Key]:
    """Return the keys of all items that `create_document` reads for a draft."""
    keys = [*keys_to_examine(kind, draft), *holds.keys_of(_hold_id(draft))]
    if not isinstance(draft, InvalidBody):
        partner = rules.partner_kind(kind, draft.type)
        keys += partner_codes.name_keys(partner, draft.partner_code, draft.partner_name)
    return keys


def keys_to_examine(kind: DocumentKind, draft: Checked[EntryDraft | ExitDraft]) -> list[Key]:
    """Return the keys of all items that `examine_document` reads for a draft."""
    reference = _reference(kind, draft)
    return [*([reference] if reference else []), *_codes(draft).keys]


oversell_keys = oversell.keys_to_read


def _reference(kind: DocumentKind, draft: Checked[EntryDraft | ExitDraft]) -> Key | None:
    if not (draft.external_ref and draft.type):
        return None
    return repository.reference_key(kind, draft.type, draft.external_ref)


def _codes(draft: Checked[EntryDraft | ExitDraft]) -> NamedCodes:
    whs_code, lines = draft.warehouse_code, draft.lines or ()
    return NamedCodes(
        products=(line.item_code for line in lines),
        warehouses=[whs_code],
        positions=((whs_code, rules.destination_bin(line)) for line in lines),
    )
