"""The use case that changes a document: its fields, the quantities of its lines, and new lines."""

from shared.kernel import references
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.metadata import merge_problems
from shared.kernel.validation import Checked, InvalidBody
from shared.warehouse.catalog.lines import LineProblems, ensure_no_problems
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.documents import actions, change_rules, oversell, repository, rules, service
from shared.warehouse.documents.models import Document, EntryChange, ExitChange
from shared.warehouse.documents.vocabulary import DocumentKind
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.stock.level_book import LevelBook


def change_document(
    tx: Transaction, kind: DocumentKind, number: int, change: Checked[EntryChange | ExitChange]
) -> Record[Document]:
    """Change a document that is not closed; without a change, nothing is written.

    Raises:
        Conflict: Lines would change while work on the document has not ended.
        RuleBlocked: The change is valid, but a rule forbids one of the new lines.
    """
    record = repository.COLLECTIONS[kind].get(tx.store, number)
    document = record.entity
    actions.ensure_changeable(document)
    is_of_lines = not isinstance(change, InvalidBody) and change_rules.changes_lines(
        change, document
    )
    if is_of_lines and (refusal := actions.work_in_progress(kind, document)):
        raise Conflict(refusal)
    added = change_rules.new_lines(change)
    # What a document names may be renamed or deleted while nothing of the document is open.
    reopens = not document.is_open and change_rules.orders_more(change, document)
    if added or reopens:
        tx.fence(kind)
    codes = NamedCodes(
        warehouses=[document.whs_code] if reopens else (),
        products=[
            *(line.item_code for line in change.lines or ()),
            *change_rules.codes_to_check(document, change),
        ],
        positions=((document.whs_code, rules.destination_bin(line)) for _, line in added),
    )
    found = tx.store.get_many(codes.keys) if codes.keys else {}
    known = codes.known(tx, found)
    change = lines_in_base_units(change, found)
    added = change_rules.new_lines(change)
    present = change_rules.with_quantities(document, change).lines
    of_goods = rules.examine_new_lines(added, document.whs_code, known, present)
    problems = [
        *merge_problems(document.metadata, change),
        *(change_rules.former_problems(document, change, known) if reopens else ()),
        *change_rules.line_problems(kind, document, change, known),
        *of_goods.invalid,
        *service.wrong_dates(tx.store, kind, added, known),
    ]
    blocked = list(of_goods.blocked)
    if oversell.is_refused(tx.company, kind) and change_rules.orders_more(change, document):
        blocked += LevelBook.of(tx).limit(oversell.ordered_more(document, change, known))
    valid = ensure_no_problems(change, LineProblems(problems, blocked))
    after = change_rules.changed(document, valid, known)
    if after == document:
        return record
    changed = service.save(tx, kind, record, after)
    if added:
        references.record_use(tx, found.values())
    return changed
