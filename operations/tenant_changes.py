"""What operators change of a tenant, in one transaction with the entry in its audit log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.audit import service as audit
from shared.identity.audit.models import AuditAction
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import NOT_THERE, described, read, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import NotFound

type Attributes = Mapping[str, Mapping[str, Any] | None]
"""Name → value in DynamoDB's JSON, None for an attribute that is not there."""

_REASONS = {
    "creating": "whose creation was not finished (create it again)",
    "deleting": "whose deletion was not finished (delete it again)",
    "deleted": "which was deleted",
}


@dataclass(frozen=True, slots=True)
class ControlTableUpdate:
    """An Update of another item of the control table, in the same transaction."""

    body: dict[str, Any]
    on_condition_failed: Callable[[], Exception]


def show_tenant(slug: str) -> Tenant:
    """Read a tenant as it is at this moment.

    Raises:
        NotFound: There is none, none yet, or none any more.
    """
    return described(_item(slug))


def change_tenant(
    slug: str, action: AuditAction, wanted: Attributes, extra_update: ControlTableUpdate | None = None
) -> Tenant:
    """Change attributes of a tenant's item; doors follow within 10 s. Safe to repeat.

    What is so already changes nothing, and is not told in the audit log.

    Raises:
        NotFound: There is no such tenant, none yet, or none any more.
        Exception: What `claim` stands for, when its condition fails.
    """
    run_transaction(store_for(slug), lambda tx: _add_changes(tx, action, wanted, extra_update))
    return show_tenant(slug)


def _item(slug: str) -> Mapping[str, Any]:
    item = read(tenant_key(slug))
    if item is None:
        raise NotFound(f"The tenant {slug}")
    if item["state"]["S"] in NOT_THERE:
        raise NotFound(f"The tenant {slug}, {_REASONS[item['state']['S']]},")
    return item


def _add_changes(
    tx: Transaction, action: AuditAction, wanted: Attributes, extra_update: ControlTableUpdate | None
) -> None:
    slug = tx.store.slug
    item = _item(slug)
    seen = {name: item.get(name) for name in wanted}
    if extra_update:
        tx.add_action("Update", extra_update.body, extra_update.on_condition_failed)
    if seen == dict(wanted):
        return
    set_, removed = _split_changes(wanted)
    expression = " ".join(
        word
        for word in (
            "SET " + ", ".join(f"#{name} = :{name}" for name in set_) if set_ else "",
            "REMOVE " + ", ".join(f"#{name}" for name in removed) if removed else "",
        )
        if word
    )
    # conditioned on all that was seen, so that the entry tells the truth
    as_seen = [
        f"attribute_not_exists(#{name})" if value is None else f"#{name} = :seen_{name}"
        for name, value in {**seen, "state": item["state"]}.items()
    ]
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(slug)}},
            "UpdateExpression": expression,
            "ConditionExpression": " AND ".join(as_seen),
            "ExpressionAttributeNames": {f"#{name}": name for name in {*wanted, "state"}},
            "ExpressionAttributeValues": {
                **{f":{name}": wanted[name] for name in set_},
                **{f":seen_{name}": value for name, value in seen.items() if value is not None},
                ":seen_state": item["state"],
            },
        },
    )
    told = {
        name: (_plain(seen[name]), _plain(wanted[name]))
        for name in wanted
        if seen[name] != wanted[name]
    }
    audit.record(tx, action, "tenant", slug, changes=told)


def _split_changes(wanted: Attributes) -> tuple[list[str], list[str]]:
    """Names that get a value, and names that lose theirs."""
    return (
        [name for name, value in wanted.items() if value is not None],
        [name for name, value in wanted.items() if value is None],
    )


def _plain(value: Mapping[str, Any] | None) -> str | int | None:
    if value is None:
        return None
    return int(value["N"]) if "N" in value else str(value["S"])
