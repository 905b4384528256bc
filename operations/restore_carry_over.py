"""What a restored table must not forget: given ids, ended access and deactivated subscriptions.

Imports, exports and reconciliations of files that were running at its moment end, because no
message continues them.

All of it is written into the restored table before requests reach it, while no request can change
the present one. Every function can be repeated.
"""

from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import batched

from operations.operator_identity import operator_name
from shared.identity.names import USER_KIND
from shared.identity.users import logins, passwords
from shared.identity.users.logins import Login, login_from_items, login_key
from shared.identity.users.models import User
from shared.identity.users.repository import USERS
from shared.integration.exports import actions as exports
from shared.integration.exports.repository import EXPORTS
from shared.integration.imports import context as imports
from shared.integration.imports.repository import IMPORTS
from shared.integration.reconciliations import context as reconciliations
from shared.integration.reconciliations.repository import (
    KIND as RECONCILIATION_KIND,
)
from shared.integration.reconciliations.repository import (
    get_reconciliation,
    put_reconciliation,
)
from shared.integration.webhooks.repository import WEBHOOKS, read_register, stage_registration
from shared.integration.webhooks.service import deactivate
from shared.kernel.db.items import encode, key_of
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import NotFound

_USERS_PER_TRANSACTION = 10


def raise_sequences(present: Store, restored: Store) -> None:
    """Let the restored table give no id that the present one has given to another entity."""
    dynamodb = restored.client
    page = present.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :sequences",
        values={":sequences": "sequence"},
        ConsistentRead=True,
    )  # one item for each kind of entity: never a second page
    for item in page.items:
        try:
            dynamodb.update_item(
                TableName=restored.table,
                Key=key_attributes(key_of(item)),
                UpdateExpression="SET #last = :last",
                ConditionExpression="attribute_not_exists(#last) OR #last < :last",
                ExpressionAttributeNames={"#last": "last"},
                ExpressionAttributeValues={":last": encode(item["last"])},
            )
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue  # an earlier run has raised it, or nothing was created since


def keep_access_ended(present: Store, restored: Store) -> list[str]:
    """End every session, and keep today's passwords and second factors of the users.

    A user who was deleted or disabled since cannot sign in until the password is reset.

    Returns:
        The names of these users.
    """
    locked: list[str] = []
    numbers = range(1, last_id(restored, USER_KIND) + 1)
    for chunk in batched(numbers, _USERS_PER_TRANSACTION, strict=False):

        def use_case(tx: Transaction, chunk: tuple[int, ...] = chunk) -> list[str]:
            return _carry_logins(tx, present, chunk)

        locked += run_transaction(restored, use_case, operator=cache(operator_name))
    return locked


def _carry_logins(tx: Transaction, present: Store, numbers: tuple[int, ...]) -> list[str]:
    keys = [login_key(number) for number in numbers]
    restored_logins, present_logins = tx.store.get_many(keys), present.get_many(keys)
    present_users = {each.id: each.entity for each in USERS.get_many(present, numbers)}
    locked: list[str] = []
    for record in USERS.get_many(tx.store, numbers):
        user, before = record.entity, login_from_items(restored_logins, record.id)
        if before is None:
            continue
        today = login_from_items(present_logins, record.id)
        if _was_ended(user, present_users.get(record.id)):
            locked.append(user.username)
            after = _merged(before, _unknown_password(before))
        else:
            after = _merged(before, today or before)
        logins.save(tx, before, after)
        if user.two_step != after.two_step:
            USERS.update(tx, record, {"two_step": after.two_step})
    return locked


def _was_ended(restored: User, today: User | None) -> bool:
    return restored.is_active and (today is None or not today.is_active)


def _unknown_password(login: Login) -> Login:
    return replace(login, password=passwords.hash_password(passwords.generate_password()))


def _merged(before: Login, today: Login) -> Login:
    """Return today's login, in an epoch in which no session of either table began."""
    return replace(
        today,
        version=before.version,
        epoch=max(before.epoch, today.epoch),
        tokens_from=max(before.tokens_from, today.tokens_from),
    ).end_sessions()


def keep_webhooks_inactive(tx: Transaction, present: Store) -> list[int]:
    """Add the deactivation of the subscriptions that are not active today; return their ids.

    The transaction is that of the switch, so that a run that was cut off before it hides none from
    the next one.
    """
    active = read_register(present).active_events.keys()
    register = read_register(tx.store)
    changed = deactivate(tx, WEBHOOKS.get_many(tx.store, sorted(register.ids - active)))
    if changed:
        stage_registration(tx, register, *changed)
    return [webhook.id for webhook in changed]


def fail_queued_work(restored: Store) -> None:
    """Set what was running at the moment to `failed`: the messages of the worker are gone."""
    for status in sorted(imports.IN_PROGRESS):
        for numbers in id_pages(restored, IMPORTS, "status", status):
            for number in numbers:
                run_transaction(restored, partial(_fail_import, number=number))
    for status in sorted(exports.IN_PROGRESS):
        for numbers in id_pages(restored, EXPORTS, "status", status):
            for number in numbers:
                run_transaction(restored, partial(_fail_export, number=number))
    # No list shows reconciliations, so nothing but their ids leads to them.
    for number in range(1, last_id(restored, RECONCILIATION_KIND) + 1):
        run_transaction(restored, partial(_fail_reconciliation, number=number))


def _fail_import(tx: Transaction, number: int) -> None:
    record = IMPORTS.get(tx.store, number)
    stored = record.entity
    if stored.status in imports.IN_PROGRESS:
        action = "Commit the import again." if stored.readable else "Upload the file again."
        problem = f"The data was restored to a moment at which the import was running. {action}"
        IMPORTS.save(tx, record, stored, status="failed", structure_errors=[problem], busy_until=0)


def _fail_export(tx: Transaction, number: int) -> None:
    record = EXPORTS.get(tx.store, number)
    if record.entity.status in exports.IN_PROGRESS:
        failure = "The data was restored to a moment at which the export was running."
        EXPORTS.save(tx, record, record.entity, status="failed", failure=failure, busy_until=0)


def _fail_reconciliation(tx: Transaction, number: int) -> None:
    with suppress(NotFound):
        record = get_reconciliation(tx.store, number)
        if record.entity.status in reconciliations.IN_PROGRESS:
            failure = "The data was restored to a moment at which the reconciliation was running."
            ended = {"status": "failed", "failure": failure, "busy_until": 0, "updated_at": tx.now}
            put_reconciliation(tx, record.entity.model_copy(update=ended), record)
