"""Patches of moto and botocore that save most of the CPU time of the suite.

The figures are estimates: the time saved per call times the number of calls of the whole suite,
about 160 000 to DynamoDB and 40 000 to other services. `tests/integration/test_fast_moto.py`
compares answers and stored items with those of moto without the patches.
"""

import base64
import copy
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from threading import Lock
from typing import Any

import pytest
from botocore.auth import AUTH_TYPE_MAPS, SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import NoCredentialsError
from botocore.useragent import UserAgentString
from moto.backend_index import backend_url_patterns
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_types import TYPE_RESPONSE
from moto.core.exceptions import ServiceException
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult
from moto.core.utils import method_names_from_class
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.ast_nodes import (  # type: ignore[attr-defined]
    DepthFirstTraverser,
    Node,
)
from moto.dynamodb.parsing.expressions import (  # type: ignore[attr-defined]
    UpdateExpressionParser,
)
from moto.dynamodb.parsing.validators import ActionCountValidator, OverlappingPathsValidator
from moto.dynamodb.responses import DynamoHandler
from moto.kms.utils import generate_private_key
from werkzeug.exceptions import HTTPException

from tests import engine, wire_rules

type Patch = pytest.MonkeyPatch

_OPERATIONS: dict[str, Callable[[DynamoHandler], ActionResult]] = {
    "DynamoDB_20120810.BatchGetItem": DynamoHandler.batch_get_item,
    "DynamoDB_20120810.DeleteItem": DynamoHandler.delete_item,
    "DynamoDB_20120810.GetItem": DynamoHandler.get_item,
    "DynamoDB_20120810.PutItem": DynamoHandler.put_item,
    "DynamoDB_20120810.Query": DynamoHandler.query,
    "DynamoDB_20120810.Scan": DynamoHandler.scan,
    "DynamoDB_20120810.TransactWriteItems": DynamoHandler.transact_write_items,
    "DynamoDB_20120810.UpdateItem": DynamoHandler.update_item,
}
_FREQUENT_SERVICES = {"dynamodb", "kms", "s3", "sqs", "sts"}
_URL_PATTERNS = sorted(backend_url_patterns, key=lambda entry: entry[0] not in _FREQUENT_SERVICES)
_MAX_ITEM_BYTES = 405_000
"""Moto's own limit."""


def install(patch: Patch) -> None:
    """Patch moto and botocore until the test ends."""
    if not engine.is_on():
        _call_handlers_directly(patch)
    _skip_signatures(patch)
    _skip_setup(patch)
    _share_items(patch)
    _query_one_partition(patch)
    _process_expressions_once(patch)
    # About 10 s: moto measures an item again for each attribute that it adds to it.
    patch.setattr(Item, "__init__", _init_item)


def _call_handlers_directly(patch: Patch) -> None:
    """Save about 200 s: pass JSON between botocore and the operations of moto's DynamoDB handler.

    Moto builds a WSGI request, and walks through the service model for each body that it reads
    or writes. A call that the operation refuses changes nothing; it is repeated in moto's way,
    which also writes the error. One call runs at a time: tables are not safe for threads.
    """
    process_request, lock = BotocoreStubber.process_request, Lock()
    tokens: dict[str, wire_rules.Body] = {}

    def process(stubber: BotocoreStubber, request: AWSPreparedRequest) -> TYPE_RESPONSE | None:
        target: Any = request.headers.get("X-Amz-Target", "")
        target = target.decode() if isinstance(target, bytes) else target
        operation = _OPERATIONS.get(target)
        if operation is not None:
            handler = _Handler(request)
            name = target.partition(".")[2]
            broken = wire_rules.broken_rule(name, handler.body, partial(_keys_of, handler), tokens)
            try:
                with lock:
                    result = operation(handler).result
                    body = json.dumps(result, default=_to_json)
            except (ServiceException, HTTPException):
                pass
            else:
                if broken:
                    raise broken
                return 200, {"x-amzn-requestid": "request"}, body
        return process_request(stubber, request)

    patch.setattr(BotocoreStubber, "process_request", process)
    patch.setattr("moto.dynamodb.responses.DynamoResult", ActionResult)


