"""`stowage client …`."""

from typing import Any

import click

from cli.operator import Operator, command
from cli.webhooks import deactivate_option, show_with_webhooks
from operations import api_clients
from operations.tenant_changes import show_tenant
from shared.identity.auth.clients import OAuthClient
from shared.identity.auth.scopes import SCOPES
from shared.kernel.errors import Gone

_COLUMNS = ("client_id", "kind", "name", "active", "secrets", "created_at")


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


def _show_once(operator: Operator, credentials: api_clients.Credentials) -> None:
    operator.output.one(credentials._asdict())
    operator.output.say("Store the secret now: it cannot be shown again.")


@click.group()
def client() -> None:
    """API clients: the credentials of ERPs, shops and mobile applications."""


@client.command()
@click.argument("tenant")
@click.option("--name", required=True, help="Display name, such as ERP.")
@click.option(
    "--mobile", is_flag=True,
    help="Create a mobile application, with which users sign in: without secret and scopes.",
)  # fmt: skip
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="Scope that its tokens may have; may be repeated.  [default: all scopes]",
)  # fmt: skip
@command
def create(
    operator: Operator, *, tenant: str, name: str, mobile: bool, scopes: tuple[str, ...]
) -> None:
    """Create an API client of TENANT, and show its secret once.

    Each run creates another client.

    \b
    Examples:
      stowage client create acme --name ERP
      stowage client create acme --name shop --scope products:read --scope stocks:read
      stowage client create acme --name "Hand-held scanners" --mobile
    """  # noqa: D301  click reads the backspace
    if mobile and scopes:
        raise click.UsageError(
            "--scope cannot be used with --mobile: permissions of a user replace scopes."
        )
    if mobile:
        operator.output.one({"client_id": api_clients.create_mobile_client(tenant, name).client_id})
    else:
        _show_once(operator, api_clients.create_client(tenant, name, scopes or SCOPES))


@client.command("list")
@click.argument("tenant")
@command
def list_(operator: Operator, *, tenant: str) -> None:
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
def show(operator: Operator, *, client_id: str) -> None:
    """Show the API client CLIENT_ID, without its secrets.

    \b
    Example:
      stowage client show stw_acme_0123456789abcdef01234567
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(api_clients.show_client(client_id)))


@client.command()
@click.argument("client_id")
@click.option("--name", help="New display name.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="Scope that its tokens may have; may be repeated. The scopes given replace all others.",
)  # fmt: skip
@command
def change(
    operator: Operator, *, client_id: str, name: str | None, scopes: tuple[str, ...]
) -> None:
    """Change the name or the scopes of CLIENT_ID.

    When a scope is removed, the client's tokens stop working within 10 s.

    \b
    Example:
      stowage client change stw_acme_0123456789abcdef01234567 --scope products:read
    """  # noqa: D301  click reads the backspace
    changed = api_clients.change_client(client_id, name=name, scopes=scopes or None)
    operator.output.one(_row(changed))


@client.command()
@click.argument("client_id")
@click.option(
    "--now",
    is_flag=True,
    help="Reject the previous secrets and tokens immediately, for example after a leak.",
)
@command
def rotate(operator: Operator, *, client_id: str, now: bool) -> None:
    """Give CLIENT_ID a new secret, and show it once.

    The previous secret keeps working until the next rotation, so that the ERP can switch to the
    new one without interruption. Each run creates another secret.

    \b
    Examples:
      stowage client rotate stw_acme_0123456789abcdef01234567
      stowage client rotate stw_acme_0123456789abcdef01234567 --now
    """  # noqa: D301  click reads the backspace
    _show_once(operator, api_clients.rotate_client(client_id, keep_previous=not now))


@client.command()
@click.argument("client_id")
@deactivate_option
@command
def revoke(operator: Operator, *, client_id: str, deactivate_webhooks: bool) -> None:
    """Revoke CLIENT_ID permanently; its tokens stop working within 10 s.

    The webhook subscriptions that it created are listed. They continue to send events, unless
    --deactivate-webhooks is given; the command can be repeated with it.

    \b
    Examples:
      stowage client revoke stw_acme_0123456789abcdef01234567
      stowage client revoke stw_acme_0123456789abcdef01234567 --deactivate-webhooks
    """  # noqa: D301  click reads the backspace
    try:
        api_clients.show_client(client_id)
        message = f"{client_id} is revoked."
    except Gone:
        message = f"{client_id} was already revoked."
    created = api_clients.revoke_client(client_id, deactivate_webhooks=deactivate_webhooks)
    operator.output.say(message)
    show_with_webhooks(operator, {"client_id": client_id, "state": "revoked"}, created)
