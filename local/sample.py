"""Load the sample data of `sample/` into a tenant, over its own HTTP interface.

`python -m local.sample --help` shows how to run it by hand.
"""

import csv
import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import httpx
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

ROOT = Path(__file__).parents[1]
ACME = ROOT / "sample" / "acme"

type Body = dict[str, Any]
type NaturalKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleFile:
    """One sort of record: its file, the route that takes it, the fields that identify it."""

    title: str
    file: str
    path: str
    key: tuple[str, ...]

    def key_of(self, record: Body) -> NaturalKey:
        """Natural key of a record, as the file or the interface shows it."""
        return tuple(str(record[name]) for name in self.key)


SAMPLE_FILES = (
    SampleFile("warehouses", "warehouses.csv", "/warehouses", ("whs_code",)),
    SampleFile("positions", "warehouse_positions.csv", "/warehouse-positions", ("whs_code", "bin_code")),
    SampleFile("product categories", "product_categories.csv", "/product-categories", ("name",)),
    SampleFile("products", "products.csv", "/products", ("item_code",)),
    SampleFile("clients", "clients.csv", "/clients", ("document_id",)),
    SampleFile("providers", "providers.csv", "/providers", ("name",)),
    SampleFile("entry documents", "entry_documents.json", "/entry-documents", ("type", "external_ref")),
    SampleFile("exit documents", "exit_documents.json", "/exit-documents", ("type", "external_ref")),
)
"""In the order in which they need each other."""
LAYOUTS = "warehouse_layouts.json"
"""The map of each warehouse, with its `whs_code`."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What became of the records of one kind: how many were created, how many were there."""

    title: str
    created: int
    existing: int


class SampleLoadError(Exception):
    """The API did not take a record, or could not be reached in all attempts."""


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


