"""The baseline of the handler benchmark: three routes written with json and botocore only.

They make the same AWS calls as the service and return the same responses, without layers, models
or error messages.
"""

import base64
import hashlib
import json
import random
import re
import sys
import time
import uuid
import zlib
from collections.abc import Mapping
from typing import Any

from tests.bench.baseline_json import (
    PER_PAGE,
    document,
    frame,
    instant,
    item_of,
    json_text,
    register,
    stored,
    view,
)

type Event = Mapping[str, Any]
type Result = dict[str, Any]

FUNCTION = "bench"
"""The name of the function, a dimension of its metrics."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FREE_OR_RUN_OUT = (
    "attribute_not_exists(PK) OR #expiry < :seconds"
    " OR (#owner = :released AND fingerprint <> :fingerprint)"
    " OR (#owner = :interrupted AND lease_until <= :now)"
)
_SHARDS = 16
_DAY = 24 * 3600
_MOST = 999_999_999
_LIMIT = 1_000_000
"""Requests per minute that the tenants of the stack may send."""
_sent: dict[tuple[str, int], int] = {}
"""(client, minute) → number of requests."""


class BaselineHandlers:
    """The handlers of one tenant, with one DynamoDB client."""

    def __init__(self, client: Any, table: str, base_url: str) -> None:
        self._client = client
        self._table = table
        self._base_url = base_url

    def get_product(self, event: Event) -> Result:
        _allow(event, "products:read")
        number = int(event["path"].rsplit("/", 1)[1])
        found = self._client.get_item(
            TableName=self._table,
            Key={"PK": {"S": f"product#{number:012d}"}, "SK": {"S": "HEAD"}},
            ConsistentRead=True,
        ).get("Item")
        if not found or "deleted" in found:
            raise LookupError(number)
        return _shown(event, json_text({"data": stored(found)}))

    def list_entries(self, event: Event) -> Result:
        _allow(event, "receipts:read")
        counters = self._client.query(
            TableName=self._table,
            KeyConditionExpression="PK = :kind",
            ExpressionAttributeValues={":kind": {"S": "count#entry"}},
            ConsistentRead=True,
        )["Items"]
        entries = self._client.query(
            TableName=self._table,
            IndexName="GSI1",
            KeyConditionExpression="P1 = :partition",
            ExpressionAttributeValues={":partition": {"S": "entry"}},
            ProjectionExpression="S1",
            ScanIndexForward=False,
            Limit=PER_PAGE,
        )["Items"]
        marks = [entry["S1"]["S"] for entry in entries]
        partitions = [f"entry#{mark[-12:]}" for mark in marks]
        keys = [{"PK": {"S": name}, "SK": {"S": "HEAD"}} for name in partitions]
        answer = self._client.batch_get_item(
            RequestItems={self._table: {"Keys": keys, "ConsistentRead": True}}
        )
        items = {item["PK"]["S"]: item for item in answer["Responses"][self._table]}
        rows = [view(stored(items[name])) for name in partitions if name in items]
        total = sum(int(counter["n"]["N"]) for counter in counters if "n" in counter)
        tenant = event["requestContext"]["authorizer"]["tenant"]
        around = frame(self._base_url, tenant, total, len(rows), marks[-1])
        return _shown(event, json_text({"data": rows, **around}))

    def create_entry(self, event: Event) -> Result:
        caller = _allow(event, "receipts:write")
        body = json.loads(base64.b64decode(event["body"]))
        _check(body)
        table, client = self._table, self._client
        now_ms = int(time.time() * 1000)
        claim, owner = (
            f"idempotency#{caller}#{event['headers']['Idempotency-Key']}",
            uuid.uuid4().hex,
        )
        canonical = json.dumps(["POST", "/entry-documents", body], sort_keys=True)
        fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
        client.put_item(
            TableName=table,
            Item={
                "PK": {"S": claim},
                "SK": {"S": "HEAD"},
                "fingerprint": {"S": fingerprint},
                "owner": {"S": owner},
                "request": {"S": uuid.uuid4().hex},
                "lease_until": {"N": str(now_ms + 28_500)},
                "expires_at": {"N": str(now_ms // 1000 + _DAY)},
            },
            ConditionExpression=_FREE_OR_RUN_OUT,
            ExpressionAttributeNames={"#expiry": "expires_at", "#owner": "owner"},
            ExpressionAttributeValues={
                ":seconds": {"N": str(now_ms // 1000)},
                ":released": {"S": "released"},
                ":fingerprint": {"S": fingerprint},
                ":interrupted": {"S": owner},
                ":now": {"N": str(now_ms)},
            },
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        shard = {"PK": {"S": "count#entry"}, "SK": {"S": f"{random.randrange(_SHARDS):02d}"}}  # noqa: S311
        found = client.get_item(TableName=table, Key=shard, ConsistentRead=True).get("Item", {})
        epoch = found.get("epoch")
        known = self._master_data(body)
        number = int(
            client.update_item(
                TableName=table,
                Key={"PK": {"S": "sequence"}, "SK": {"S": "entry"}},
                UpdateExpression="ADD #last :count",
                ExpressionAttributeNames={"#last": "last"},
                ExpressionAttributeValues={":count": {"N": "1"}},
                ReturnValues="UPDATED_NEW",
            )["Attributes"]["last"]["N"]
        )
        made = document(number, body, known, instant(now_ms))
        location = f"{self._base_url}/entry-documents/{number}"
        answer = json_text({"data": {**view(made), "differences": []}})
        headers = {"Location": location, "ETag": _tag(answer)}
        completed = {
            "PK": {"S": claim},
            "SK": {"S": "HEAD"},
            "fingerprint": {"S": fingerprint},
            "status": {"N": "201"},
            "headers": {"M": {name: {"S": value} for name, value in headers.items()}},
            "body": {"B": zlib.compress(answer.encode(), 6)},
            "expires_at": {"N": str(now_ms // 1000 + _DAY)},
        }
        reference = f"entry_ref#{made['type']}\x1f{made['external_ref']}"
        alias = {"PK": {"S": reference}, "SK": {"S": "ALIAS"}, "id": {"N": str(number)}}
        free = {
            "ConditionExpression": "attribute_not_exists(PK)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        puts: list[dict[str, Any]] = [
            {"Item": item_of(made), **free},
            {"Item": alias, **free},
            {"Item": register(number, body, known)},
            {
                "Item": completed,
                "ConditionExpression": "#owner = :owner",
                "ExpressionAttributeNames": {"#owner": "owner"},
                "ExpressionAttributeValues": {":owner": {"S": owner}},
            },
        ]
        guard = "attribute_not_exists(#epoch)" if epoch is None else "#epoch = :epoch"
        update = {
            "TableName": table,
            "Key": shard,
            "UpdateExpression": "SET #t0 = :now ADD #v0 :one, #d0 :d0, #d1 :d1",
            "ConditionExpression": guard,
            "ExpressionAttributeNames": {
                "#v0": "version",
                "#t0": "touched",
                "#d0": "n",
                "#d1": "status=open",
                "#epoch": "epoch",
            },
            "ExpressionAttributeValues": {
                ":one": {"N": "1"},
                ":now": {"N": str(now_ms)},
                ":d0": {"N": "1"},
                ":d1": {"N": "1"},
                **({":epoch": epoch} if epoch else {}),
            },
        }
        client.transact_write_items(
            TransactItems=[
                *({"Put": {"TableName": table, **put}} for put in puts),
                {"Update": update},
            ],
            ClientRequestToken=uuid.uuid4().hex,
        )
        return _answer(event, 201, answer, headers)

    def _master_data(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the items that the document refers to, by partition key."""
        warehouse = body["warehouse_code"]
        names = [f"entry_ref#{body['type']}\x1f{body['external_ref']}"]
        codes = [f"item_code#{line['item_code']}" for line in body["lines"]]
        bins = {f"bin#{warehouse}\x1f{line['destination_bin']}" for line in body["lines"]}
        keys = [{"PK": {"S": name}, "SK": {"S": "ALIAS"}} for name in (*names, *codes, *bins)]
        keys.insert(1, {"PK": {"S": "warehouses"}, "SK": {"S": warehouse}})
        answer = self._client.batch_get_item(
            RequestItems={self._table: {"Keys": keys, "ConsistentRead": True}}
        )
        items = answer["Responses"][self._table]
        known = {item["PK"]["S"]: item for item in items}
        if names[0] in known or not {"warehouses", *codes, *bins} <= known.keys():
            raise LookupError("duplicate reference or unknown code")
        for name in bins:
            if known[name]["disabled"]["BOOL"] or known[name]["blocked"]["BOOL"]:
                raise ValueError(name)
        return known


