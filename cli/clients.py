"""`stowage client …`."""

from typing import Any

import click

from cli.operator import Operator, command
from shared.auth.clients import Client
from shared.auth.operating import Credentials
from shared.auth.scopes import SCOPES
from shared.tenancy import provisioning

_COLUMNS = ("client_id", "name", "active", "secrets", "created_at")


def _row(client: Client) -> dict[str, Any]:
    return {
        "client_id": client.client_id,
        "tenant": client.tenant,
        "name": client.name,
        "active": client.active,
        "secrets": len(client.secret_hashes),
        "created_at": client.created_at,
        "scopes": sorted(client.scopes),
    }


def _show_once(operator: Operator, credentials: Credentials) -> None:
    operator.output.one(credentials._asdict())
    operator.output.say("Keep the secret now: it is stored nowhere and not shown again.")


@click.group()
def client() -> None:
    """Integration clients: the credentials of ERPs and shops."""


@client.command()
@click.argument("tenant")
@click.option("--name", required=True, help="For people, such as ERP.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(SCOPES)), multiple=True, metavar="SCOPE",
    help="What its tokens may allow; may be repeated.  [default: every scope]",
)  # fmt: skip
@command
def create(operator: Operator, *, tenant: str, name: str, scopes: tuple[str, ...]) -> None:
    """Create an integration client of TENANT and show its secret, once.

    \b
    Examples:
      stowage client create acme --name ERP
      stowage client create acme --name shop --scope products:read --scope stocks:read
    """  # noqa: D301  click reads the backspace
    _show_once(operator, provisioning.create_client(tenant, name, scopes or SCOPES))


@client.command("list")
@click.argument("tenant")
@command
def list_(operator: Operator, *, tenant: str) -> None:
    """List the integration clients of TENANT, the revoked ones too.

    \b
    Example:
      stowage client list acme
    """  # noqa: D301  click reads the backspace
    provisioning.show_tenant(tenant)
    operator.output.many([_row(each) for each in provisioning.list_clients(tenant)], _COLUMNS)


@client.command()
@click.argument("client_id")
@click.option("--now", is_flag=True, help="End the secret so far at once, as after a leak.")
@command
def rotate(operator: Operator, *, client_id: str, now: bool) -> None:
    """Give CLIENT_ID a new secret and show it, once.

    The secret so far goes on working until the next rotation, so that the ERP can change over
    without a gap.

    \b
    Examples:
      stowage client rotate stw_0123456789abcdef01234567
      stowage client rotate stw_0123456789abcdef01234567 --now
    """  # noqa: D301  click reads the backspace
    _show_once(operator, provisioning.rotate_client(client_id, keep_previous=not now))


@client.command()
@click.argument("client_id")
@command
def revoke(operator: Operator, *, client_id: str) -> None:
    """Revoke CLIENT_ID for good; its tokens end within 10 s.

    \b
    Example:
      stowage client revoke stw_acme_0123456789abcdef01234567
    """  # noqa: D301  click reads the backspace
    provisioning.revoke_client(client_id)
    operator.output.say(f"{client_id} is revoked.")
