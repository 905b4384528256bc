"""The way of a call of DynamoDB's data to moto's handler, and of its answer back.

moto finds the service by trying the addresses of all services, makes a WSGI request of what
botocore sends, and goes through the model of the service twice, member by member: to read
the body and to write the answer. Bodies are JSON already. What the handler does with a body
and what it says, refusals too, is moto's own.
"""

import base64
import json
import re
import uuid
from functools import cache
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_types import TYPE_RESPONSE
from moto.core.responses import ActionResult
from moto.core.utils import method_names_from_class, utcnow
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.responses import DynamoHandler
from werkzeug.http import http_date

_QUICK = frozenset(
    f"DynamoDB_20120810.{operation}"
    for operation in (
        "BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan",
        "TransactWriteItems", "UpdateItem",
    )
)  # fmt: skip
_ADDRESS = re.compile(r"https://dynamodb\.(?P<region>[^.]+)\.amazonaws\.com/$")
_JSON = "application/x-amz-json-1.0"


class _Handler(DynamoHandler):
    """moto's handler of one call, told at once what it would find in an HTTP request."""

    def __init__(self, target: str, region: str, request: AWSPreparedRequest) -> None:
        super().__init__()
        self.headers = {
            "X-Amz-Target": target,
            "Content-Type": _JSON,
            "Authorization": _text(request.headers["Authorization"]),
        }
        self.querystring: dict[str, Any] = {}
        self.region = region
        self.current_account = self.get_current_account()
        assert isinstance(request.body, bytes)
        self.params = _read(request.body)
        self.response_headers = {"server": "amazon.com", "date": http_date(utcnow())}

    def serialized(self, action_result: ActionResult) -> TYPE_RESPONSE:
        if isinstance(action_result.result, Exception):
            return super().serialized(action_result)
        headers = {"Content-Type": _JSON, **self.response_headers}
        return 200, headers, json.dumps(action_result.result, default=_as_json)


def _read(body: bytes) -> Any:
    """Read the body of a call; bytes are no longer in base64."""
    return json.loads(body, object_hook=_with_bytes if b'"B' in body else None)


def _with_bytes(read: dict[str, Any]) -> dict[str, Any]:
    """Decode a value; a map with an attribute of that name has no text there."""
    match read:
        case {"B": str(text)}:
            return {"B": base64.b64decode(text)}
        case {"BS": list(texts)}:
            return {"BS": [base64.b64decode(text) for text in texts]}
        case _:
            return read


def _as_json(value: object) -> Any:
    if isinstance(value, DynamoType):
        return {value.type: value.value}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value)} in an answer")


def _name_request(headers: dict[str, Any]) -> str:
    """Give an answer a name, as moto does, who throws 52 dice for it."""
    name = headers["x-amzn-requestid"] = uuid.uuid4().hex
    return name


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open the short way until the test ends."""
    long_way = BotocoreStubber.process_request

    def process_request(
        stubber: BotocoreStubber, request: AWSPreparedRequest
    ) -> TYPE_RESPONSE | None:
        target = _text(request.headers.get("X-Amz-Target", ""))
        address = _ADDRESS.match(request.url) if target in _QUICK else None
        if address is None:
            return long_way(stubber, request)
        answer: TYPE_RESPONSE = _Handler(target, address["region"], request).call_action()
        return answer

    monkeypatch.setattr(BotocoreStubber, "process_request", process_request)
    monkeypatch.setattr("moto.core.responses.gen_amzn_requestid_long", _name_request)
    # What an answer is made of is written as it is.
    monkeypatch.setattr("moto.dynamodb.responses.DynamoResult", ActionResult)
    monkeypatch.setattr(
        "moto.core.responses.method_names_from_class", cache(method_names_from_class)
    )
