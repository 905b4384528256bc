"""Every AWS call with whom it is made for: the function, and the credentials it uses."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.endpoint import Endpoint
from moto.kms.models import kms_backends

from tests import gateway
from tests.iam import Access
from tests.stack import forget_what_was_asked

_ITEM_ACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
_PARTITION_KEYS = ("PK", "pk")
_PATH = re.compile(r"(?<![:\w.#])#?[A-Za-z_]\w*")
"""First part of a document path in an expression."""
_OPERATORS = re.compile(
    r"\b(SET|ADD|REMOVE|DELETE|AND|OR|NOT|BETWEEN|IN|if_not_exists|list_append|size"
    r"|attribute_(not_)?exists|attribute_type|begins_with|contains)\b"
)
_EQUALS = re.compile(r"^([#\w]+) = (:\w+)")


@dataclass(frozen=True, slots=True)
class Session:
    """Credentials that STS gave out: the role's rights, narrowed by the session's policy."""

    role: str
    policy: str


@dataclass(frozen=True, slots=True)
class Made:
    """One call: by the function with this handler, with its own rights or a session's."""

    handler: str
    session: Session | None
    accesses: tuple[Access, ...]


@dataclass(slots=True)
class Arns:
    """Writes the ARNs of what calls name."""

    region: str
    account: str

    def table(self, name: str, index: str | None = None) -> str:
        """ARN of a table, or of one of its indexes."""
        arn = f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"
        return f"{arn}/index/{index}" if index else arn

    def s3_object(self, url: str) -> str:
        """ARN of a file by its address, in which the bucket is part of the host's name."""
        target = urlsplit(url)
        return f"arn:aws:s3:::{target.netloc.partition('.')[0]}{target.path}"

    def queue(self, url: str) -> str:
        """ARN of an SQS queue by its address."""
        return f"arn:aws:sqs:{self.region}:{self.account}:{url.rpartition('/')[2]}"

    def key(self, number: str) -> str:
        """ARN of a KMS key."""
        return f"arn:aws:kms:{self.region}:{self.account}:key/{number}"

    def key_tags(self, number: str) -> Mapping[str, str]:
        """Tags of a KMS key, asked for without a call that would be noted."""
        tags = kms_backends[self.account][self.region].list_resource_tags(number)["Tags"]
        return {tag["TagKey"]: tag["TagValue"] for tag in tags}


@dataclass(slots=True)
class Watch:
    """Notes the calls that functions make, as long as they run."""

    arns: Arns
    environment: Callable[[str], Mapping[str, str]]
    """Variables of the function with a handler."""
    made: list[Made] = field(default_factory=list)
    _running: list[str] = field(default_factory=list)
    _sessions: dict[str, Session] = field(default_factory=dict)

    def wrap_function(self, handler: str, target: Callable[..., Any]) -> Callable[..., Any]:
        """Note what `target` does as the deeds of `handler`.

        Each time it is a new execution environment, with the variables of the function: what
        one function has read and kept must not spare another, which runs elsewhere in the
        cloud, the same call here.
        """

        def handle(*arguments: Any) -> Any:
            with pytest.MonkeyPatch.context() as patch:
                for name, value in self.environment(handler).items():
                    patch.setenv(name, value)
                self._running.append(handler)
                forget_what_was_asked()
                try:
                    return target(*arguments)
                finally:
                    self._running.pop()
                    forget_what_was_asked()

        return handle

    def record(self, operation: Any, request: Any, forward: Callable[[], Any]) -> Any:
        """Note one call and carry it out."""
        service = operation.service_model.service_name
        body = {"url": request.url} if service == "s3" else _body(request)
        answer = forward()
        if service == "sts" and answer[0] is not None:
            key_id = answer[0][1]["Credentials"]["AccessKeyId"]
            self._sessions[key_id] = Session(body["RoleArn"], body["Policy"])
        if self._running:
            accesses = tuple(required_accesses(service, operation.name, body, self.arns))
            session = self._sessions.get(_access_key(request))
            self.made.append(Made(self._running[-1], session, accesses))
        return answer


