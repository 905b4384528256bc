"""Load the sample data of `sample/acme` into a tenant through the API.

`python -m local.sample --help` describes the command line.
"""

import csv
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import httpx
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from stowage_client import Stowage, StowageError

from local.server import LocalRunFailed
from local.settings import ROOT, STACK_FILE
from local.tenant_access import find_stack, tenant_access

ACME = ROOT / "sample" / "acme"

type Body = dict[str, Any]
type NaturalKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordKind:
    """One kind of record: its file, the route that creates it, and the fields that identify it."""

    title: str
    file: str
    path: str
    key: tuple[str, ...]

    def key_of(self, record: Body) -> NaturalKey:
        """Return the natural key of a record from the file or from the API."""
        return tuple(str(record[name]) for name in self.key)


RECORD_KINDS = (
    RecordKind("warehouses", "warehouses.csv", "/warehouses", ("whs_code",)),
    RecordKind(
        "positions", "warehouse_positions.csv", "/warehouse-positions", ("whs_code", "bin_code")
    ),
    RecordKind("product categories", "product_categories.csv", "/product-categories", ("name",)),
    RecordKind("products", "products.csv", "/products", ("item_code",)),
    RecordKind("clients", "clients.csv", "/clients", ("document_id",)),
    RecordKind("providers", "providers.csv", "/providers", ("name",)),
    RecordKind(
        "entry documents", "entry_documents.json", "/entry-documents", ("type", "external_ref")
    ),
    RecordKind(
        "exit documents", "exit_documents.json", "/exit-documents", ("type", "external_ref")
    ),
)
"""All files, in the order of their dependencies."""
LAYOUTS = "warehouse_layouts.json"
"""File with the layout of each warehouse and its `whs_code`."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The number of records of one kind that were created, and that existed before."""

    title: str
    created: int
    existing: int


# -- the files ---------------------------------------------------------------------------------

_INTEGER_COLUMNS = frozenset({"zone_id", "pick_sequence", "document_id"})
_DECIMAL_COLUMNS = frozenset({"capacity_units", "capacity_weight_kg", "capacity_volume_m3"})
_BOOLEAN_COLUMNS = frozenset(
    {
        "disabled",
        "inventory_item",
        "is_blocked",
        "is_crossdock",
        "is_pickable",
        "is_virtual",
        "man_btch_num",
        "man_ser_num",
    }
)


def read_records(file: Path) -> list[Body]:
    """Read a file of records as request bodies.

    A .json file contains the bodies. In a .csv file the column determines the JSON type, codes stay
    strings, and an empty cell omits the field.
    """
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        bodies: list[Body] = json.loads(text)
        return bodies
    return [
        {name: _typed(name, cell) for name, cell in row.items() if cell}
        for row in csv.DictReader(text.splitlines())
    ]


def _typed(column: str, cell: str) -> Any:
    if column in _BOOLEAN_COLUMNS:
        return {"true": True, "false": False}[cell]
    if column in _INTEGER_COLUMNS:
        return int(cell)
    if column in _DECIMAL_COLUMNS:
        return json.loads(cell)
    return cell


# -- the API -----------------------------------------------------------------------------------

_CONCURRENCY = 8
_KEY_NAMESPACE = uuid.UUID("5b0f3f1e-6c7d-4b0e-9c55-0d6f3a7f9a11")


