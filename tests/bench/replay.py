"""Replay of recorded AWS responses without network time.

It replaces the HTTP connection below botocore, so that building, signing and parsing happen as in
Lambda. The module imports nothing of this project: other processes load it by its path.
"""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

_TABLE = re.compile(r'"TableName": ?"([^"]+)"')
_PARTITION = re.compile(r'"ExpressionAttributeValues": ?\{":\w+": ?\{"S": ?"([^"]+)')
_KEYS = re.compile(r'"Keys": ?\[\{"PK": ?\{"S": ?"([^"#]+)')
_ITEM = re.compile(r'"Key": ?\{"PK": ?\{"S": ?"(rate#[^"#]+|[^"#]+)')

type RecordedResponse = dict[str, Any]
"""`kind` (see `kind_of`), `status`, `headers` and `body` of a response, its bytes as Latin-1."""


class _Body(io.BytesIO):
    def stream(self, **_: object) -> Any:
        yield self.getvalue()


class ReplayConnection:
    """A replacement of the HTTP sessions of botocore.

    A request gets the response that was recorded for its kind. Several responses of one kind are
    returned in turn.

    Args:
        recorded: The responses.
    """

    def __init__(self, recorded: Sequence[RecordedResponse]) -> None:
        self._answers: dict[str, list[RecordedResponse]] = {}
        for one in recorded:
            self._answers.setdefault(one["kind"], []).append(one)
        self._turns = dict.fromkeys(self._answers, 0)

    def send(self, request: Any) -> Any:
        """Return the recorded response to a prepared request of botocore."""
        from botocore.awsrequest import AWSResponse  # noqa: PLC0415 - part of the measured time

        body = request.body
        text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
        kind = _kind_of_request(request.method, request.headers, text)
        answers, turn = self._answers[kind], self._turns[kind]
        self._turns[kind] = turn + 1
        one = answers[turn % len(answers)]
        return AWSResponse(
            request.url, one["status"], one["headers"], _Body(one["body"].encode("latin-1"))
        )

    def install(self) -> None:
        """Replace the connection for the rest of the process."""
        from botocore.httpsession import URLLib3Session  # noqa: PLC0415 - as above

        setattr(URLLib3Session, "send", self.send)  # noqa: B010 - the type checker protects it


def kind_of(operation: str, body: str) -> str:
    """Return the kind of a request: operation, table, item kind or partition, and use of an index.

    Parallel reads arrive in any order, so the item kind is part of it.
    """
    table, item = _TABLE.search(body), _ITEM.search(body)
    name = f"{operation} {table[1]}" if table else operation
    name = f"{name} {item[1]}" if item else name
    if keys := _KEYS.search(body):
        name = f"{name} {keys[1]}"
    if operation == "Query" and (partition := _PARTITION.search(body)):
        name = f"{name} {partition[1]}"
    return f"{name} index" if '"IndexName"' in body else name


def _kind_of_request(method: str, headers: Mapping[str, Any], body: str) -> str:
    """Return the kind of a request of the JSON protocol, of the query protocol, or to S3."""
    target = headers.get("X-Amz-Target")
    if not target:
        return dict(parse_qsl(body)).get("Action") or f"{method.title()}Object"
    text = target.decode() if isinstance(target, bytes) else str(target)
    return kind_of(text.rpartition(".")[2], body)
