"""The items of the request log: one for each request, in the partition of its client and day."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.request_log.models import KEPT_DAYS, LoggedRequest
from shared.kernel.clock import Instant, milliseconds_of
from shared.kernel.db.items import AttributeMap, Item, encode, update_of
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY

_SECONDS_PER_DAY = 86_400
_PREFIX = "rate#log#"
"""As that of the counters of requests: what every function may update, and nothing copies."""
LAST = "~"
"""After every time, and every key of an entry that begins like the text before it."""
_SEPARATOR = " "
"""Paths of fields have no spaces."""


@dataclass(frozen=True, slots=True)
class LogFilter:
    """The entries that are wanted: of a status and a path, of all where they are None.

    A path that ends in `*` stands for all that begin so.
    """

    status: int | None = None
    path: str | None = None

    def arguments(self) -> tuple[Mapping[str, Any], Mapping[str, object]]:
        """Return the arguments and the values of a Query."""
        conditions, values, names = list[str](), dict[str, object](), dict[str, str]()
        if self.status is not None:
            conditions.append("#status = :status")
            values[":status"], names["#status"] = self.status, "status"
        if self.path is not None:
            is_prefix = self.path.endswith("*")
            conditions.append("begins_with(#path, :path)" if is_prefix else "#path = :path")
            values[":path"], names["#path"] = self.path.removesuffix("*"), "path"
        if not conditions:
            return {}, {}
        return {
            "FilterExpression": " AND ".join(conditions), "ExpressionAttributeNames": names,
        }, values  # fmt: skip


def partition_of(client: str, day: str) -> str:
    """Return the partition of the requests of an API client on a day of UTC."""
    return f"{_PREFIX}{client}#{day}"


def put_entry(store: Store, client: str, entry: LoggedRequest) -> None:
    """Write the entry of a request; a repeated write changes nothing."""
    shown = entry.model_dump(mode="json", exclude_defaults=True, exclude={"request_id", "at"})
    at_ms = milliseconds_of(entry.at)
    expression, names, values = update_of(
        {
            **shown,
            "fields": _SEPARATOR.join(entry.fields) or None,
            EXPIRY: at_ms // 1000 + KEPT_DAYS * _SECONDS_PER_DAY,
        }
    )
    store.client_before_claim.update_item(
        TableName=store.table,
        Key=key_attributes((partition_of(client, entry.at[:10]), f"{entry.at}#{entry.request_id}")),
        UpdateExpression=expression,
        ExpressionAttributeNames=names,
        ExpressionAttributeValues={name: encode(value) for name, value in values.items()},
    )


def read_day(  # noqa: PLR0913 - what a page is of
    store: Store,
    client: str,
    day: str,
    *,
    since: Instant | str,
    before: str,
    wanted: LogFilter,
    most: int,
) -> tuple[list[LoggedRequest], str | None]:
    """Return entries of a day, the latest first: from the time `since` to the key `before`.

    The second value is `before` of the next page; None at the end of the day. One
    Query examines at most 1 MB, so a page may be empty although there are more.
    """
    arguments, values = wanted.arguments()
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :of AND {SORT_KEY} BETWEEN :since AND :before",
        values={":of": partition_of(client, day), ":since": since, ":before": before, **values},
        ScanIndexForward=False,
        Limit=most,
        **arguments,
    )
    entries = [_entry(item) for item in page.items]
    return entries, None if page.last_key is None else _preceding(page.last_key)


def _preceding(key: AttributeMap) -> str:
    """Return a text after the sort keys that precede that of an entry: BETWEEN is inclusive."""
    text: str = key[SORT_KEY]["S"]
    return f"{text[:-1]}{chr(ord(text[-1]) - 1)}{LAST}"


def _entry(item: Item) -> LoggedRequest:
    at, _, request_id = item[SORT_KEY].partition("#")
    named = {name: item[name] for name in LoggedRequest.model_fields if name in item}
    if "fields" in named:
        named["fields"] = named["fields"].split(_SEPARATOR)
    return LoggedRequest.model_validate({**named, "at": at, "request_id": request_id})