@dataclass
class TokenClient(Stowage):
    """A client of the API that sends a given access token."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    def _authorize(self, request: httpx.Request) -> None:
        request.headers["Authorization"] = f"Bearer {self.token}"


def load(base_url: str, token: str) -> list[LoadResult]:
    """Create every record of `sample/acme` that the tenant does not have yet. Safe to repeat.

    Args:
        base_url: Address of the tenant, ending in `/api/v1`.
        token: Access token with the read and write scopes of warehouses, products, clients,
            providers, receipts and pickings.

    Raises:
        StowageError: A record was refused; the note of the error names it. Records created before
            it are kept, and another run continues after them.
        httpx.TransportError: The API could not be reached in all attempts.
    """
    with open_client(base_url, token) as api, progress_bar() as progress:
        return load_with(api, progress)


@contextmanager
def open_client(base_url: str, token: str) -> Iterator[Stowage]:
    """Give access to the API of a tenant."""
    # Eight concurrent cold starts are slow in the local stack.
    with httpx.Client(timeout=60) as http:
        yield TokenClient(base_url, token=token, http=http)


def load_with(api: Stowage, progress: Progress, folder: Path = ACME) -> list[LoadResult]:
    """Load the records as `load` does, with a client of the tenant."""
    loaded = [
        _load_kind(api, kind, read_records(folder / kind.file), progress) for kind in RECORD_KINDS
    ]
    return [*loaded, _publish_layouts(api, read_records(folder / LAYOUTS), progress)]


def _load_kind(
    api: Stowage, kind: RecordKind, records: Sequence[Body], progress: Progress
) -> LoadResult:
    existing = _present(api, kind)
    missing = [record for record in records if kind.key_of(record) not in existing]
    task = progress.add_task(kind.title, total=len(records), completed=len(records) - len(missing))
    created = 0
    refused = dict[NaturalKey, StowageError]()
    pool = ThreadPoolExecutor(_CONCURRENCY)
    try:
        answers = pool.map(partial(_create, api, kind), missing)
        for record, answer in zip(missing, answers, strict=True):
            if isinstance(answer, StowageError):
                refused[kind.key_of(record)] = answer
            else:
                created += answer.status_code == HTTPStatus.CREATED
            progress.advance(task)
    finally:
        pool.shutdown(cancel_futures=True)
    if refused and (invalid := refused.keys() - _present(api, kind)):
        raise refused[min(invalid)]
    return LoadResult(kind.title, created, len(records) - created)


def _create(api: Stowage, kind: RecordKind, record: Body) -> httpx.Response | StowageError:
    """Create a record; return the error if its key is taken, as by another loader."""
    try:
        return write(api, "POST", kind.path, record)
    except StowageError as error:
        is_only_key = error.code == "validation_failed" and error.problems.keys() <= {*kind.key}
        if error.problems and is_only_key:
            return error
        raise


def _publish_layouts(api: Stowage, maps: Sequence[Body], progress: Progress) -> LoadResult:
    """Publish the layout of each warehouse that has none."""
    title = "warehouse layouts"
    numbers = {row["whs_code"]: row["id"] for row in api.each("/warehouses")}
    published = 0
    for body in progress.track(maps, description=title):
        path = f"/warehouses/{numbers[body['whs_code']]}/layout"
        try:
            api.send("GET", path)
        except StowageError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            write(api, "PUT", path, body)
            published += 1
    return LoadResult(title, published, len(maps) - published)


def _present(api: Stowage, kind: RecordKind) -> set[NaturalKey]:
    return {kind.key_of(row) for row in api.each(kind.path)}


def write(api: Stowage, method: str, path: str, body: Body) -> httpx.Response:
    """Send a body; an Idempotency-Key derived from path and body prevents doubles.

    A StowageError gets a note with path and body.
    """
    # With the body in the key, a corrected record does not get the stored response of the first.
    key = uuid.uuid5(_KEY_NAMESPACE, f"{path} {json.dumps(body, sort_keys=True)}")
    try:
        return api.send(method, path, key=str(key), json=body)
    except StowageError as error:
        error.add_note(f"{path} {body}")
        raise


def describe_failure(error: Exception) -> str:
    """Return why the loading failed: what was refused, and the error."""
    return ": ".join([*getattr(error, "__notes__", ()), str(error) or repr(error)])


# -- the command line --------------------------------------------------------------------------


def progress_bar() -> Progress:
    """Return a progress display for the terminal."""
    return Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )


@contextmanager
def _credentials(stack_file: Path, tenant: str) -> Iterator[tuple[str, str]]:
    """Yield the address of a tenant of the local stack and an access token."""
    try:
        with tenant_access(find_stack(stack_file), tenant) as known:
            yield known.base_url, known.request_token()
    except LocalRunFailed as problem:
        raise click.ClickException(str(problem)) from problem


@click.command()
@click.option(
    "--tenant", default="acme", show_default=True, help="Tenant of the local stack, any by name."
)
@click.option(
    "--stack-file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=STACK_FILE,
    help="File with the addresses and credentials of `make run`.  [default: .local/stack.json]",
)
@click.option(
    "--base-url",
    help="Address of another deployment; its access token is read from $STOWAGE_TOKEN.",
)
def main(tenant: str, stack_file: Path, base_url: str | None) -> None:
    """Load the sample data of `sample/acme` into a tenant through the API.

    Existing records are left unchanged, so an interrupted run can be repeated.
    """
    if base_url:
        token = os.environ.get("STOWAGE_TOKEN", "")
        if not token:
            raise click.UsageError("--base-url needs an access token in $STOWAGE_TOKEN.")
        _load_and_report(base_url, token)
    else:
        with _credentials(stack_file, tenant) as known:
            _load_and_report(*known)


def _load_and_report(base_url: str, token: str) -> None:
    try:
        results = load(base_url, token)
    except (StowageError, httpx.TransportError) as error:
        raise click.ClickException(describe_failure(error)) from error
    for kind in results:
        click.echo(f"{kind.title:<20}{kind.created:>5} created{kind.existing:>6} present")


if __name__ == "__main__":
    main()
