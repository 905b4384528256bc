"""Unlocking a user whose failed sign-ins have reached a limit."""

from collections.abc import Iterator
from itertools import batched
from typing import Any, NamedTuple

from operations.list_pages import read_all_pages
from operations.operator_identity import run_as_operator
from shared.identity.audit.models import AuditParameters, StoredEntry
from shared.identity.audit.service import list_entries
from shared.identity.audit.service import record as audit
from shared.identity.auth.attempt_limits import (
    LONG_WINDOW,
    AttemptCounter,
    AttemptCounters,
)
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import read_items
from shared.identity.users import logins
from shared.identity.users.models import User
from shared.identity.users.service import get_account, get_user_by_name
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.json_text import loads

_KEYS_PER_READ = 100


class Unlocked(NamedTuple):
    """The result of unlocking a user."""

    user: User
    addresses: list[str]
    """Addresses at which the user name has failures in this quarter of an hour."""
    failures: int
    """The greatest number of failures that a counter had; 0 if there was none."""
    wrong_codes: int
    """Wrong codes of the user since the last right one."""


def unlock_user(tenant: str, username: str) -> Unlocked:
    """Set the failed attempts of a user to 0, at every address and over all; wrong codes, too.

    The addresses are those of the audit log, which has the first failure at each. The limit of an
    address for all users stays. Safe to repeat: an interrupted run is completed by the next one,
    and both together make one entry in the audit log.

    Raises:
        NotFound: There is no such tenant or user.
    """
    store = operator_store(tenant)
    user = get_user_by_name(store, username).entity
    now = now_ms() / 1000
    addresses = sorted(set(_addresses(store, user, now)))
    failed = _counters_with_failures(tenant, user, addresses, now)
    # The greatest one last, with the entry: while it is left, the next run makes the entry.
    ordered = sorted(failed, key=lambda counter: failed[counter])
    others, last = ordered[:-1], ordered[-1] if ordered else None
    failures = max(failed.values(), default=0)

    def use_case(tx: Transaction) -> int:
        login = get_account(tx, user.id).login
        if last:
            tx.add_action("Update", _reset_of(last))
        if login.wrong_codes:
            logins.save(tx, login, login.without_wrong_codes())
        if last or login.wrong_codes:
            details = {"username": user.username, "failures": failures}
            details |= {"wrong_codes": login.wrong_codes}
            audit(tx, "user.unlocked", "user", user.id, details=details)
        return login.wrong_codes

    map_concurrently(_reset, others)
    return Unlocked(user, addresses, failures, run_as_operator(store.slug, use_case))


def _addresses(store: Store, user: User, now: float) -> Iterator[str]:
    """Yield the addresses of the entries about failures of the user in the present long window."""
    since = instant(int(now) // LONG_WINDOW * LONG_WINDOW * 1000)
    wanted = {"target_type": "user", "target": str(user.id), "updated_since": since}

    def read(page: int) -> Page[StoredEntry]:
        parameters = AuditParameters.model_validate({**wanted, "page": page, "per_page": 100})
        return list_entries(store, parameters)

    for entry in read_all_pages(read):
        if entry.action in {"user.sign_in_failed", "user.locked_out"}:
            yield loads(entry.details_json)["address"]


def _counters_with_failures(
    tenant: str, user: User, addresses: list[str], now: float
) -> dict[AttemptCounter, int]:
    """Return the counters of the user that have failures, with their number."""
    every = {
        counter.key: counter
        # the counter over all addresses is the same for each; "" finds it without any
        for address in [*addresses, ""]
        for counter in AttemptCounters.for_user(tenant, user.username, address, now).counters
        if counter.kind != "address"
    }
    found = [
        (every[key], int(item["failures"]["N"]))
        for keys in batched(every, _KEYS_PER_READ, strict=False)
        for key, item in read_items(keys).items()
    ]
    return {counter: failures for counter, failures in found if failures}


def _reset(counter: AttemptCounter) -> None:
    client("dynamodb").update_item(**_reset_of(counter))


def _reset_of(counter: AttemptCounter) -> dict[str, Any]:
    """Return the Update that sets the failures of a counter to 0; attempts in flight stay."""
    return {
        "TableName": config().control_table,
        "Key": {"pk": {"S": counter.key}},
        "UpdateExpression": "SET failures = :none, in_flight = if_not_exists(in_flight, :none),"
        " expires_at = :ends",
        "ExpressionAttributeValues": {
            ":none": {"N": "0"},
            ":ends": {"N": str(counter.ends_at)},
        },
    }
