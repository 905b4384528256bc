"""`stowage client …`."""

from dataclasses import replace
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.operator import CommandContext, command
from cli.webhooks import deactivate_option, describe_webhooks, show_with_webhooks
from operations import api_clients
from operations.tenant_changes import show_tenant
from shared.identity.auth.client_models import ApiClientChange
from shared.identity.auth.clients import OAuthClient
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.access import operator_store
from shared.integration.webhooks.ended_access import webhooks_of, webhooks_of_changed_client
from shared.kernel.errors import Gone
from shared.kernel.validation import check, ensure_valid

_COLUMNS = ("client_id", "kind", "name", "active", "secrets", "created_at")
_WIDTH = max(map(len, SCOPES))
_SCOPES = "\n".join(f"  {scope:{_WIDTH}}  {gives}" for scope, gives in SCOPES.items())
_SCOPES_HELP = f"\b\nScopes:\n{_SCOPES}"


def _row(client: OAuthClient) -> dict[str, Any]:
    return {
        "client_id": client.client_id,
        "tenant": client.tenant,
        "kind": client.kind,
        "name": client.name,
        "active": client.active,
        "secrets": len(client.secrets),
        "created_at": client.created_at,
        "updated_at": client.updated_at,
        "scopes": sorted(client.scopes),
    }


def _described(client: OAuthClient) -> str:
    return f"The {client.kind} client {client.client_id} ({client.name}) of {client.tenant}"


def _show_once(operator: CommandContext, credentials: api_clients.Credentials) -> None:
    operator.output.one(credentials._asdict())
    operator.output.say("Store the secret now: it cannot be shown again.")


@click.group()
def client() -> None:
    """API clients: the credentials of ERPs, shops and mobile applications."""


@client.command(epilog=_SCOPES_HELP)
@click.argument("tenant")
@click.option("--name", required=True, help="Display name, such as ERP.")
@click.option(
    "--mobile", is_flag=True,
    help="Create a mobile application, with which users sign in: without secret and scopes.",
)  # fmt: skip
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="Scope that its tokens may have; may be repeated. Required without --mobile.",
)  # fmt: skip
@command
def create(
    operator: CommandContext, *, tenant: str, name: str, mobile: bool, scopes: tuple[str, ...]
) -> None:
    """Create an API client of TENANT, and show its secret once.

    Each run creates another client.

    \b
    Examples:
      stowage client create acme --name ERP --scope products:write --scope pickings:write
      stowage client create acme --name shop --scope products:read --scope stocks:read
      stowage client create acme --name "Hand-held scanners" --mobile
    """  # noqa: D301  click reads the backspace
    if mobile and scopes:
        raise click.UsageError(
            "--scope cannot be used with --mobile: permissions of a user replace scopes."
        )
    if not mobile and not scopes:
        raise click.UsageError(
            "--scope is required. Give the client only what it needs, for example --scope "
            f"products:read --scope stocks:read. The scopes:\n{_SCOPES}"
        )
    if mobile:
        operator.output.one({"client_id": api_clients.create_mobile_client(tenant, name).client_id})
    else:
        _show_once(operator, api_clients.create_client(tenant, name, dict.fromkeys(scopes)))


@client.command("list")
@click.argument("tenant")
@command
def list_(operator: CommandContext, *, tenant: str) -> None:
    """List the API clients of TENANT, including revoked ones.

    \b
    Example:
      stowage client list acme
    """  # noqa: D301  click reads the backspace
    show_tenant(tenant)
    operator.output.many([_row(each) for each in api_clients.list_clients(tenant)], _COLUMNS)