def _allow(event: Event, scope: str) -> str:
    caller = event["requestContext"]["authorizer"]
    if scope not in caller["scopes"].split() or int(caller["exp"]) < time.time():
        raise PermissionError(scope)
    return str(caller["subject"])


def _check(body: Any) -> None:
    """Raise ValueError when a value cannot be stored."""
    for name in ("external_ref", "type", "partner_code", "warehouse_code"):
        if not isinstance(body[name], str) or not 0 < len(body[name]) <= 100:
            raise ValueError(name)
    for name in ("doc_date", "due_date"):
        if not _DATE.fullmatch(body[name]):
            raise ValueError(name)
    if not isinstance(body["lines"], list) or not 0 < len(body["lines"]) <= 1000:
        raise ValueError("lines")
    for line in body["lines"]:
        if not isinstance(line["item_code"], str) or not 0 < len(line["item_code"]) <= 50:
            raise ValueError("item_code")
        if not isinstance(line["qty"], int | float) or not 0 < line["qty"] <= _MOST:
            raise ValueError("qty")


def _tag(body: str) -> str:
    return f'W/"{hashlib.sha256(body.encode()).hexdigest()[:24]}"'


def _shown(event: Event, body: str) -> Result:
    """Return 200 with an ETag, or 304 when If-None-Match has it."""
    tag = _tag(body)
    if event["headers"].get("If-None-Match") == tag:
        return _answer(event, 304, "", {"ETag": tag})
    return _answer(event, 200, body, {"ETag": tag})


def _answer(
    event: Event, status: int, body: str, headers: Mapping[str, str] | None = None
) -> Result:
    """Write the log line of the service, and return the response."""
    request_id = event["requestContext"]["requestId"]
    route = f"{event['httpMethod']} {event['resource']}"
    log = {
        "level": "INFO",
        "message": "answered",
        "timestamp": instant(int(time.time() * 1000)),
        "service": "stowage",
        "request_id": request_id,
        "route": route,
        "tenant": event["requestContext"]["authorizer"]["tenant"],
        "method": event["httpMethod"],
        "path": event["path"],
        "status": status,
    }
    sys.stdout.write(f"{json_text(log)}\n")
    common = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "X-Request-Id": request_id,
        **_limit(event["requestContext"]["authorizer"]["subject"]),
    }
    return {"statusCode": status, "headers": {**common, **(headers or {})}, "body": body}


def _limit(client: str) -> dict[str, str]:
    """Count a request and return the rate limit headers."""
    minute, second = divmod(int(time.time()), 60)
    sent = _sent[client, minute] = _sent.get((client, minute), 0) + 1
    return {
        "RateLimit-Limit": str(_LIMIT),
        "RateLimit-Remaining": str(_LIMIT - sent),
        "RateLimit-Reset": str(60 - second),
    }
