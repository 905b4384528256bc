"""`stowage client …`."""

from typing import Any

import click

from cli.operator import Operator, command
from operations import api_clients
from operations.provisioning import show_tenant
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
    operator.output.say("Keep the secret now: it is stored nowhere and not shown again.")


@click.group()
def client() -> None:
    """API clients: the credentials of ERPs, shops and mobile applications."""


@client.command()
@click.argument("tenant")
@click.option("--name", required=True, help="For people, such as ERP.")
@click.option(
    "--mobile", is_flag=True,
    help="An application by which users sign in; it has neither secret nor scopes.",
)  # fmt: skip
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="What its tokens may allow; may be repeated.  [default: every scope]",
)  # fmt: skip
@command
def create(
    operator: Operator, *, tenant: str, name: str, mobile: bool, scopes: tuple[str, ...]
) -> None:
    """Create a client of TENANT and show its secret, once.

    \b
    Examples:
      stowage client create acme --name ERP
      stowage client create acme --name shop --scope products:read --scope stocks:read
      stowage client create acme --name "Hand-held scanners" --mobile
    """  # noqa: D301  click reads the backspace
    if mobile and scopes:
        raise click.UsageError("a mobile application has no scopes: its users have permissions")
    if mobile:
        operator.output.one({"client_id": api_clients.create_mobile_client(tenant, name).client_id})
    else:
        _show_once(operator, api_clients.create_client(tenant, name, scopes or SCOPES))


@client.command("list")
@click.argument("tenant")
@command
def list_(operator: Operator, *, tenant: str) -> None:
    """List the clients of TENANT, the revoked ones too.

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
    """Show CLIENT_ID; its secrets are stored nowhere.

    \b
    Example:
      stowage client show stw_acme_0123456789abcdef01234567
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(api_clients.show_client(client_id)))


@client.command()
@click.argument("client_id")
@click.option("--name", help="For people.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="All that it shall have; may be repeated.",
)  # fmt: skip
@command
def change(
    operator: Operator, *, client_id: str, name: str | None, scopes: tuple[str, ...]
) -> None:
    """Change the name of CLIENT_ID, or what its tokens may allow.

    A scope that is taken away ends the tokens that the client has, within 10 s.

    \b
    Example:
      stowage client change stw_acme_0123456789abcdef01234567 --scope products:read
    """  # noqa: D301  click reads the backspace
    changed = api_clients.change_client(client_id, name=name, scopes=scopes or None)
    operator.output.one(_row(changed))


@client.command()
@click.argument("client_id")
@click.option(
    "--now", is_flag=True, help="End the secrets and tokens so far at once, as after a leak."
)
@command
def rotate(operator: Operator, *, client_id: str, now: bool) -> None:
    """Give CLIENT_ID a new secret and show it, once.

    The secret so far goes on working until the next rotation, so that the ERP can change over
    without a gap.

    \b
    Examples:
      stowage client rotate stw_acme_0123456789abcdef01234567
      stowage client rotate stw_acme_0123456789abcdef01234567 --now
    """  # noqa: D301  click reads the backspace
    _show_once(operator, api_clients.rotate_client(client_id, keep_previous=not now))


@client.command()
@click.argument("client_id")
@command
def revoke(operator: Operator, *, client_id: str) -> None:
    """Revoke CLIENT_ID for good; its tokens end within 10 s.

    \b
    Example:
      stowage client revoke stw_acme_0123456789abcdef01234567
    """  # noqa: D301  click reads the backspace
    try:
        api_clients.show_client(client_id)
    except Gone:
        operator.output.say(f"{client_id} was revoked before.")
    else:
        api_clients.revoke_client(client_id)
        operator.output.say(f"{client_id} is revoked.")
    operator.output.one({"client_id": client_id, "state": "revoked"})
