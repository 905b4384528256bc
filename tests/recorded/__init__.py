"""Items of a tenant's table as the previous release wrote them, for the tests of the upgrade."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from shared.kernel import aws
from shared.kernel.config import config

PATH = Path(__file__).with_name("tables.json")
ROWS = 5
"""Rows of each recorded list."""
STORY = "story"
"""Name of the table in which the demo has run, with items of every kind."""
_BATCH = 25

type Items = list[dict[str, Any]]
"""Items in DynamoDB's JSON."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What `python -m tests.recorded` has written: one table for each list, and one of the demo."""

    version: int
    """Version of the schema of the tables."""
    tables: Mapping[str, Items]


@cache
def recorded() -> Recorded:
    """Read the recorded tables."""
    content = json.loads(PATH.read_text())
    tables = {name: [_decoded(item) for item in items] for name, items in content["tables"].items()}
    return Recorded(content["version"], tables)


def story_ended() -> float:
    """Return when the demo had run, in seconds since 1970; its approvals are open for a day."""
    keys = [item["S2"]["S"] for item in recorded().tables[STORY] if "S2" in item]
    moments = [re.match(r"20\d\d-\d\d-\d\dT[\d:.]+Z", key) for key in keys]
    return datetime.fromisoformat(max(found[0] for found in moments if found)).timestamp()


def write(version: int, tables: Mapping[str, Items]) -> None:
    """Write the file, one item per line."""
    texts = []
    for name, items in tables.items():
        lines = ",\n".join(json.dumps(_encoded(item), sort_keys=True) for item in items)
        texts.append(f"{json.dumps(name)}: [\n{lines}\n]")
    PATH.write_text(f'{{"version": {version}, "tables": {{\n{",\n".join(texts)}\n}}}}\n')


def put(items: Iterable[Mapping[str, Any]], tenant: str = "acme") -> None:
    """Put items into the table of a tenant."""
    table, pending = config().tenant_table(tenant), list(items)
    for at in range(0, len(pending), _BATCH):
        requests: Any = [{"PutRequest": {"Item": item}} for item in pending[at : at + _BATCH]]
        aws.client("dynamodb").batch_write_item(RequestItems={table: requests})


def _encoded(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {name: _encoded(one) for name, one in value.items()}
        case _:
            return value


def _decoded(item: Any) -> dict[str, Any]:
    return {
        name: {"B": base64.b64decode(value["B"])} if "B" in value else value
        for name, value in item.items()
    }
