"""Record every AWS call of a test with the function that made it and its credentials."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from botocore.endpoint import Endpoint
from moto.kms.models import kms_backends

from tests import gateway
from tests.iam import Access
from tests.stack import clear_caches_except_clients

_ITEM_ACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
_TABLE_ACTIONS = {
    "CreateTable", "DescribeTable", "DescribeTimeToLive", "ListTagsOfResource",
    "UpdateContinuousBackups", "UpdateTable", "UpdateTimeToLive",
}  # fmt: skip
"""What only operators do."""
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
    """Credentials from STS: the rights of a role, restricted by a session policy."""

    role: str
    policy: str


@dataclass(frozen=True, slots=True)
class Made:
    """One call of the function with this handler; without a session it uses its own role."""

    handler: str
    session: Session | None
    accesses: tuple[Access, ...]


@dataclass(slots=True)
class Arns:
    """Builds the ARNs of the resources that calls name."""

    region: str
    account: str

    def table(self, name: str, index: str | None = None) -> str:
        """Return the ARN of a table, or of one of its indexes."""
        arn = f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"
        return f"{arn}/index/{index}" if index else arn

    def s3_object(self, url: str) -> str:
        """Return the ARN of an S3 object from its virtual-hosted URL."""
        target = urlsplit(url)
        return f"arn:aws:s3:::{target.netloc.partition('.')[0]}{unquote(target.path)}"

    def s3_source(self, copy_source: str) -> str:
        """Return the ARN of the source of a copy from the header x-amz-copy-source."""
        return f"arn:aws:s3:::{unquote(copy_source).removeprefix('/')}"

    def queue(self, url: str) -> str:
        """Return the ARN of an SQS queue from its URL."""
        return f"arn:aws:sqs:{self.region}:{self.account}:{url.rpartition('/')[2]}"

    def schedule(self, group: str, name: str) -> str:
        """Return the ARN of a schedule."""
        return f"arn:aws:scheduler:{self.region}:{self.account}:schedule/{group}/{name}"

    def key(self, number: str) -> str:
        """Return the ARN of a KMS key."""
        return f"arn:aws:kms:{self.region}:{self.account}:key/{number}"

    def key_tags(self, number: str) -> Mapping[str, str]:
        """Return the tags of a KMS key, read from moto without a call that is recorded."""
        tags = kms_backends[self.account][self.region].list_resource_tags(number)["Tags"]
        return {tag["TagKey"]: tag["TagValue"] for tag in tags}


@dataclass(slots=True)
class Watch:
    """Records the AWS calls that functions make while they run."""

    arns: Arns
    environment: Callable[[str], Mapping[str, str]]
    """Returns the environment variables of the function with the given handler."""
    made: list[Made] = field(default_factory=list)
    _running: list[str] = field(default_factory=list)
    _is_paused: bool = False
    _sessions: dict[str, Session] = field(default_factory=dict)

    def wrap_function(self, handler: str, target: Callable[..., Any]) -> Callable[..., Any]:
        """Return `target` wrapped so that its calls are recorded under `handler`.

        Each invocation starts with empty caches and with the variables of the function, as in
        an execution environment of its own: a value that one function has cached must not save
        another function a call that it has to make in the cloud.
        """

        def handle(*arguments: Any) -> Any:
            if self._is_paused:
                return target(*arguments)
            with pytest.MonkeyPatch.context() as patch:
                for name, value in self.environment(handler).items():
                    patch.setenv(name, value)
                self._running.append(handler)
                clear_caches_except_clients()
                try:
                    return target(*arguments)
                finally:
                    self._running.pop()
                    clear_caches_except_clients()

        return handle

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing inside the block, in which functions share their caches."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def record(self, operation: Any, request: Any, forward: Callable[[], Any]) -> Any:
        """Forward one call and record it."""
        service = operation.service_model.service_name
        body = _s3_call(request) if service == "s3" else _body(request)
        if service == "scheduler":
            body["Name"] = urlsplit(request.url).path.rpartition("/")[2]
        answer = forward()
        if operation.name == "AssumeRole" and answer[0] is not None:
            key_id = answer[0][1]["Credentials"]["AccessKeyId"]
            self._sessions[key_id] = Session(body["RoleArn"], body["Policy"])
        if self._running:
            accesses = tuple(required_accesses(service, operation.name, body, self.arns))
            session = self._sessions.get(_access_key(request))
            self.made.append(Made(self._running[-1], session, accesses))
        return answer


@contextmanager
def recorded_calls(arns: Arns, environment: Callable[[str], Mapping[str, str]]) -> Iterator[Watch]:
    """Record every AWS call that functions make inside the block."""
    watch = Watch(arns, environment)
    send = Endpoint._do_get_response  # type: ignore[attr-defined]
    function = gateway._function

    def carried(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        return watch.record(operation, request, lambda: send(endpoint, request, operation, context))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Endpoint, "_do_get_response", carried)
        patch.setattr(gateway, "_function", lambda name: watch.wrap_function(name, function(name)))
        yield watch


def _s3_call(request: Any) -> dict[str, Any]:
    headers = {
        name.lower(): value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    return {"url": request.url, "headers": headers}


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
    """Yield the permissions that a call requires.

    Raises:
        AssertionError: The permission of the operation is not known here yet.
    """
    match service, operation:
        case "dynamodb", _ if operation in _TABLE_ACTIONS:
            arn = body.get("ResourceArn") or arns.table(body["TableName"])
            yield Access(f"dynamodb:{operation}", arn)
        case "dynamodb", _:
            yield from _of_dynamodb(operation, body, arns)
        case "s3", "GetObject" | "PutObject" | "DeleteObject":
            yield Access(f"s3:{operation}", arns.s3_object(body["url"]))
        case "s3", "CopyObject":
            yield from _of_copy(body, arns)
        case "s3", "HeadObject":
            yield Access("s3:GetObject", arns.s3_object(body["url"]))
        case "sqs", "SendMessage" | "SendMessageBatch":
            yield Access("sqs:SendMessage", arns.queue(body["QueueUrl"]))
        case "scheduler", "CreateSchedule":
            yield Access("scheduler:CreateSchedule", arns.schedule(body["GroupName"], body["Name"]))
            role = body["Target"]["RoleArn"]
            yield Access("iam:PassRole", role, passed_to="scheduler.amazonaws.com")
        case "kms", _:
            yield Access(
                f"kms:{operation}",
                arns.key(body["KeyId"]),
                encryption_context=body.get("EncryptionContext", {}),
                tags=arns.key_tags(body["KeyId"]),
            )
        case "sts", _:
            yield Access(f"sts:{operation}", body.get("RoleArn", "*"))
        case _:
            raise AssertionError(f"unknown permission of {service}:{operation}; add it here")


def _of_copy(body: dict[str, Any], arns: Arns) -> Iterator[Access]:
    headers = body["headers"]
    source = arns.s3_source(headers["x-amz-copy-source"])
    target = arns.s3_object(body["url"])
    yield Access("s3:GetObject", source)
    yield Access("s3:PutObject", target)
    # COPY is the default. It needs the permissions only if the source has tags, and the
    # company that dropped a file may have tagged it.
    copies_tags = headers.get("x-amz-tagging-directive", "COPY") == "COPY"
    if copies_tags:
        yield Access("s3:GetObjectTagging", source)
    if copies_tags or "x-amz-tagging" in headers:
        yield Access("s3:PutObjectTagging", target)


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
        case "BatchWriteItem":
            for table, requests in body["RequestItems"].items():
                keys = tuple(_partition(each["PutRequest"]["Item"]) for each in requests)
                yield Access("dynamodb:BatchWriteItem", arns.table(table), keys)
        case "Query":
            arn = arns.table(body["TableName"], body.get("IndexName"))
            yield Access("dynamodb:Query", arn, (_queried(body),))
        case "Scan":
            select = "SPECIFIC_ATTRIBUTES" if "ProjectionExpression" in body else "ALL_ATTRIBUTES"
            arn = arns.table(body["TableName"])
            yield Access("dynamodb:Scan", arn, attributes=_attributes(body), select=select)
        case "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem":
            yield _item_access(operation, body, arns)
        case _:
            raise AssertionError(f"unknown permission of dynamodb:{operation}; add it here")


def _item_access(action: str, body: dict[str, Any], arns: Arns) -> Access:
    key = _partition(body["Key"] if "Key" in body else body["Item"])
    arn = arns.table(body["TableName"])
    select = None
    if action == "GetItem":
        select = "SPECIFIC_ATTRIBUTES" if "ProjectionExpression" in body else "ALL_ATTRIBUTES"
    return Access(f"dynamodb:{action}", arn, (key,), attributes=_attributes(body), select=select)


def _attributes(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the attributes that the call names in its item, its key and its expressions."""
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
