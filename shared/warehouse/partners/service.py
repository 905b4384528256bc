"""Use cases of clients and providers.

Documents have copies of the code and name of their partner, so a partner can be changed or
deleted at any time.
"""

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import item_at
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.partners import repository
from shared.warehouse.partners.models import (
    Client,
    ClientChange,
    ClientCreate,
    Provider,
    ProviderChange,
    ProviderCreate,
)
from shared.warehouse.partners.repository import CLIENTS, PROVIDERS

# Clients


def create_client(tx: Transaction, draft: Checked[ClientCreate]) -> Record[Client]:
    """Create a client."""
    draft = ensure_valid(draft, _document_id_problems(tx.store, draft.document_id))
    record = CLIENTS.create(tx, draft.model_dump())
    tx.insert(item_at(repository.document_id_key(draft.document_id), id=record.id))
    return record


def change_client(tx: Transaction, number: int, change: Checked[ClientChange]) -> Record[Client]:
    """Change the fields sent."""
    record = CLIENTS.get(tx.store, number)
    before = record.entity
    renumbered = (
        "document_id" in change.model_fields_set and change.document_id != before.document_id
    )
    found = _document_id_problems(tx.store, change.document_id, number) if renumbered else []
    sent = ensure_valid(change, found).model_dump(exclude_unset=True)
    if renumbered:
        tx.delete(repository.document_id_key(before.document_id))
        tx.insert(item_at(repository.document_id_key(sent["document_id"]), id=number))
    return CLIENTS.update(tx, record, sent)


def delete_client(tx: Transaction, number: int) -> Record[Client]:
    """Delete a client; its tax document number can be used again."""
    record = CLIENTS.delete(tx, number)
    tx.delete(repository.document_id_key(record.entity.document_id))
    return record


def _document_id_problems(
    store: Store, document_id: int | None, number: int | None = None
) -> list[Problem]:
    """Return a problem if a client has the tax document number.

    `document_id` is None if the field is invalid, `number` the id of the client whose number
    changes.

    Raises:
        StaleRead: It is the number of this client: it was changed a moment ago.
    """
    alias = None if document_id is None else store.get(repository.document_id_key(document_id))
    if alias is None:
        return []
    if alias["id"] == number:
        raise StaleRead
    return [Problem("document_id", "is already taken by another client")]


get_client = CLIENTS.get
list_clients = repository.list_clients


# Providers


def create_provider(tx: Transaction, draft: Checked[ProviderCreate]) -> Record[Provider]:
    """Create a provider."""
    return PROVIDERS.create(tx, ensure_valid(draft).model_dump())


def change_provider(
    tx: Transaction, number: int, change: Checked[ProviderChange]
) -> Record[Provider]:
    """Change the fields sent."""
    record = PROVIDERS.get(tx.store, number)
    return PROVIDERS.update(tx, record, ensure_valid(change).model_dump(exclude_unset=True))


delete_provider = PROVIDERS.delete
get_provider = PROVIDERS.get
list_providers = repository.list_providers
