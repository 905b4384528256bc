"""Exports of acme: their worker, their files, and a copy that follows the feed from them."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.identity.auth.scopes import SCOPES
from shared.integration.changes import service as changes
from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.changes.models import ChangesParameters
from shared.integration.exports import service
from shared.integration.exports.context import ExportContext, export_context
from shared.integration.exports.models import ExportDraft, StoredExport
from shared.integration.exports.repository import EXPORTS
from shared.kernel import aws
from shared.kernel.caller import Caller
from shared.kernel.config import config
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.feed import checksums_of
from shared.kernel.validation import check
from tests.feed_scenario import FeedScenario
from tests.import_scenario import ImportScenario

CLIENT = Caller(
    tenant="acme", subject="erp", kind="client", client_id="erp", scopes=frozenset(SCOPES),
    permissions=frozenset(), second_factor=True, token_id="t1",
)  # fmt: skip


@dataclass(slots=True)
class ExportScenario:
    """Starts exports of acme, runs their worker, and reads their files."""

    feed: FeedScenario

    @property
    def context(self) -> ExportContext:
        """The resources of acme."""
        return export_context(self.feed.stack.tenant(), self.feed.store)

    @property
    def worker(self) -> ImportScenario:
        """The queue and its worker."""
        return ImportScenario(self.feed.stack)

    def start(
        self, *objects: str, request: str | None = None, caller: Mapping[str, Any] | None = None,
        **options: str,
    ) -> StoredExport:  # fmt: skip
        """Start an export of all objects, or of some."""
        body = {"objects": list(objects or LISTED_OBJECTS), **options}
        author = replace(CLIENT, **(caller or {}))
        return run_transaction(
            self.feed.store,
            lambda tx: service.start_export(tx, self.context, author, check(ExportDraft, body)),
            caller=author,
            request_name=request,
        ).entity

    def cancel(self, number: int) -> None:
        """Cancel an export."""
        run_transaction(self.feed.store, lambda tx: service.cancel_export(tx, number))

    def get(self, number: int = 1) -> StoredExport:
        """Return an export."""
        return EXPORTS.get(self.feed.store, number).entity

    def contents(self, number: int = 1) -> dict[str, list[str]]:
        """Return the texts of the files of an export by object; each is as it is described."""
        found: dict[str, list[str]] = {}
        for file in self.get(number).files:
            key = f"acme/{file.name}"
            stored = aws.client("s3").get_object(Bucket=config().import_work_bucket, Key=key)
            content = stored["Body"].read()
            assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
            found.setdefault(file.object, []).append(gzip.decompress(content).decode())
        return found

    def rows(self, number: int = 1) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of an export of JSON lines by object."""
        return {
            name: [json.loads(line) for text in texts for line in text.splitlines()]
            for name, texts in self.contents(number).items()
        }

    def table(self, name: str, number: int = 1) -> list[list[str]]:
        """Return the cells of the tables of one object."""
        texts = self.contents(number)[name]
        return [row for text in texts for row in csv.reader(io.StringIO(text))]

    def copy(self, number: int = 1) -> "Copy":
        """Load the files of an export into a copy."""
        stored = self.get(number)
        assert stored.status == "completed", stored.failure
        rows: dict[str, dict[Any, dict[str, Any]]] = {name: {} for name in stored.objects}
        for name, found in self.rows(number).items():
            assert len(found) == len({row["id"] for row in found}), f"{name} has a row twice"
            rows[name] = {row["id"]: row for row in found}
        return Copy(Reader(self.feed.store, self.feed.stack.tenant(), CLIENT), stored, rows)


@dataclass(slots=True)
class Copy:
    """The rows of a follower by object and id, at a position of the feed."""

    reader: Reader
    export: StoredExport
    rows: dict[str, dict[Any, dict[str, Any]]]
    position: int = field(init=False)

    def __post_init__(self) -> None:
        """Begin at the position of the export."""
        self.position = self.export.position

    def follow(self) -> None:
        """Take over all changes behind the position, as the guide says."""
        while True:
            query = {
                "after": str(self.position), "epoch": str(self.export.epoch), "per_page": "3",
                "include": "resource", "objects": ",".join(self.rows),
            }  # fmt: skip
            page = changes.list_changes(self.reader, ChangesParameters.model_validate(query))
            for change in (one for entry in page.transactions for one in entry.changes):
                shown = json.loads(change.model_dump_json())
                rows, resource = self.rows[shown["object"]], shown["resource"]
                if resource is None:
                    rows.pop(shown["id"], None)
                elif rows.get(shown["id"], {"version": 0})["version"] <= resource["version"]:
                    rows[shown["id"]] = resource
            meta = page.frame.meta
            self.position = meta.last
            if meta.last == meta.latest:
                return

    def differing(self) -> list[str]:
        """Return the objects whose number or sum is not that of the feed."""
        latest = changes.latest_position(self.reader)
        assert latest.position == self.position
        found = {
            name: checksums_of(name, ((one["id"], one["version"]) for one in rows.values()))
            for name, rows in self.rows.items()
        }
        return [
            name
            for name, (count, total) in found.items()
            if (count, str(total)) != (latest.checksums[name].count, latest.checksums[name].sum)
        ]
