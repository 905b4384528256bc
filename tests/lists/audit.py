"""The list of the audit log."""

from shared.identity.audit.models import StoredEntry
from shared.identity.audit.repository import AUDIT
from tests.lists import spec

_ACTIONS = (
    "client.created", "client.changed", "client.rotated", "client.revoked",
    "user.created", "user.changed", "user.disabled", "user.enabled", "user.deleted",
    "user.password_reset", "user.password_changed", "user.totp_enrolled", "user.totp_removed",
    "user.recovery_codes_replaced",
    "role.created", "role.changed", "role.deleted",
    "session.reused",
    "settings.changed",
    "tenant.changed", "tenant.suspended", "tenant.resumed",
    "tenant.cancelled", "tenant.moved", "tenant.exported",
    "stock.adjusted",
    "webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.deleted",
    "webhook.tested", "webhook.redelivered",
)  # fmt: skip
_ACTORS = ("client", "user", "operator")
_TARGETS = (
    "client", "user", "role", "session", "settings", "tenant", "stock_movement", "webhook",
)  # fmt: skip
_WRONG = ("", "nobody", "Client")


def _actor_id(number: int) -> str | None:
    # every third actor is an operator, without an id
    return None if number % 3 == 2 else f"stw_acme_{number // 8:024x}"


def _target_id(number: int) -> str:
    return str(number // 5)


def _entry(number: int, times: spec.Times) -> StoredEntry:
    return StoredEntry.model_validate(
        {
            "action": _ACTIONS[number % len(_ACTIONS)],
            "actor": {
                "type": _ACTORS[number % 3],
                "id": _actor_id(number),
                "name": spec.unless(number, 2, "marta"),
            },
            "target": {
                "type": _TARGETS[number % len(_TARGETS)],
                "id": spec.unless(number, 4, _target_id(number)),
            },
            "changes_json": '{"qty":{"from":2,"to":2.000001}}',
            "details_json": '{"item_code":"BOLT-M8"}',
            "reason": spec.unless(number, 2, "Cycle count"),
            "request_id": spec.unless(number, 3, f"6ad12d2b-0000-4000-8000-{number:012d}"),
            "created_at": times.created(number),
        }
    )


def _type(part: str, types: tuple[str, ...]) -> spec.Filter:
    def holds(row: spec.Row, value: str) -> bool:
        return bool(row[part]["type"] == value)

    return spec.Filter(lambda _: types, holds, _WRONG)


AUDIT_LIST = spec.Listed(
    path="/audit-log",
    collection=AUDIT,
    make=_entry,
    period=True,
    immutable=True,
    fields=spec.fields("""
        id integer
        action string
        actor object
        actor.type string
        actor.id string?
        actor.name string?
        target object
        target.type string
        target.id string?
        changes object
        changes.qty object
        changes.qty.from number
        changes.qty.to number
        details object
        details.item_code string
        reason string?
        request_id string?
        created_at date-time
    """),
    filters={
        "action": spec.among("action", _ACTIONS, wrong=("", "client", "client.*"), narrow=True),
        "actor_type": _type("actor", _ACTORS),
        "actor": spec.Filter(
            lambda count: (_actor_id(count // 2 // 3 * 3 or 3) or "", "nobody"),
            lambda row, asked: row["actor"]["id"] == asked,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "target_type": _type("target", _TARGETS),
        "target": spec.Filter(
            lambda count: (_target_id(count // 2 | 1), "nothing"),
            lambda row, asked: row["target"]["id"] == asked,
            spec.INVALID_TEXTS,
            selective=True,
        ),
    },
    sorts={"created_at": spec.by("created_at")},
    default_sort="-created_at",
)
