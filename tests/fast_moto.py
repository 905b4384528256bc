"""Patches of moto and botocore that save most of the CPU time of the suite.

Each saves at least three per cent (D-188). Conditions, transactions and the contents of indexes are
moto's own. `tests/integration/test_fast_moto.py` compares results with those of unpatched moto.
"""

import base64
import copy
import json
import re
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import pytest
from botocore import xform_name
from botocore.awsrequest import AWSPreparedRequest
from botocore.client import BaseClient
from botocore.endpoint import Endpoint
from botocore.exceptions import NoCredentialsError, ParamValidationError
from botocore.validate import ParamValidator
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_models import BaseModel
from moto.core.common_types import TYPE_RESPONSE
from moto.core.exceptions import ServiceException
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.exceptions import DynamodbException, ItemSizeTooLarge, ItemSizeToUpdateTooLarge
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined]
from moto.dynamodb.parsing.validators import UpdateExpressionValidator
from moto.dynamodb.responses import DynamoHandler
from werkzeug.exceptions import HTTPException

from tests import engine
from tests.plain_updates import PlainUpdate, plain_update
from tests.snapshot import copy_of_table
from tests.wire_rules import Body, broken_rule

_TARGET = re.compile(
    r"DynamoDB_20120810\.(Batch(?:Get|Write)Item|(?:Delete|Get|Put|Update)Item|DescribeTable"
    r"|Query|Scan|TransactWriteItems)"
)
_PLAIN_TYPES = {"S": str, "N": str, "BOOL": bool, "B": bytes}
_MAX_SIZE = 405_000  # bytes of an item; moto's own limit


def install(patch: pytest.MonkeyPatch) -> None:
    """Patch moto and botocore until the test ends."""
    if not engine.is_on():
        _call_handlers_directly(patch)
        _call_without_service_model(patch)
    _copy_less(patch)
    _project_at_once(patch)
    _validate_plain_values_at_once(patch)
    _process_updates_at_once(patch)
    _check_sizes_once(patch)
    _look_only_where_a_query_asks(patch)
    _split_conditions_once(patch)
    # Moto keeps all its objects, each copy of a table too, to show them on a page.
    patch.setattr(BaseModel, "__new__", lambda kind, *_, **__: object.__new__(kind))
    # Moto registers every URL of AWS with `responses`, for calls made with `requests`.
    patch.setattr("moto.core.models.RESPONSES_METHODS", [])


def _call_handlers_directly(patch: pytest.MonkeyPatch) -> None:
    """Moto walks through the service model for each body; pass JSON to its operations."""
    process_request, lock = BotocoreStubber.process_request, Lock()  # tables have none
    tokens: dict[str, Body] = {}

    def process(stubber: BotocoreStubber, request: Any) -> TYPE_RESPONSE | None:
        target: Any = request.headers.get("X-Amz-Target", "")
        known = _TARGET.fullmatch(target if isinstance(target, str) else target.decode())
        if known is None:
            return process_request(stubber, request)
        handler: Any = DynamoHandler()
        hook = _decode_binary if b'"B"' in request.body else None
        handler.body = json.loads(request.body, object_hook=hook)
        handler.region = request.url.split(".")[1]
        handler.current_account = DEFAULT_ACCOUNT_ID
        broken = broken_rule(known[1], handler.body, handler.dynamodb_backend.tables, tokens)
        try:
            with lock:
                result = getattr(handler, xform_name(known[1]))().result
                body = json.dumps(result, default=_to_json)
        except DynamodbException as refused:
            return refused.code, {"x-amzn-requestid": "request"}, refused.description
        except (ServiceException, HTTPException):
            return process_request(stubber, request)
        if broken:
            raise broken
        return 200, {"x-amzn-requestid": "request"}, body

    patch.setattr(BotocoreStubber, "process_request", process)
    patch.setattr("moto.dynamodb.responses.DynamoResult", ActionResult)