@contextmanager
def recorded_calls(arns: Arns, environment: Callable[[str], Mapping[str, str]]) -> Iterator[Watch]:
    """Note every AWS call that functions make inside the block."""
    watch = Watch(arns, environment)
    send = Endpoint._do_get_response  # type: ignore[attr-defined]
    function = gateway._function

    def carried(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        return watch.record(operation, request, lambda: send(endpoint, request, operation, context))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Endpoint, "_do_get_response", carried)
        patch.setattr(gateway, "_function", lambda name: watch.wrap_function(name, function(name)))
        yield watch


def _body(request: Any) -> dict[str, Any]:
    text = request.body.decode() if isinstance(request.body, bytes) else request.body
    if isinstance(text, str) and text.startswith("{"):
        parsed: dict[str, Any] = json.loads(text)
        return parsed
    form = text if isinstance(text, dict) else parse_qs(text)
    return {name: value[0] if isinstance(value, list) else value for name, value in form.items()}


def _access_key(request: Any) -> str:
    header = request.headers["Authorization"]
    text = header.decode() if isinstance(header, bytes) else header
    (found,) = re.findall(r"Credential=(\w+)/", text)
    return str(found)


def required_accesses(
    service: str, operation: str, body: dict[str, Any], arns: Arns
) -> Iterator[Access]:
    """Say what IAM is asked for by a call; a service that is new here fails."""
    match service, operation:
        case "dynamodb", _:
            yield from _of_dynamodb(operation, body, arns)
        case "s3", "GetObject" | "PutObject" | "DeleteObject":
            yield Access(f"s3:{operation}", arns.s3_object(body["url"]))
        case "s3", "HeadObject":
            yield Access("s3:GetObject", arns.s3_object(body["url"]))
        case "sqs", "SendMessage" | "SendMessageBatch":
            yield Access("sqs:SendMessage", arns.queue(body["QueueUrl"]))
        case "kms", _:
            yield Access(
                f"kms:{operation}",
                arns.key(body["KeyId"]),
                encryption_context=body.get("EncryptionContext", {}),
                tags=arns.key_tags(body["KeyId"]),
            )
        case "sts", "AssumeRole":
            yield Access("sts:AssumeRole", body["RoleArn"])
        case _:
            raise AssertionError(f"which permission does {service}:{operation} need?")


def _of_dynamodb(operation: str, body: dict[str, Any], arns: Arns) -> Iterator[Access]:
    match operation:
        case "TransactWriteItems":
            for action in body["TransactItems"]:
                ((kind, target),) = action.items()
                yield _item_access(_ITEM_ACTIONS[kind], target, arns)
        case "BatchGetItem":
            for table, wanted in body["RequestItems"].items():
                keys = tuple(_partition(key) for key in wanted["Keys"])
                yield Access("dynamodb:BatchGetItem", arns.table(table), keys)
        case "Query":
            arn = arns.table(body["TableName"], body.get("IndexName"))
            yield Access("dynamodb:Query", arn, (_queried(body),))
        case "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem":
            yield _item_access(operation, body, arns)
        case _:
            raise AssertionError(f"which permission does dynamodb:{operation} need?")


def _item_access(action: str, body: dict[str, Any], arns: Arns) -> Access:
    key = _partition(body["Key"] if "Key" in body else body["Item"])
    arn = arns.table(body["TableName"])
    return Access(f"dynamodb:{action}", arn, (key,), attributes=_attributes(body))


def _attributes(body: dict[str, Any]) -> tuple[str, ...]:
    """Attributes that the call names: of the item itself, and in its expressions."""
    aliases = body.get("ExpressionAttributeNames", {})
    words = {
        word
        for name, text in body.items()
        if name.endswith("Expression")
        for word in _PATH.findall(_OPERATORS.sub(" ", text))
    }
    named = {aliases.get(word, word) for word in words}
    return tuple(sorted({*named, *body.get("Key", {}), *body.get("Item", {})}))


def _partition(key: dict[str, Any]) -> str:
    (value,) = (key[name]["S"] for name in _PARTITION_KEYS if name in key)
    return str(value)


def _queried(body: dict[str, Any]) -> str:
    found = _EQUALS.match(body["KeyConditionExpression"])
    assert found, body["KeyConditionExpression"]
    return str(body["ExpressionAttributeValues"][found[2]]["S"])
