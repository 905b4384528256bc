"""Patches of moto and botocore that save most of the CPU time of the suite.

The figures are estimates: the time saved per call times the number of calls of the whole suite,
about 160 000 to DynamoDB and 40 000 to other services. `tests/integration/test_fast_moto.py`
compares answers and stored items with those of moto without the patches.
"""

import base64
import copy
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.client import ClientCreator
from botocore.exceptions import NoCredentialsError
from botocore.httpsession import create_urllib3_context
from botocore.parsers import BaseJSONParser, ResponseParserFactory
from botocore.regions import EndpointRulesetResolver
from botocore.serialize import JSONSerializer
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from botocore.validate import ParamValidator
from moto.backend_index import backend_url_patterns
from moto.core.base_backend import BaseBackend
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_types import TYPE_RESPONSE
from moto.core.exceptions import JsonRESTError, ServiceException
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult
from moto.core.utils import method_names_from_class
from moto.dynamodb.comparisons import AttributeValue, ConditionExpressionParser, OpDefault
from moto.dynamodb.exceptions import (
    DynamodbException,
    ItemSizeTooLarge,
    ItemSizeToUpdateTooLarge,
)
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.ast_nodes import (  # type: ignore[attr-defined]
    ExpressionAttributeValue,
    Node,
    UpdateExpressionAddAction,
    UpdateExpressionAddClause,
    UpdateExpressionDeleteAction,
    UpdateExpressionDeleteClause,
    UpdateExpressionRemoveAction,
    UpdateExpressionRemoveClause,
    UpdateExpressionSetAction,
    UpdateExpressionSetClause,
)
from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
from moto.dynamodb.parsing.expressions import (  # type: ignore[attr-defined]
    UpdateExpressionParser,
)
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords
from moto.dynamodb.parsing.validators import UpdateExpressionValidator
from moto.dynamodb.responses import DynamoHandler
from moto.kms.responses import KmsResponse
from moto.kms.utils import generate_private_key
from werkzeug.exceptions import HTTPException

from tests import engine, wire_rules

type Patch = pytest.MonkeyPatch

_OPERATIONS: dict[str, Callable[[DynamoHandler], ActionResult]] = {
    "DynamoDB_20120810.BatchGetItem": DynamoHandler.batch_get_item,
    "DynamoDB_20120810.BatchWriteItem": DynamoHandler.batch_write_item,
    "DynamoDB_20120810.DeleteItem": DynamoHandler.delete_item,
    "DynamoDB_20120810.DescribeTable": DynamoHandler.describe_table,
    "DynamoDB_20120810.GetItem": DynamoHandler.get_item,
    "DynamoDB_20120810.PutItem": DynamoHandler.put_item,
    "DynamoDB_20120810.Query": DynamoHandler.query,
    "DynamoDB_20120810.Scan": DynamoHandler.scan,
    "DynamoDB_20120810.TransactWriteItems": DynamoHandler.transact_write_items,
    "DynamoDB_20120810.UpdateItem": DynamoHandler.update_item,
}
_KMS_OPERATIONS: dict[str, Callable[[KmsResponse], str]] = {
    "TrentService.GenerateMac": KmsResponse.generate_mac,
    "TrentService.GetPublicKey": KmsResponse.get_public_key,
    "TrentService.Sign": KmsResponse.sign,
}
_FREQUENT_SERVICES = {"dynamodb", "kms", "s3", "sqs", "sts"}
_URL_PATTERNS = sorted(backend_url_patterns, key=lambda entry: entry[0] not in _FREQUENT_SERVICES)
_ACTIONS = list(UpdateExpressionExecutor.execution_map)
_CLAUSES = [
    UpdateExpressionAddClause,
    UpdateExpressionDeleteClause,
    UpdateExpressionRemoveClause,
    UpdateExpressionSetClause,
]
_SCALARS = {"S": str, "N": str, "B": bytes, "BOOL": bool, "NULL": bool}
_MAX_ITEM_BYTES = 405_000
"""Moto's own limit."""


