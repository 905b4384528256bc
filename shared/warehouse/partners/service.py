"""Use cases of clients and providers.

Documents have copies of the code and name of their partner, so a partner can be changed or
deleted at any time.
"""

from collections.abc import Mapping, Sequence

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Item, Key, key_of
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.metadata import merge, merge_problems
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.partners import repository
from shared.warehouse.partners.codes import PartnerKind, code_key
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
    draft = ensure_valid(draft, _taken_problems(tx.store, "client", _keys("client", draft)))
    record = CLIENTS.create(tx, draft.model_dump())
    _replace_aliases(tx, [], repository.client_aliases(record.entity))
    return record


def change_client(tx: Transaction, number: int, change: Checked[ClientChange]) -> Record[Client]:
    """Change the fields sent."""
    record = CLIENTS.get(tx.store, number)
    before = record.entity
    wanted = _new_keys("client", change, before)
    found = _taken_problems(tx.store, "client", wanted, number)
    found += merge_problems(before.metadata, change)
    sent = merge(ensure_valid(change, found).model_dump(exclude_unset=True), before.metadata)
    changed = CLIENTS.update(tx, record, sent)
    _replace_aliases(tx, *map(repository.client_aliases, (before, changed.entity)))
    return changed


def delete_client(tx: Transaction, number: int) -> Record[Client]:
    """Delete a client; its tax document number and its code can be used again."""
    record = CLIENTS.delete(tx, number)
    _replace_aliases(tx, repository.client_aliases(record.entity), [])
    return record


get_client = CLIENTS.get
list_clients = repository.list_clients


# Providers


def create_provider(tx: Transaction, draft: Checked[ProviderCreate]) -> Record[Provider]:
    """Create a provider."""
    draft = ensure_valid(draft, _taken_problems(tx.store, "provider", _keys("provider", draft)))
    record = PROVIDERS.create(tx, draft.model_dump())
    _replace_aliases(tx, [], repository.provider_aliases(record.entity))
    return record


def change_provider(
    tx: Transaction, number: int, change: Checked[ProviderChange]
) -> Record[Provider]:
    """Change the fields sent."""
    record = PROVIDERS.get(tx.store, number)
    before = record.entity
    wanted = _new_keys("provider", change, before)
    found = _taken_problems(tx.store, "provider", wanted, number)
    found += merge_problems(before.metadata, change)
    sent = merge(ensure_valid(change, found).model_dump(exclude_unset=True), before.metadata)
    changed = PROVIDERS.update(tx, record, sent)
    _replace_aliases(tx, *map(repository.provider_aliases, (before, changed.entity)))
    return changed


def delete_provider(tx: Transaction, number: int) -> Record[Provider]:
    """Delete a provider; its code can be used again."""
    record = PROVIDERS.delete(tx, number)
    _replace_aliases(tx, repository.provider_aliases(record.entity), [])
    return record


get_provider = PROVIDERS.get
list_providers = repository.list_providers


# What is unique


type _Draft = Checked[ClientCreate] | Checked[ProviderCreate]


def _keys(kind: PartnerKind, draft: _Draft) -> dict[str, Key]:
    """Return the key of the alias of each unique field that a body gives a valid value."""
    number = getattr(draft, "document_id", None)
    keys = {"document_id": repository.document_id_key(number)} if number else {}
    return keys | ({"code": code_key(kind, draft.code)} if draft.code else {})


def _new_keys(kind: PartnerKind, change: _Draft, before: Client | Provider) -> dict[str, Key]:
    """Return the keys of `_keys` of the fields that a change sends with another value."""
    return {
        field: key
        for field, key in _keys(kind, change).items()
        if field in change.model_fields_set and getattr(change, field) != getattr(before, field)
    }


def _taken_problems(
    store: Store, kind: PartnerKind, wanted: Mapping[str, Key], number: int | None = None
) -> list[Problem]:
    """Return a problem of each field whose value another partner has.

    `wanted` has the keys of the aliases by field, `number` is the id of the partner that changes.

    Raises:
        StaleRead: It is the value of this partner: it was changed a moment ago.
    """
    found = store.get_many(wanted.values())
    taken = {field: found[key]["id"] for field, key in wanted.items() if key in found}
    if number in taken.values():
        raise StaleRead
    return [Problem(field, f"is already taken by another {kind}") for field in taken]


def _replace_aliases(tx: Transaction, before: Sequence[Item], after: Sequence[Item]) -> None:
    """Write the aliases of a partner that are new or have another name; delete the others.

    The transaction is conditioned on the partner, whose aliases nothing else writes.
    """
    former = {key_of(alias): alias for alias in before}
    for alias in after:
        present = former.pop(key_of(alias), None)
        if present is None:
            tx.insert(alias)
        elif present != alias:
            tx.put(alias)
    for key in former:
        tx.delete(key)