@client.command()
@click.argument("client_id")
@command
def show(operator: CommandContext, *, client_id: str) -> None:
    """Show the API client CLIENT_ID, without its secrets.

    \b
    Example:
      stowage client show stw_acme_0123456789abcdef01234567
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(api_clients.show_client(client_id)))


@client.command(epilog=_SCOPES_HELP)
@click.argument("client_id")
@click.option("--name", help="New display name.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="Scope that its tokens may have; may be repeated. The scopes given replace all others.",
)  # fmt: skip
@deactivate_option
@yes_option
@command
def change(  # noqa: PLR0913  the options of the command
    operator: CommandContext, *, client_id: str, name: str | None, scopes: tuple[str, ...],
    deactivate_webhooks: bool, yes: bool,
) -> None:  # fmt: skip
    """Change the name or the scopes of CLIENT_ID.

    When a scope is removed, the client's tokens stop working within 10 s; the command asks for
    confirmation before.

    Without the scope webhooks:manage, the webhook subscriptions that the client created, or whose
    address, secret or activation it set last, are listed. They continue to send events, unless
    --deactivate-webhooks is given; the command can be repeated with it.

    \b
    Examples:
      stowage client change stw_acme_0123456789abcdef01234567 --name Shop
      stowage client change stw_acme_0123456789abcdef01234567 --scope products:read --yes
    """  # noqa: D301  click reads the backspace
    scopes = tuple(dict.fromkeys(scopes))
    known = api_clients.show_client(client_id)
    if scopes and (removed := sorted(known.scopes - {*scopes})):
        raw = {"scopes": list(scopes)} | ({} if name is None else {"name": name})
        change = ensure_valid(check(ApiClientChange, raw))
        after = replace(known, scopes=frozenset(scopes))
        webhooks = describe_webhooks(
            operator_store(known.tenant),
            lambda tx: webhooks_of_changed_client(tx, after, change),
            deactivate=deactivate_webhooks,
        )
        confirm(
            operator,
            f"{_described(known)} loses the scopes {', '.join(removed)}. Its tokens stop working "
            f"within 10 s; it has to request new ones.{webhooks}",
            yes=yes,
        )
    changed, found = api_clients.change_client(
        client_id, name=name, scopes=scopes or None, deactivate_webhooks=deactivate_webhooks
    )
    show_with_webhooks(operator, _row(changed), found)


@client.command()
@click.argument("client_id")
@click.option(
    "--now",
    is_flag=True,
    help="Reject the previous secrets and tokens immediately, for example after a leak.",
)
@yes_option
@command
def rotate(operator: CommandContext, *, client_id: str, now: bool, yes: bool) -> None:
    """Give CLIENT_ID a new secret, and show it once.

    The previous secret keeps working until the next rotation, so that the ERP can switch to the
    new one without interruption. Each run creates another secret. The command asks for
    confirmation if a secret stops working: with --now, or if the client has two secrets.

    \b
    Examples:
      stowage client rotate stw_acme_0123456789abcdef01234567
      stowage client rotate stw_acme_0123456789abcdef01234567 --now
    """  # noqa: D301  click reads the backspace
    known = api_clients.show_client(client_id)
    if now and known.secrets:
        ends = "its previous secrets and all its tokens stop working within 10 s."
    elif len(known.secrets) > 1:
        ends = "the older of its two secrets stops working within 10 s."
    else:
        ends = ""
    if ends:
        confirm(operator, f"{_described(known)} gets a new secret, and {ends}", yes=yes)
    _show_once(operator, api_clients.rotate_client(client_id, keep_previous=not now))


@client.command()
@click.argument("client_id")
@deactivate_option
@yes_option
@command
def revoke(
    operator: CommandContext, *, client_id: str, deactivate_webhooks: bool, yes: bool
) -> None:
    """Revoke CLIENT_ID permanently; its tokens stop working within 10 s.

    The command asks for confirmation.

    The webhook subscriptions that it created, or whose address, secret or activation it set last,
    are listed. They continue to send events, unless --deactivate-webhooks is given; the command can
    be repeated with it.

    \b
    Examples:
      stowage client revoke stw_acme_0123456789abcdef01234567
      stowage client revoke stw_acme_0123456789abcdef01234567 --deactivate-webhooks
    """  # noqa: D301  click reads the backspace
    try:
        known = api_clients.show_client(client_id)
    except Gone:
        message = f"{client_id} was already revoked."
    else:
        webhooks = describe_webhooks(
            operator_store(known.tenant),
            lambda tx: webhooks_of(tx, "client", client_id, deactivate=False),
            deactivate=deactivate_webhooks,
        )
        confirm(
            operator,
            f"{_described(known)} is revoked for good: its secrets and tokens stop working within "
            f"10 s.{webhooks}",
            yes=yes,
        )
        message = f"{client_id} is revoked."
    found = api_clients.revoke_client(client_id, deactivate_webhooks=deactivate_webhooks)
    operator.output.say(message)
    show_with_webhooks(operator, {"client_id": client_id, "state": "revoked"}, found)