def install(patch: Patch) -> None:
    """Patch moto and botocore until the test ends."""
    if not engine.is_on():
        _call_handlers_directly(patch)
    _pass_attributes_at_once(patch)
    _skip_signatures(patch)
    _skip_lookups(patch)
    _skip_setup(patch)
    _share_items(patch)
    _query_one_partition(patch)
    _process_expressions_once(patch)
    # About 20 s: moto measures an item again for each attribute that it adds to it.
    patch.setattr(Item, "__init__", _init_item)
    # About 15 s: moto copies an item three times for an update, value by value.
    patch.setattr(Item, "__deepcopy__", _copy_item, raising=False)
    patch.setattr(LimitedSizeDict, "__setitem__", dict.__setitem__)


def _call_handlers_directly(patch: Patch) -> None:
    """Save about 240 s: pass JSON between botocore and the operations of moto's handlers.

    Moto builds a WSGI request, and walks through the service model for each body that it reads
    or writes. Its exceptions hold the body of the response; the few that do not are raised by
    calls that change nothing, which are repeated in moto's way. One call runs at a time: tables
    are not safe for threads.
    """
    process_request, lock = BotocoreStubber.process_request, Lock()
    tokens: dict[str, wire_rules.Body] = {}

    def process(stubber: BotocoreStubber, request: AWSPreparedRequest) -> TYPE_RESPONSE | None:
        target: Any = request.headers.get("X-Amz-Target", "")
        target = target.decode() if isinstance(target, bytes) else target
        operation, on_key = _OPERATIONS.get(target), _KMS_OPERATIONS.get(target)
        if on_key is not None:
            with suppress(ServiceException, HTTPException):
                return 200, {"x-amzn-requestid": "request"}, on_key(_KmsHandler(request))
        if operation is not None:
            handler = _Handler(request)
            name = target.partition(".")[2]
            broken = wire_rules.broken_rule(name, handler.body, partial(_keys_of, handler), tokens)
            try:
                with lock:
                    result = operation(handler).result
                    body = json.dumps(result, default=_to_json)
            except DynamodbException as refused:
                return refused.code, {"x-amzn-requestid": "request"}, refused.description
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


class _KmsHandler(KmsResponse):
    """Moto's handler of one call of KMS."""

    def __init__(self, request: AWSPreparedRequest) -> None:
        super().__init__()
        assert isinstance(request.body, bytes)
        self.body = request.body.decode()
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
    if isinstance(value, datetime):
        return value.timestamp()
    assert isinstance(value, bytes), type(value)
    return base64.b64encode(value).decode()


def _pass_attributes_at_once(patch: Patch) -> None:
    """Save about 40 s: botocore looks up the shapes of each value, and of its ten possible types.

    Values of a call that are not exactly one type with its content go botocore's way, which
    describes what is wrong with them.
    """
    validator_class: Any = ParamValidator
    serializer_class: Any = JSONSerializer
    parser_class: Any = BaseJSONParser
    validate = validator_class._validate_map
    serialize = serializer_class._serialize_type_map
    parse = parser_class._handle_map

    def validate_map(validator: Any, params: Any, shape: Any, errors: Any, name: str) -> None:
        if not (_holds_attributes(shape) and _is_map(params)):
            validate(validator, params, shape, errors, name)

    def serialize_map(serializer: Any, body: Any, value: Any, shape: Any, key: str) -> None:
        if _holds_attributes(shape):
            body[key] = _with_binary(value, serializer._get_base64)
        else:
            serialize(serializer, body, value, shape, key)

    def parse_map(parser: Any, shape: Any, value: Any) -> Any:
        if _holds_attributes(shape):
            return _with_binary(value, parser._blob_parser)
        return parse(parser, shape, value)

    patch.setattr(validator_class, "_validate_map", validate_map)
    patch.setattr(serializer_class, "_serialize_type_map", serialize_map)
    patch.setattr(parser_class, "_handle_map", parse_map)


def _holds_attributes(shape: Any) -> bool:
    return bool(shape.value.name == "AttributeValue")


def _is_map(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and _is_attribute(one) for name, one in value.items()
    )


