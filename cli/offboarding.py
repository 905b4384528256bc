"""`stowage tenant export` and `stowage tenant delete`: what a company takes along, and its end."""

import sys
from pathlib import Path

import click

from cli.operator import Operator, command
from operations.deletion import DeletionPreview, delete_tenant, preview_deletion
from operations.export import export_tenant


@click.command()
@click.argument("slug")
@click.option(
    "--to", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Directory to write into: new, empty, or with a former export of SLUG.",
)  # fmt: skip
@command
def export(operator: Operator, *, slug: str, to: Path) -> None:
    """Write everything that SLUG has into DIR, for its company or before a deletion.

    DIR gets tenant.json, a file of JSON lines for each kind of thing (products.jsonl,
    stock-movements.jsonl, audit-log.jsonl …), the files of its imports, and last of all
    manifest.json: without "complete": true the export was cut off. Passwords, secrets and
    sessions stay behind. Suspend SLUG before, if all of it has to be of one moment.

    \b
    Examples:
      stowage tenant export acme --to acme-2026-03-01
    """  # noqa: D301  click reads the backspace
    try:
        with operator.output.progress() as progress:
            manifest = export_tenant(slug, to, progress=progress)
    except OSError as error:
        raise click.ClickException(f"{to} cannot be written: {error}") from error
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
@click.option("--yes", is_flag=True, help="Do not ask; for scripts.")
@command
def delete(operator: Operator, *, slug: str, yes: bool) -> None:
    """Delete SLUG for good, with everything that it has; only a cancelled or moved one.

    It asks for the name again before it begins, and takes some minutes: whatever still runs
    for the tenant gets the time to end. The name is never given again. DynamoDB keeps a backup
    of the table for 35 days.

    \b
    Examples:
      stowage tenant cancel acme
      stowage tenant export acme --to acme-data
      stowage tenant delete acme
    """  # noqa: D301  click reads the backspace
    doomed = preview_deletion(slug)
    if doomed.state != "deleted":
        operator.output.say(_describe_deletion(doomed))
        if not yes:
            _confirm(slug)
    with operator.output.progress() as progress:
        delete_tenant(slug, progress=progress)
    operator.output.one({"tenant": slug, "state": "deleted"})


def _describe_deletion(doomed: DeletionPreview) -> str:
    hosts = f", the hosts {', '.join(doomed.hosts)}" if doomed.hosts else ""
    return (
        f"This deletes the tenant {doomed.slug} ({doomed.state}) for good: its table "
        f"{doomed.table} (about {doomed.items} items), {doomed.clients} API clients{hosts}, its "
        "events and its files."
    )


def _confirm(slug: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask at: give --yes.")
    if click.prompt("Type the name of the tenant to go on", err=True) != slug:
        raise click.ClickException("That is another name; nothing was deleted.")
