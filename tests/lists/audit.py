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
    "webhook.tested", "webhook.redelivered", "webhook.recovered",
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


AUDIT_LIST = spec.Listed(
    path="/audit-log",
    collection=AUDIT,
    make=_entry,
    period=True,
    immutable=True,
    fields=spec.fields("""
        integer: id
        string: action actor.type actor.id? actor.name? target.type target.id?
        string: details.item_code reason? request_id?
        number: changes.qty.from changes.qty.to
        object: actor target changes changes.qty details
        date-time: created_at
    """),
    filters={
        "action": spec.among("action", _ACTIONS, wrong=("", "client", "client.*"), narrow=True),
        "actor_type": spec.among("actor.type", _ACTORS, wrong=_WRONG, narrow=False),
        "actor": spec.equal("actor.id", lambda number: _actor_id(number // 3 * 3 or 3) or ""),
        "target_type": spec.among("target.type", _TARGETS, wrong=_WRONG, narrow=False),
        "target": spec.equal("target.id", lambda number: _target_id(number | 1)),
    },
    sorts=spec.sorted_by("created_at"),
)