def _keys_of(handler: DynamoHandler, table_name: str) -> wire_rules.Keys | None:
    """Return the keys of a table in moto; None when there is none."""
    table = handler.dynamodb_backend.tables.get(table_name)
    if table is None:
        return None
    version = len(table.attr), len(table.global_indexes)
    known: dict[tuple[int, int], wire_rules.Keys] = vars(table).setdefault("wire_keys", {})
    if version not in known:
        known[version] = _read_keys(table)
    return known[version]


def _read_keys(table: Table) -> wire_rules.Keys:
    held: dict[str | None, frozenset[str] | None] = {None: None}
    indexes: dict[str | None, list[str]] = {None: table.table_key_attrs}
    for index in (*table.global_indexes, *table.indexes):
        indexes[index.name] = index.schema_key_attrs
        held[index.name] = None
        if index.projection["ProjectionType"] != "ALL":
            more = index.projection.get("NonKeyAttributes", ())
            held[index.name] = frozenset({*table.table_key_attrs, *index.schema_key_attrs, *more})
    types = {one["AttributeName"]: one["AttributeType"] for one in table.attr}
    return wire_rules.Keys(types, indexes, held)


class _Handler(DynamoHandler):
    """Moto's handler of one call."""

    def __init__(self, request: AWSPreparedRequest) -> None:
        super().__init__()
        assert isinstance(request.body, bytes)
        has_binary = b'"B"' in request.body
        self.body = json.loads(request.body, object_hook=_decode_binary if has_binary else None)
        self.region = request.url.split(".")[1]
        self.current_account = DEFAULT_ACCOUNT_ID


def _decode_binary(value: dict[str, Any]) -> dict[str, Any]:
    """Decode a binary value; of other maps, those of attributes, none has text under "B"."""
    if isinstance(text := value.get("B"), str):
        return {"B": base64.b64decode(text)}
    return value


def _to_json(value: object) -> Any:
    if isinstance(value, DynamoType):
        return {value.type: value.value}
    assert isinstance(value, bytes), type(value)
    return base64.b64encode(value).decode()


def _skip_signatures(patch: Patch) -> None:
    """Save about 60 s: nobody verifies signatures or reads user agents."""
    patch.setitem(AUTH_TYPE_MAPS, "v4", _Credential)
    patch.setattr(UserAgentString, "to_string", lambda _: "tests")


class _Credential(SigV4Auth):
    """Sends the access key, which tells the tests of policies who calls, without a signature."""

    _region_name: str
    _service_name: str

    def add_auth(self, request: AWSRequest) -> None:
        if self.credentials is None:
            raise NoCredentialsError
        scope = f"20260101/{self._region_name}/{self._service_name}/aws4_request"
        credential = f"Credential={self.credentials.access_key}/{scope}"
        request.headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=none"
        )


def _skip_setup(patch: Patch) -> None:
    """Save about 50 s of work per stack and per call to any service."""
    # About 10 s: moto registers every URL of AWS with `responses`, for calls made with `requests`.
    patch.setattr("moto.core.models.RESPONSES_METHODS", [])
    # About 15 s: moto makes an RSA key for each HMAC key, and never uses it.
    patch.setattr("moto.kms.models.generate_private_key", _private_key)
    # About 15 s: moto compares a URL with those of all services, one after the other.
    patch.setattr("moto.backend_index.backend_url_patterns", _URL_PATTERNS)
    # About 10 s: moto inspects the class of the handler for each call.
    patch.setattr("moto.core.responses.method_names_from_class", cache(method_names_from_class))


def _private_key(key_spec: str) -> Any:
    return _unused_key() if key_spec == "HMAC_256" else generate_private_key(key_spec)


@cache
def _unused_key() -> Any:
    return generate_private_key("HMAC_256")


def _share_items(patch: Patch) -> None:
    """Save 66 of 68 ms per transaction of five: moto copies the whole table for each action.

    Moto changes an updated item in place; here a copy takes its place first. A stored item then
    never changes, and restoring a table means to put the former items back: after a failed call
    here, between tests in `tests/snapshot.py`.
    """
    update, write = DynamoDBBackend.update_item, DynamoDBBackend.transact_write_items

    def update_item(backend: DynamoDBBackend, table_name: str, key: Any, **rest: Any) -> Any:
        table = backend.get_table(table_name)
        with _restored_on_failure([(table, key)]):
            items, place = _find(table, key)
            if place in items:
                items[place] = copy.deepcopy(items[place])
            return update(backend, table_name, key, **rest)

    def transact_write_items(backend: DynamoDBBackend, actions: list[dict[str, Any]]) -> None:
        bodies = [body for action in actions for body in action.values()]
        keys = [(backend.get_table(body["TableName"]), _key_of(body)) for body in bodies]
        with _restored_on_failure(keys):
            write(backend, actions)

    patch.setattr(DynamoDBBackend, "update_item", update_item)
    patch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    patch.setattr(Table, "__deepcopy__", lambda table, _: table, raising=False)