def _call_without_service_model(patch: pytest.MonkeyPatch) -> None:
    """Botocore takes longer than moto: it resolves addresses, signs and serializes.

    A call keeps its validation, events, retries and errors, and names its access key.
    """
    call_slowly, create = BaseClient._make_api_call, Endpoint.create_request  # type: ignore[attr-defined]
    validator = ParamValidator()

    def call(client: Any, operation: str, arguments: Any) -> Any:
        target, events = f"DynamoDB_20120810.{operation}", client.meta.events
        if client.meta.service_model.service_name != "dynamodb" or not _TARGET.fullmatch(target):
            return call_slowly(client, operation, arguments)
        model = client.meta.service_model.operation_model(operation)
        context = {"client_config": client.meta.config}
        common = {"model": model, "context": context}
        arguments = client._emit_api_params(arguments, operation_model=model, context=context)
        report = validator.validate(arguments, model.input_shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())
        if client._request_signer._credentials is None:
            raise NoCredentialsError
        key = f"Credential={client._request_signer._credentials.access_key}/"
        headers = {"X-Amz-Target": target, "Authorization": key}
        url, body = f"{client._endpoint.host}/", json.dumps(arguments, default=_to_json).encode()
        sent = {"url": url, "headers": headers, "body": body, "context": context}
        events.emit(f"before-call.dynamodb.{operation}", params=sent, **common)
        http, parsed = client._make_request(model, sent, context)
        events.emit(f"after-call.dynamodb.{operation}", http_response=http, parsed=parsed, **common)
        if http.status_code < 300:
            return parsed
        raise client.exceptions.from_code(parsed["Error"].get("Code"))(parsed, operation)

    def create_plain(endpoint: Endpoint, sent: Any, model: Any = None) -> Any:
        if "method" in sent:
            return create(endpoint, sent, model)
        return AWSPreparedRequest("POST", **sent, stream_output=False)

    patch.setattr(BaseClient, "_make_api_call", call)
    patch.setattr(Endpoint, "create_request", create_plain)


def _decode_binary(value: dict[str, Any]) -> dict[str, Any]:
    """Decode a binary value; of other maps, those of attributes, none has text under "B"."""
    text = value.get("B")
    return {"B": base64.b64decode(text)} if isinstance(text, str) else value


def _to_json(value: Any) -> Any:
    if isinstance(value, DynamoType):
        return {value.type: value.value}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()


def _copy_less(patch: pytest.MonkeyPatch) -> None:
    """Moto copies a table for each action of a transaction, and items that it reads.

    Here all actions share a copy, and a copy takes the place of an item that moto changes in place.
    """
    update, clone = DynamoDBBackend.update_item, Item.__deepcopy__
    transact, copies = DynamoDBBackend.transact_write_items, dict[int, Table]()

    def update_item(backend: DynamoDBBackend, table_name: str, key: Any, **rest: Any) -> Any:
        table = backend.get_table(table_name)
        *partition, place = (DynamoType(key[name]) for name in table.table_key_attrs if name in key)
        items: Any = table.items.get(partition[0], {}) if partition else table.items
        if old := items.get(place):
            items[place] = clone(old, {})
        new = update(backend, table_name, key, **rest)
        if new.size() > _MAX_SIZE:
            backend.delete_item(table_name, key)
            items.update({place: old} if old else {})
            raise ItemSizeToUpdateTooLarge
        return new

    def transact_write_items(backend: DynamoDBBackend, actions: Sequence[Any]) -> None:
        names = {target.get("TableName") for action in actions for target in action.values()}
        tables = [backend.tables[name] for name in names & backend.tables.keys()]
        copies.update({id(table): copy_of_table(table) for table in tables})
        try:
            transact(backend, [*actions])
        finally:
            copies.clear()

    def copy_once(table: Table, _: object) -> Table:
        return copies[id(table)] if id(table) in copies else copy_of_table(table)

    patch.setattr(DynamoDBBackend, "update_item", update_item)
    patch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    patch.setattr(Table, "__deepcopy__", copy_once, raising=False)
    patch.setattr(Item, "__deepcopy__", lambda item, _: item)


