"""Import of returns: what customers have announced to send back."""

from collections.abc import Iterator, Mapping, Sequence

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import ReferencedImporter
from shared.integration.imports.kinds.standard_columns import (
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_REFERENCE,
    LINE_UNIT,
    line_batch,
    line_serials,
    reference_column,
    words_of,
)
from shared.integration.imports.kinds.value_words import REASONS, TITLES
from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.db.items import Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.fields import Input, Reference
from shared.kernel.validation import Checked, InvalidBody, check
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.returns import service as returns
from shared.warehouse.returns.models import ReturnDraft, StoredReturn

_WORDS = words_of("returns")
_COLUMNS = (
    reference_column(_WORDS, aliases=("return", "devolución", "rma")),
    Column(_WORDS, "exit_document_id", synonyms=("exit document", "documento de salida")),
    Column(_WORDS, "warehouse_code", aliases=("whs_code",)),
    Column(
        _WORDS,
        "partner_code",
        synonyms=("client code", "código de cliente"),
        aliases=("card code", "client", "cliente"),
    ),
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_UNIT,
    Column(
        _WORDS,
        "reason",
        choices=[*REASONS.values()],
        keys=[*REASONS],
        is_line_field=True,
    ),
    line_batch("batch"),
    line_serials("serials"),
    LINE_REFERENCE,
)


_EXIT = "exit_document_id"


class _Origin(Input):
    """How a file names an exit document."""

    exit_document_id: Reference


def _origin_problems(name: str, found: Sequence[int]) -> Iterator[Problem]:
    if not found:
        yield Problem(_EXIT, f"no exit document has the number, reference or id {name}")
    elif len(found) > 1:
        numbers = ", ".join(doc_num("exit", number) for number in found)
        yield Problem(_EXIT, f"{name} may mean {numbers}; write one of these numbers")


class ReturnImporter(ReferencedImporter):
    """Creates expected returns.

    One in a transaction: two of them may take goods of one exit document.
    """

    layout = FileLayout(
        TITLES["returns"],
        _COLUMNS,
        group_by=("external_ref",),
    )
    model = ReturnDraft
    id_sequence = "return"
    line_sequence = returns.LINE_SEQUENCE
    max_actions = MAX_PLANNED_ACTIONS // 2

    def resolve(
        self, store: Store, bodies: Sequence[dict[str, object]]
    ) -> Sequence[Sequence[Problem]]:
        """See Importer. The exit document becomes its id."""
        drafts = [
            check(_Origin, {_EXIT: body[_EXIT]}) if isinstance(body.get(_EXIT), str) else None
            for body in bodies
        ]
        names = {one.exit_document_id for one in drafts if isinstance(one, _Origin)}
        named = documents.exit_documents_named(store, sorted(names)) if names else {}
        problems: list[Sequence[Problem]] = []
        for body, draft in zip(bodies, drafts, strict=True):
            found: Sequence[Problem] = ()
            if isinstance(draft, InvalidBody):
                found = draft.problems
            elif draft is not None:
                name = draft.exit_document_id
                found = list(_origin_problems(name, named[name]))
                body[_EXIT] = next(iter(named[name]), None)
            if found:
                del body[_EXIT]
            problems.append(found)
        return problems

    def keys(self, draft: Checked[ReturnDraft]) -> list[Key]:
        """See Importer."""
        return returns.return_keys(draft, None)

    def examine(
        self, tx: Transaction, draft: Checked[ReturnDraft]
    ) -> tuple[int | None, Sequence[Problem]]:
        """See ReferencedImporter."""
        return returns.examine_return(tx, draft)

    def differences(
        self, store: Store, drafts: Mapping[int, ReturnDraft]
    ) -> Mapping[int, Sequence[str]]:
        """See Importer."""
        return returns.return_differences(store, drafts)

    def create(
        self, tx: Transaction, draft: ReturnDraft, import_id: int
    ) -> CreatedRecord[StoredReturn]:
        """See ReferencedImporter."""
        return returns.create_return(tx, draft, import_id=import_id)