def _is_attribute(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    ((kind, content),) = value.items()
    if kind in _SCALARS:
        return isinstance(content, _SCALARS[kind])
    match kind:
        case "M":
            return _is_map(content)
        case "L":
            return isinstance(content, list) and all(map(_is_attribute, content))
        case "SS" | "NS":
            return isinstance(content, list) and all(isinstance(one, str) for one in content)
    return False


def _with_binary(value: dict[str, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    """Return attributes with binary values converted."""
    return {name: _convert(one, convert) for name, one in value.items()}


def _convert(value: dict[str, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    ((kind, content),) = value.items()
    match kind:
        case "M":
            return {"M": _with_binary(content, convert)}
        case "L":
            return {"L": [_convert(one, convert) for one in content]}
        case "B":
            return {"B": convert(content)}
        case "BS":
            return {"BS": [convert(one) for one in content]}
    return value


def _skip_signatures(patch: Patch) -> None:
    """Save about 70 s: nobody verifies signatures or reads user agents.

    A request names the access key, which tells the tests of policies who calls.
    """
    sign = RequestSigner.sign

    def name_credentials(signer: Any, operation: str, request: AWSRequest, *more: Any) -> None:
        if more or signer._signature_version != "v4":  # presigned, or of S3
            sign(signer, operation, request, *more)
            return
        if signer._credentials is None:
            raise NoCredentialsError
        scope = f"20260101/{signer._region_name}/{signer._signing_name}/aws4_request"
        credential = f"Credential={signer._credentials.access_key}/{scope}"
        request.headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=none"
        )

    patch.setattr(RequestSigner, "sign", name_credentials)
    patch.setattr(UserAgentString, "to_string", lambda _: "tests")


def _skip_lookups(patch: Patch) -> None:
    """Save about 90 s: botocore derives again what is the same for each client and each call.

    A client makes a class with a method for each operation, and the shapes of its calls; a call
    resolves its address, makes a parser and gets a random id.
    """
    construct = EndpointRulesetResolver.construct_endpoint

    def construct_once(
        resolver: Any, operation_model: Any, call_args: Any, request_context: Any
    ) -> Any:
        service = operation_model.service_model.service_name
        if service == "s3":  # the address names the bucket
            return construct(resolver, operation_model, call_args, request_context)
        model, builtins = operation_model.service_model, resolver._builtins
        name = operation_model.name, builtins["AWS::Region"], builtins["SDK::Endpoint"]
        make = partial(construct, resolver, operation_model, call_args, request_context)
        return _kept(model, name, make)

    patch.setattr(EndpointRulesetResolver, "construct_endpoint", construct_once)
    patch.setattr(ClientCreator, "_load_service_model", _service_model)
    patch.setattr(ClientCreator, "_create_client_class", _client_class)
    patch.setattr(ResponseParserFactory, "create_parser", _response_parser)
    # No client opens a connection.
    patch.setattr("botocore.httpsession.create_urllib3_context", _ssl_context)
    # Each id is a call of the operating system.
    patch.setattr("botocore.endpoint.uuid", SimpleNamespace(uuid4=lambda: "call"))


_load_service_model: Any = ClientCreator._load_service_model  # type: ignore[attr-defined]
_create_client_class: Any = ClientCreator._create_client_class  # type: ignore[attr-defined]
_create_parser = ResponseParserFactory.create_parser


def _kept[R](owner: Any, name: Hashable, make: Callable[[], R]) -> R:
    """Return what was made before for the same owner, or make it."""
    kept: dict[Hashable, R] = vars(owner).setdefault("kept", {})
    if name not in kept:
        kept[name] = make()
    return kept[name]


# The loader belongs to the session, which all clients share.
def _service_model(creator: Any, service: str, version: str | None = None) -> Any:
    make = partial(_load_service_model, creator, service, version)
    return _kept(creator._loader, ("model", service, version), make)


def _client_class(creator: Any, service: str, model: Any) -> Any:
    make = partial(_create_client_class, creator, service, model)
    return _kept(creator._loader, ("class", service, model.api_version), make)


def _response_parser(factory: Any, protocol: str) -> Any:
    return _kept(factory, protocol, partial(_create_parser, factory, protocol))


def _skip_setup(patch: Patch) -> None:
    """Save about 75 s of work per stack and per call to any service."""
    # About 10 s: moto registers every URL of AWS with `responses`, for calls made with `requests`.
    patch.setattr("moto.core.models.RESPONSES_METHODS", [])
    # About 15 s: moto makes an RSA key for each HMAC key, and never uses it.
    patch.setattr("moto.kms.models.generate_private_key", _private_key)
    # About 15 s: moto compares a URL with those of all services, one after the other.
    patch.setattr("moto.backend_index.backend_url_patterns", _URL_PATTERNS)
    # About 10 s: moto writes the patterns of a service's URLs for each call.
    patch.setattr(BaseBackend, "urls", property(lambda one: _urls(one.__class__)))
    # About 15 s: moto writes the XML of an error that is sent as JSON.
    patch.setattr(JsonRESTError, "__init__", _init_error)
    # About 10 s: moto inspects the class of the handler for each call.
    patch.setattr("moto.core.responses.method_names_from_class", _method_names)


_method_names = cache(method_names_from_class)
_ssl_context = cache(create_urllib3_context)
_write_urls: Any = vars(BaseBackend)["urls"].fget


@cache
def _urls(kind: Any) -> Any:
    return _write_urls(object.__new__(kind))


def _init_error(
    error: JsonRESTError, error_type: str, message: str, _: str = "", **__: Any
) -> None:
    HTTPException.__init__(error)
    error.error_type, error.message = error_type, message
    error.description = json.dumps({"__type": error_type, "message": message})
    error.content_type = "application/json"


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
            item = update(backend, table_name, key, **rest)
            if item.size() > _MAX_ITEM_BYTES:
                raise ItemSizeToUpdateTooLarge
            return item

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
    """Save about 40 s: moto sorts all items of the table before it looks for a partition."""
    query = Table.query

    def query_partition(table: Table, hash_key: DynamoType, *args: Any, **rest: Any) -> Any:
        items: Any = table.items
        table = copy.copy(table)
        if args[6] is None:  # the name of an index
            table.items = {hash_key: items[hash_key]} if hash_key in items else {}  # type: ignore[assignment]
        elif table.range_key_attr is not None:
            wanted = [
                (name, value.value)
                for name, value in rest["hash_key_conditions"]
                if value.type == "S"
            ]
            table.items = {partition: _matching(held, wanted) for partition, held in items.items()}  # type: ignore[assignment]
        return query(table, hash_key, *args, **rest)

    patch.setattr(Table, "query", query_partition)


def _matching(held: dict[DynamoType, Item], wanted: list[tuple[str, Any]]) -> Any:
    return {
        place: item
        for place, item in held.items()
        if all(name in item.attrs and item.attrs[name].value == value for name, value in wanted)
    }


def _process_expressions_once(patch: Patch) -> None:
    """Save about 130 s: parse each text once, and do not walk ten times through the tree.

    Moto copies the tree of an update for each call, and changes it in ten passes. Updates that
    only set, add to and remove attributes of the item itself, nearly all, are done without it.
    """
    patch.setattr(UpdateExpressionParser, "make", _parse_update)
    patch.setattr("moto.dynamodb.models.UpdateExpressionValidator", _validator)
    patch.setattr("moto.dynamodb.models.UpdateExpressionExecutor", _executor)
    patch.setattr(ConditionExpressionParser, "parse", _parse_condition)
    patch.setattr(ConditionExpressionParser, "_make_operand", _make_operand)


class _ConditionTree(ConditionExpressionParser):
    """Parses a condition to its tree, whose leaves name the values."""

    parse = ConditionExpressionParser.parse

    def _make_op_condition(self, node: ConditionExpressionParser.Node) -> Any:
        return node


type _Condition = tuple[ConditionExpressionParser.Node, Sequence[str], Sequence[str]]


@lru_cache(16_384)
def _condition_tree(
    text: str, names: tuple[tuple[str, str], ...] | None, values: tuple[str, ...] | None
) -> _Condition:
    """Return the tree of a condition, and the names and values that moto found in it."""
    parser = _ConditionTree(
        text,
        None if names is None else dict(names),
        None if values is None else {name: {} for name in values},
    )
    return parser.parse(), parser.expr_attr_names_found, parser.expr_attr_values_found  # type: ignore[return-value]


def _parse_condition(parser: ConditionExpressionParser) -> Any:
    """Return the condition of a parser, with the values of its call."""
    text = parser.condition_expression
    if not text:
        return OpDefault(None, None)  # type: ignore[arg-type]
    names, values = parser.expression_attribute_names, parser.expression_attribute_values
    tree, found_names, found_values = _condition_tree(
        text,
        None if names is None else tuple(names.items()),
        None if values is None else tuple(values),
    )
    parser.expr_attr_names_found.extend(found_names)
    parser.expr_attr_values_found.extend(found_values)
    return parser._make_op_condition(tree)


_make_operand_of = ConditionExpressionParser._make_operand


def _make_operand(parser: ConditionExpressionParser, node: ConditionExpressionParser.Node) -> Any:
    if node.kind == parser.Kind.EXPRESSION_ATTRIBUTE_VALUE:
        return AttributeValue(parser._lookup_expression_attribute_value(node.text))
    return _make_operand_of(parser, node)


_parse_update = lru_cache(4_096)(UpdateExpressionParser.make)


@dataclass(frozen=True, slots=True)
class _Update:
    """The new attributes of an item; None removes one. Takes the place of moto's tree."""

    item: Item
    attributes: Mapping[str, DynamoType | None]

    def validate(self) -> "_Update":
        return self

    def normalize(self) -> None:
        pass

    def execute(self) -> None:
        for name, value in self.attributes.items():
            if value is None:
                self.item.attrs.pop(name, None)
            else:
                self.item.attrs[name] = value


def _validator(tree: Any, **rest: Any) -> Any:
    attributes = _new_attributes(tree, **rest)
    if attributes is None:
        return UpdateExpressionValidator(tree, **rest)
    return _Update(rest["item"], attributes)


def _executor(tree: Any, *rest: Any) -> Any:
    return tree if isinstance(tree, _Update) else UpdateExpressionExecutor(tree, *rest)


def _new_attributes(
    tree: Any,
    *,
    expression_attribute_names: Mapping[str, str] | None,
    expression_attribute_values: Mapping[str, Any] | None,
    item: Item,
    table: Table,
) -> Mapping[str, DynamoType | None] | None:
    """Return the new attributes; None for an update that moto has to process, or to refuse."""
    if "changes" not in vars(tree):
        tree.changes = _changes(tree)
    names, values = expression_attribute_names or {}, expression_attribute_values or {}
    types = {one["AttributeName"]: one["AttributeType"] for one in table.attr}
    new: dict[str, DynamoType | None] = {}
    for kind, named, placeholder in tree.changes or [(None, "", "")]:
        name = names.get(named, "") if named.startswith("#") else named
        if not name or name in new or name in table.table_key_attrs:
            return None
        if kind is UpdateExpressionRemoveAction:
            new[name] = None
            continue
        value = DynamoType(values[placeholder]) if placeholder in values else None
        if kind is UpdateExpressionAddAction and value:
            value = _sum(item.attrs.get(name), value)
        if value is None or (name in types and not (value.type == types[name] and value.value)):
            return None
        new[name] = value
    return new


def _changes(tree: Any) -> Sequence[tuple[type[Node], str, str]] | None:
    """Return kind, attribute and value of each action, in the words of the text.

    Only if each sets an attribute of the item itself to a value, adds a value to it or removes it,
    and each clause comes once.
    """
    found: list[tuple[type[Node], str, str]] = []
    clauses = [type(clause) for clause in tree.find_clauses(_CLAUSES)]
    for action in tree.find_clauses(_ACTIONS):
        path, *value = action.children
        if isinstance(action, UpdateExpressionSetAction):
            value = value[0].children
        plain = [ExpressionAttributeValue] if value else []
        attribute = path.children[0].children[0]
        if (
            isinstance(action, UpdateExpressionDeleteAction)
            or len(path.children) > 1
            or [type(one) for one in value] != plain
            or attribute.upper() in ReservedKeywords.get_reserved_keywords()
            or len(clauses) != len({*clauses})
        ):
            return None
        found.append((type(action), attribute, value[0].children[0] if value else ""))
    return found


def _sum(present: DynamoType | None, value: DynamoType) -> DynamoType | None:
    """Return the result of ADD; None when moto refuses it."""
    if present is not None and present.type != value.type:
        return None
    if value.is_number():
        return (present or DynamoType({"N": "0"})) + value
    if not value.is_set() or not value.value:
        return None
    former = present.value if present else []
    return DynamoType({value.type: [*dict.fromkeys([*former, *value.value])]})


def _init_item(
    item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]
) -> None:
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    dict.update(item.attrs, {name: DynamoType(value) for name, value in attrs.items()})
    if item.size() > _MAX_ITEM_BYTES:
        raise ItemSizeTooLarge


def _copy_item(item: Item, _: object) -> Item:
    """Copy an item; moto changes only lists, maps and sets in place."""
    copied = object.__new__(Item)
    copied.hash_key, copied.range_key = item.hash_key, item.range_key
    copied.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    for name, value in item.attrs.items():
        copied.attrs[name] = value if value.type in _SCALARS else copy.deepcopy(value)
    return copied