def _validate_plain_values_at_once(patch: pytest.MonkeyPatch) -> None:
    """Botocore takes four steps for each attribute; it still validates lists, maps and sets."""
    validate = ParamValidator._validate  # type: ignore[attr-defined]

    def validate_value(validator: Any, value: Any, shape: Any, errors: Any, name: str) -> None:
        if shape.name == "AttributeValue" and isinstance(value, dict) and len(value) == 1:
            ((kind, content),) = value.items()
            if type(content) is _PLAIN_TYPES.get(kind):
                return
        validate(validator, value, shape, errors, name)

    patch.setattr(ParamValidator, "_validate", validate_value)


def _project_at_once(patch: pytest.MonkeyPatch) -> None:
    """Moto decodes the whole item for each attribute of a projection; it still does nested ones."""
    project = Item.project

    def project_plain(item: Item, paths: list[list[str]]) -> Item:
        if any(len(path) > 1 or "[" in path[0] for path in paths):
            return project(item, paths)
        some = copy.copy(item)
        vars(some).pop("bytes", None)
        some.attrs = LimitedSizeDict()
        dict.update(some.attrs, {name: item.attrs[name] for (name,) in paths if name in item.attrs})
        return some

    patch.setattr(Item, "project", project_plain)


def _check_sizes_once(patch: pytest.MonkeyPatch) -> None:
    """Moto adds up the sizes of all attributes whenever it sets one, or a query finds the item."""
    fill, size = Item.__init__, Item.size

    def fill_and_check(item: Item, *arguments: Any, **named: Any) -> None:
        fill(item, *arguments, **named)
        if size(item) > _MAX_SIZE:
            raise ItemSizeTooLarge

    def size_once(item: Item) -> Any:
        return vars(item).get("bytes") or vars(item).setdefault("bytes", size(item))

    patch.setattr(Item, "__init__", fill_and_check)
    patch.setattr(Item, "size", size_once)
    patch.setattr(LimitedSizeDict, "__setitem__", dict.__setitem__)


def _look_only_where_a_query_asks(patch: pytest.MonkeyPatch) -> None:
    """Moto sorts all items of a table; it still decides on those with the value of the hash key."""
    query = Table.query

    def query_some(table: Table, *rest: Any, **named: Any) -> Any:
        ((name, wanted), *_), narrow = named["hash_key_conditions"], copy.copy(table)
        items: Any = table.items
        if table.range_key_attr:
            some = items.values() if name != table.hash_key_attr else [items.get(wanted, {})]
            every = (one for part in some for one in part.values() if name in one.attrs)
            found = [one for one in every if one.attrs[name].value == wanted.value]
            narrow.all_items = lambda: found  # type: ignore[method-assign]
        return query(narrow, *rest, **named)

    patch.setattr(Table, "query", query_some)


def _split_conditions_once(patch: pytest.MonkeyPatch) -> None:
    """Moto compiles six patterns for each word of a condition; its tree has no part in this."""
    parser, name = ConditionExpressionParser, "_lex_condition_expression"
    split = getattr(parser, name)
    words = lru_cache(4_096)(lambda text: tuple(split(parser(text, None, None))))
    patch.setattr(parser, name, lambda one: deque(words(one.condition_expression)))


def _process_updates_at_once(patch: pytest.MonkeyPatch) -> None:
    """Moto walks ten times through an update; it still does those of parts, or that it refuses."""
    make_tree = lru_cache(4_096)(UpdateExpressionParser.make)

    def parse(text: str) -> Any:
        tree = make_tree(text)
        tree.text = text
        return tree

    def validator(tree: Any, **call: Any) -> Any:
        return plain_update(tree.text, **call) or UpdateExpressionValidator(tree, **call)

    def executor(tree: Any, *call: Any) -> Any:
        return tree if isinstance(tree, PlainUpdate) else UpdateExpressionExecutor(tree, *call)

    patch.setattr(UpdateExpressionParser, "make", parse)
    patch.setattr("moto.dynamodb.models.UpdateExpressionValidator", validator)
    patch.setattr("moto.dynamodb.models.UpdateExpressionExecutor", executor)
