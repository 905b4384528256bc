"""Load the sample data of `sample/acme` into a tenant through the API.

`python -m local.sample --help` describes the command line.
"""

import csv
import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import httpx
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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


class SampleLoadError(Exception):
    """The API refused a record, or could not be reached in all attempts."""


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
_ATTEMPTS = 8
_MAX_WAIT = 60.0
_PAGE_SIZE = 100
_KEY_NAMESPACE = uuid.UUID("5b0f3f1e-6c7d-4b0e-9c55-0d6f3a7f9a11")


def load(base_url: str, token: str) -> list[LoadResult]:
    """Create every record of `sample/acme` that the tenant does not have yet. Safe to repeat.

    Args:
        base_url: Address of the tenant, ending in `/api/v1`.
        token: Access token with the read and write scopes of warehouses, products, clients,
            providers, receipts and pickings.

    Raises:
        SampleLoadError: A record was refused. Records created before it are kept, and another run
            continues after them.
    """
    with open_client(base_url, token) as client, progress_bar() as progress:
        return load_with(client, progress)


def open_client(base_url: str, token: str) -> httpx.Client:
    """Return an HTTP client for the API of a tenant."""
    return httpx.Client(
        base_url=base_url,
        headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        # Eight concurrent cold starts are slow in the local stack.
        timeout=httpx.Timeout(60.0),
    )


def load_with(client: httpx.Client, progress: Progress, folder: Path = ACME) -> list[LoadResult]:
    """Load the records as `load` does, with a client that has the address and the token."""
    loaded = [
        _load_kind(client, kind, read_records(folder / kind.file), progress)
        for kind in RECORD_KINDS
    ]
    return [*loaded, _publish_layouts(client, read_records(folder / LAYOUTS), progress)]


def _load_kind(
    client: httpx.Client, kind: RecordKind, records: Sequence[Body], progress: Progress
) -> LoadResult:
    existing = _present(client, kind)
    missing = [record for record in records if kind.key_of(record) not in existing]
    task = progress.add_task(kind.title, total=len(records), completed=len(records) - len(missing))
    created = 0
    refused = dict[NaturalKey, str]()
    pool = ThreadPoolExecutor(_CONCURRENCY)
    try:
        answers = pool.map(partial(_create, client, kind), missing)
        for record, answer in zip(missing, answers, strict=True):
            if answer.is_success:
                created += answer.status_code == HTTPStatus.CREATED
            elif _rejects_only_the_key(answer, kind):
                refused[kind.key_of(record)] = describe_error(answer)
            else:
                raise SampleLoadError(
                    f"{kind.path} {kind.key_of(record)}: {describe_error(answer)}"
                )
            progress.advance(task)
    finally:
        pool.shutdown(cancel_futures=True)
    _ensure_present(client, kind, refused)
    return LoadResult(kind.title, created, len(records) - created)


def _publish_layouts(client: httpx.Client, maps: Sequence[Body], progress: Progress) -> LoadResult:
    """Publish the layout of each warehouse that has none."""
    title = "warehouse layouts"
    numbers = {row["whs_code"]: row["id"] for row in list_rows(client, "/warehouses")}
    published = 0
    for body in progress.track(maps, description=title):
        path = f"/warehouses/{numbers[body['whs_code']]}/layout"
        answer = read_one(client, path)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            answer = write(client, "PUT", path, body)
            published += 1
        if not answer.is_success:
            raise SampleLoadError(f"{path}: {describe_error(answer)}")
    return LoadResult(title, published, len(maps) - published)


def _ensure_present(client: httpx.Client, kind: RecordKind, refused: dict[NaturalKey, str]) -> None:
    """Raise unless the refused records were created by another loader in the meantime."""
    if refused:
        invalid = refused.keys() - _present(client, kind)
        if invalid:
            first = min(invalid)
            raise SampleLoadError(f"{kind.path} {first}: {refused[first]}")


def _present(client: httpx.Client, kind: RecordKind) -> set[NaturalKey]:
    return {kind.key_of(row) for row in list_rows(client, kind.path)}


def list_rows(client: httpx.Client, path: str, **query: Any) -> Iterator[Body]:
    """Yield every row of a list."""
    page, last_page = 1, 1
    while page <= last_page:
        params = {"page": page, "per_page": _PAGE_SIZE, **query}
        request = client.build_request("GET", path, params=params)
        answer = _send(client, request)
        if not answer.is_success:
            raise SampleLoadError(f"{path}: {describe_error(answer)}")
        body = answer.json()
        yield from body["data"]
        page, last_page = page + 1, body["meta"]["last_page"]


def read_one(client: httpx.Client, path: str) -> httpx.Response:
    """Read a resource, with retries."""
    return _send(client, client.build_request("GET", path))


def _create(client: httpx.Client, kind: RecordKind, record: Body) -> httpx.Response:
    return write(client, "POST", kind.path, record)


def write(client: httpx.Client, method: str, path: str, body: Body) -> httpx.Response:
    """Send a body, with retries; an Idempotency-Key derived from path and body prevents doubles."""
    # With the body in the key, a corrected record does not get the stored response of the first.
    content = json.dumps(body, sort_keys=True)
    key = uuid.uuid5(_KEY_NAMESPACE, f"{path} {content}")
    headers = {"Idempotency-Key": str(key), "Content-Type": "application/json"}
    return _send(client, client.build_request(method, path, content=content, headers=headers))


def _send(client: httpx.Client, request: httpx.Request) -> httpx.Response:
    """Send a request until it gets a final response; requests are safe to repeat."""
    for attempt in range(1, _ATTEMPTS):
        try:
            answer = client.send(request)
        except httpx.TransportError:
            wait = 0.0
        else:
            if not _is_retryable(answer):
                return answer
            wait = _retry_after(answer)
        time.sleep(min(max(wait, 0.1 * 2**attempt), _MAX_WAIT))
    try:
        return client.send(request)
    except httpx.TransportError as error:
        raise SampleLoadError(f"{request.url}: {error!r}") from error


def _is_retryable(answer: httpx.Response) -> bool:
    return (
        answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
        or answer.is_server_error
        or (answer.status_code == HTTPStatus.CONFLICT and _code(answer) == "duplicate_in_flight")
    )


def _retry_after(answer: httpx.Response) -> float:
    seconds = answer.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else 0.0


def _rejects_only_the_key(answer: httpx.Response, kind: RecordKind) -> bool:
    if _code(answer) != "validation_failed":
        return False
    fields = {problem["field"] for problem in answer.json()["errors"]}
    return bool(fields) and fields <= set(kind.key)


def _code(answer: httpx.Response) -> str:
    return str(_error(answer).get("code", ""))


def describe_error(answer: httpx.Response) -> str:
    """Return status, code and message of an error response."""
    message = _error(answer).get("message", answer.text[:200])
    return f"{answer.status_code} {_code(answer)}: {message}"


def _error(answer: httpx.Response) -> Body:
    try:
        body = answer.json()
    except ValueError:
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


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
    except SampleLoadError as error:
        raise click.ClickException(str(error)) from error
    for kind in results:
        click.echo(f"{kind.title:<20}{kind.created:>5} created{kind.existing:>6} present")


if __name__ == "__main__":
    main()
