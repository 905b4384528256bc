"""`stowage tenant export` and `stowage tenant delete`: the end of a contract."""

from pathlib import Path

import click

from cli.confirmation import confirm_name, yes_option
from cli.operator import CommandContext, CommandFailed, command
from cli.passphrase import read_passphrase
from operations.deletion import DeletionPreview, delete_tenant, preview_deletion
from operations.export import export_tenant


@click.command()
@click.argument("slug")
@click.option(
    "--to", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Directory to write: new, empty, or with an earlier export of SLUG, which is replaced.",
)  # fmt: skip
@click.option(
    "--with-secrets", is_flag=True,
    help="Also write what `stowage tenant import` needs, encrypted with a passphrase. SLUG must be "
    "suspended, cancelled or moved.",
)  # fmt: skip
@command
def export(operator: CommandContext, *, slug: str, to: Path, with_secrets: bool) -> None:
    """Export all data of the tenant SLUG into DIR.

    DIR contains tenant.json, one file of JSON lines per kind of data (products.jsonl,
    stock-movements.jsonl, audit-log.jsonl …), the files of its imports, and manifest.json, which is
    completed last: "complete": false means that the export was interrupted. Passwords, secrets and
    sessions are not exported. For data of one moment, suspend SLUG first.

    With --with-secrets, DIR also contains items.encrypted: everything that is stored of SLUG, for a
    move into another deployment (docs/operating/moving.md). Its passphrase is asked for, or is the
    value of the environment variable STOWAGE_PASSPHRASE.

    \b
    Examples:
      stowage tenant export acme --to acme-2026-03-01
      stowage tenant export acme --to acme-move --with-secrets
    """  # noqa: D301  click reads the backspace
    passphrase = read_passphrase(new=True) if with_secrets else None
    try:
        with operator.output.progress() as progress:
            manifest = export_tenant(slug, to, passphrase=passphrase, progress=progress)
    except OSError as error:
        message = f"{to} cannot be written: {error.strerror or error}"
        raise CommandFailed(message, "cannot_write") from error
    operator.output.one(
        {
            "tenant": slug,
            "directory": str(to),
            "lines": sum(manifest["counts"].values()),
            "counts": manifest["counts"],
            "finished_at": manifest["finished_at"],
        }
    )


@click.command()
@click.argument("slug")
@yes_option
@command
def delete(operator: CommandContext, *, slug: str, yes: bool) -> None:
    """Delete the tenant SLUG and all its data permanently.

    Only a cancelled or moved tenant can be deleted, or one whose import was not completed. The
    command asks for the name as confirmation, and takes a few minutes, because it waits for running
    requests to end. The name can never be used again, except that of a tenant whose import was not
    completed. DynamoDB keeps a backup of the table for 35 days.

    \b
    Examples:
      stowage tenant cancel acme
      stowage tenant export acme --to acme-data
      stowage tenant delete acme
    """  # noqa: D301  click reads the backspace
    preview = preview_deletion(slug)
    if preview.state != "deleted":
        confirm_name(operator, _describe_deletion(preview), slug, yes=yes)
    with operator.output.progress() as progress:
        delete_tenant(slug, progress=progress)
    operator.output.one({"tenant": slug, "state": "deleted"})


def _describe_deletion(preview: DeletionPreview) -> str:
    hosts = f", the hosts {', '.join(preview.hosts)}" if preview.hosts else ""
    tables = ", ".join(preview.tables) or "no table"
    return (
        f"This deletes the tenant {preview.slug} ({preview.state}) permanently: its data in "
        f"{tables} (about {preview.items} items), {preview.clients} "
        f"API clients{hosts}, its events and its files."
    )