@contextmanager
def _restored_on_failure(keys: list[tuple[Table, dict[str, Any]]]) -> Iterator[None]:
    """Put the items of some keys back if the block fails."""
    before = [items.get(place) for items, place in (_find(*key) for key in keys)]
    try:
        yield
    except Exception:
        for key, item in zip(keys, before, strict=True):
            items, place = _find(*key)
            if item is not None:
                items[place] = item
            else:
                items.pop(place, None)
        raise


def _key_of(body: dict[str, Any]) -> Any:
    return body["Key"] if "Key" in body else body["Item"]


def _find(table: Table, key: dict[str, Any]) -> tuple[Any, DynamoType | None]:
    """Return the dictionary that holds the item of a key, if any does, and its key there."""
    if not all(name in key for name in table.table_key_attrs):
        return {}, None
    *partition, place = (DynamoType(key[name]) for name in table.table_key_attrs)
    return (table.items.get(partition[0], {}) if partition else table.items), place


def _query_one_partition(patch: Patch) -> None:
    """Save about 30 s: moto looks for a partition by comparing all items of the table."""
    query = Table.query

    def query_partition(table: Table, hash_key: DynamoType, *args: Any, **rest: Any) -> Any:
        index_name = args[6]
        if index_name is None:
            items: Any = table.items
            table = copy.copy(table)
            table.items = {hash_key: items[hash_key]} if hash_key in items else {}  # type: ignore[assignment]
        return query(table, hash_key, *args, **rest)

    patch.setattr(Table, "query", query_partition)


def _process_expressions_once(patch: Patch) -> None:
    """Save about 50 s: parse each text once, copy its tree and walk through it without detours."""
    patch.setattr(UpdateExpressionParser, "make", lru_cache(4_096)(UpdateExpressionParser.make))
    patch.setattr(Node, "__deepcopy__", _copy_tree, raising=False)
    patch.setattr(DepthFirstTraverser, "traverse", _traverse)
    patch.setattr(ConditionExpressionParser, "_lex_condition_expression", _lex)


_lex_text = ConditionExpressionParser._lex_condition_expression


@lru_cache(4_096)
def _tokens(text: str) -> Sequence[ConditionExpressionParser.Node]:
    return tuple(_lex_text(ConditionExpressionParser(text, {}, {})))


def _lex(parser: ConditionExpressionParser) -> deque[ConditionExpressionParser.Node]:
    return deque(_tokens(parser.condition_expression))


def _copy_tree(node: Any, memo: dict[int, Any]) -> Any:
    copied = object.__new__(type(node))
    vars(copied).update(vars(node))
    if node.children is not None:
        copied.children = [copy.deepcopy(child, memo) for child in node.children]
        for child in copied.children:
            if isinstance(child, Node):
                child.parent = copied
    return copied


def _traverse(traverser: Any, root: Any) -> Any:
    """Process the nodes that a traverser asks for, from the leaves to the root."""
    if isinstance(traverser, ActionCountValidator | OverlappingPathsValidator):
        return traverser.process(root)  # the root has all clauses
    wanted = traverser.nodes_to_be_processed()

    def visit(node: Any, place: int) -> Any:
        parent = node.parent
        for number, child in enumerate(node.children or ()):
            traverser.pre_processing_of_child(node, number)
            if hasattr(child, "children"):
                visit(child, number)
        if isinstance(node, wanted):
            node = traverser.process(node)
            node.parent = parent
            if parent:
                parent.children[place] = node
        return node

    return visit(root, -1)


def _init_item(
    item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]
) -> None:
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    dict.update(item.attrs, {name: DynamoType(value) for name, value in attrs.items()})
    if item.size() > _MAX_ITEM_BYTES:
        raise ItemSizeTooLarge