def read(file: Path) -> list[Body]:
    """Read a file of records into bodies of the interface.

    In .csv the column tells the JSON type, codes stay text, and an empty cell leaves the field
    out; .json holds the bodies themselves.
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


# -- the way to the API ------------------------------------------------------------------------

_CONCURRENCY = 8
_ATTEMPTS = 8
_MAX_WAIT = 60.0
_PAGE_SIZE = 100
_KEY_NAMESPACE = uuid.UUID("5b0f3f1e-6c7d-4b0e-9c55-0d6f3a7f9a11")


def load(
    base_url: str, token: str, progress: Progress | None = None, folder: Path = ACME
) -> list[LoadResult]:
    """Create every record of `folder` that the tenant does not have yet.

    Args:
        base_url: address of the tenant, ending in `/api/v1`.
        token: access token with the read and write scopes of warehouses, products, clients,
            providers, receipts and pickings.
        progress: where to show the progress, already started; by default a bar on the terminal.
        folder: where the files of `SAMPLE_FILES` and `LAYOUTS` are.

    Raises:
        SampleRefused: a record was refused. What came before it stays; another run goes on
            from there and doubles nothing.
    """
    with open_client(base_url, token) as client:
        if progress is not None:
            return load_with(client, progress, folder)
        with progress_bar() as bar:
            return load_with(client, bar, folder)


def open_client(base_url: str, token: str) -> httpx.Client:
    """Make the client of a tenant."""
    return httpx.Client(
        base_url=base_url,
        headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        # Cold functions of the local stack are slow when eight of them start at once.
        timeout=httpx.Timeout(60.0),
    )


def load_with(client: httpx.Client, progress: Progress, folder: Path = ACME) -> list[LoadResult]:
    """Do what `load` does over a client that has its address and its token."""
    loaded = [_load_file(client, kind, read(folder / kind.file), progress) for kind in SAMPLE_FILES]
    return [*loaded, _publish_layouts(client, read(folder / LAYOUTS), progress)]


def _load_file(
    client: httpx.Client, kind: SampleFile, records: Sequence[Body], progress: Progress
) -> LoadResult:
    there = _present(client, kind)
    missing = [record for record in records if kind.key_of(record) not in there]
    task = progress.add_task(kind.title, total=len(records), completed=len(records) - len(missing))
    created = 0
    taken = dict[NaturalKey, str]()
    pool = ThreadPoolExecutor(_CONCURRENCY)
    try:
        answers = pool.map(partial(_create, client, kind), missing)
        for record, answer in zip(missing, answers, strict=True):
            if answer.is_success:
                created += answer.status_code == HTTPStatus.CREATED
            elif _rejects_only_the_key(answer, kind):
                taken[kind.key_of(record)] = describe_error(answer)
            else:
                raise SampleLoadError(f"{kind.path} {kind.key_of(record)}: {describe_error(answer)}")
            progress.advance(task)
    finally:
        pool.shutdown(cancel_futures=True)
    _ensure_present(client, kind, taken)
    return LoadResult(kind.title, created, len(records) - created)


def _publish_layouts(client: httpx.Client, maps: Sequence[Body], progress: Progress) -> LoadResult:
    """Publish the map of each warehouse that has none."""
    title = "warehouse maps"
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


def _ensure_present(client: httpx.Client, kind: SampleFile, taken: dict[NaturalKey, str]) -> None:
    """Tell codes that another loader took meanwhile from codes that the API finds invalid."""
    if taken:
        invalid = taken.keys() - _present(client, kind)
        if invalid:
            first = min(invalid)
            raise SampleLoadError(f"{kind.path} {first}: {taken[first]}")


def _present(client: httpx.Client, kind: SampleFile) -> set[NaturalKey]:
    return {kind.key_of(row) for row in list_rows(client, kind.path)}


def list_rows(client: httpx.Client, path: str, **query: Any) -> Iterator[Body]:
    """Every row of a list."""
    page, last = 1, 1
    while page <= last:
        params = {"page": page, "per_page": _PAGE_SIZE, **query}
        request = client.build_request("GET", path, params=params)
        answer = _send(client, request)
        if not answer.is_success:
            raise SampleLoadError(f"{path}: {describe_error(answer)}")
        body = answer.json()
        yield from body["data"]
        page, last = page + 1, body["meta"]["last_page"]


def read_one(client: httpx.Client, path: str) -> httpx.Response:
    """Read a resource, as often as it takes."""
    return _send(client, client.build_request("GET", path))


def _create(client: httpx.Client, kind: SampleFile, record: Body) -> httpx.Response:
    return write(client, "POST", kind.path, record)


def write(client: httpx.Client, method: str, path: str, body: Body) -> httpx.Response:
    """Send a body, as often as it takes; done once, by a key that is made of what is sent."""
    # The body is in the key too: a corrected record must not meet the answer to the wrong one.
    content = json.dumps(body, sort_keys=True)
    key = uuid.uuid5(_KEY_NAMESPACE, f"{path} {content}")
    headers = {"Idempotency-Key": str(key), "Content-Type": "application/json"}
    return _send(client, client.build_request(method, path, content=content, headers=headers))


def _send(client: httpx.Client, request: httpx.Request) -> httpx.Response:
    """Send until there is a final answer; safe to repeat, as creations carry their key."""
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


def _rejects_only_the_key(answer: httpx.Response, kind: SampleFile) -> bool:
    if _code(answer) != "validation_failed":
        return False
    fields = {problem["field"] for problem in answer.json()["errors"]}
    return bool(fields) and fields <= set(kind.key)


def _code(answer: httpx.Response) -> str:
    return str(_error(answer).get("code", ""))


def describe_error(answer: httpx.Response) -> str:
    """What an answer says was wrong."""
    message = _error(answer).get("message", answer.text[:200])
    return f"{answer.status_code} {_code(answer)}: {message}"


def _error(answer: httpx.Response) -> Body:
    try:
        body = answer.json()
    except ValueError:
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


# -- by hand -----------------------------------------------------------------------------------


def progress_bar() -> Progress:
    """Show on the terminal what is done of how much."""
    return Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )


def _credentials(stack_file: Path, tenant: str) -> tuple[str, str]:
    try:
        entry = json.loads(stack_file.read_text(encoding="utf-8"))["tenants"][tenant]
    except FileNotFoundError as error:
        raise click.ClickException(f"{stack_file} is missing: does the stack run?") from error
    except KeyError as error:
        raise click.ClickException(f"{stack_file} knows no tenant {tenant}.") from error
    answer = httpx.post(
        f"{entry['base_url']}/oauth/token",
        data={"grant_type": "client_credentials"},
        auth=(entry["client_id"], entry["client_secret"]),
        timeout=60.0,
    )
    if not answer.is_success:
        raise click.ClickException(f"No token: {answer.status_code} {answer.text[:200]}")
    return entry["base_url"], answer.json()["access_token"]


@click.command()
@click.option("--tenant", default="acme", show_default=True, help="Tenant of the local stack.")
@click.option(
    "--stack-file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=ROOT / ".local" / "stack.json",
    help="Addresses and credentials that `make run` wrote.  [default: .local/stack.json]",
)
@click.option(
    "--base-url",
    help="Load another installation instead; its token is taken from $STOWAGE_TOKEN.",
)
def main(tenant: str, stack_file: Path, base_url: str | None) -> None:
    """Load the sample data of `sample/acme` over the HTTP interface.

    What is there already is left alone, so a run that was interrupted can be repeated.
    """
    if base_url:
        token = os.environ.get("STOWAGE_TOKEN", "")
        if not token:
            raise click.UsageError("--base-url needs an access token in STOWAGE_TOKEN.")
    else:
        base_url, token = _credentials(stack_file, tenant)
    try:
        results = load(base_url, token)
    except SampleLoadError as error:
        raise click.ClickException(str(error)) from error
    for kind in results:
        click.echo(f"{kind.title:<20}{kind.created:>5} created{kind.existing:>6} present")


if __name__ == "__main__":
    main()
