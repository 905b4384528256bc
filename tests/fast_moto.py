"""Patches of moto and botocore that save most of the CPU time of the suite.

Each saves about three per cent (D-188). Conditions, transactions and the contents of indexes are
moto's own. `tests/integration/test_fast_moto.py` compares results with those of unpatched moto.
"""

import base64
import copy
import json
import re
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from threading import Lock
from typing import Any, NamedTuple

import pytest
from botocore import xform_name
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import NoCredentialsError
from botocore.regions import EndpointRulesetResolver
from botocore.signers import RequestSigner
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_models import BaseModel
from moto.core.common_types import TYPE_RESPONSE
from moto.core.exceptions import ServiceException
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.exceptions import DynamodbException, ItemSizeTooLarge, ItemSizeToUpdateTooLarge
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined]
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords
from moto.dynamodb.parsing.validators import UpdateExpressionValidator
from moto.dynamodb.responses import DynamoHandler
from werkzeug.exceptions import HTTPException

from tests import engine, wire_rules
from tests.snapshot import copy_of_table

_TARGET = re.compile(
    r"DynamoDB_20120810\.(Batch(?:Get|Write)Item|(?:Delete|Get|Put|Update)Item|DescribeTable"
    r"|Query|Scan|TransactWriteItems)"
)
_MAX_SIZE = 405_000  # bytes of an item; moto's own limit
_ACTION = re.compile(r"(#?\w+)(?:\s*=?\s*(:\w+))?")


def install(patch: pytest.MonkeyPatch) -> None:
    """Patch moto and botocore until the test ends."""
    if not engine.is_on():
        _call_handlers_directly(patch)
    _skip_signatures(patch)
    _resolve_addresses_once(patch)
    _copy_less(patch)
    _process_updates_at_once(patch)
    _check_sizes_once(patch)
    _look_only_where_a_query_asks(patch)
    _take_whole_attributes(patch)
    _split_conditions_once(patch)
    patch.setattr("moto.sqs.models.camelcase_to_underscores", cache(camelcase_to_underscores))
    # Moto keeps all its objects, each copy of a table too, to show them on a page.
    patch.setattr(BaseModel, "__new__", lambda kind, *_, **__: object.__new__(kind))
    # Moto registers every URL of AWS with `responses`, for calls made with `requests`.
    patch.setattr("moto.core.models.RESPONSES_METHODS", [])


def _call_handlers_directly(patch: pytest.MonkeyPatch) -> None:
    """Moto walks through the service model for each body; pass JSON to its operations.

    Moto repeats calls that it refuses otherwise. One runs at a time: tables have no locks.
    """
    process_request, lock = BotocoreStubber.process_request, Lock()
    tokens: dict[str, wire_rules.Body] = {}

    def process(stubber: BotocoreStubber, request: AWSPreparedRequest) -> TYPE_RESPONSE | None:
        target: Any = request.headers.get("X-Amz-Target", "")
        known = _TARGET.fullmatch(target if isinstance(target, str) else target.decode())
        if known is None:
            return process_request(stubber, request)
        assert isinstance(request.body, bytes)
        handler: Any = DynamoHandler()
        hook = _decode_binary if b'"B"' in request.body else None
        handler.body = json.loads(request.body, object_hook=hook)
        handler.region = request.url.split(".")[1]
        handler.current_account = DEFAULT_ACCOUNT_ID
        tables = handler.dynamodb_backend.tables
        broken = wire_rules.broken_rule(known[1], handler.body, tables, tokens)
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


def _decode_binary(value: dict[str, Any]) -> dict[str, Any]:
    """Decode a binary value; of other maps, those of attributes, none has text under "B"."""
    text = value.get("B")
    return {"B": base64.b64decode(text)} if isinstance(text, str) else value


def _to_json(value: object) -> Any:
    if isinstance(value, DynamoType):
        return {value.type: value.value}
    assert isinstance(value, bytes | datetime), type(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()


def _skip_signatures(patch: pytest.MonkeyPatch) -> None:
    """Nobody verifies signatures; the tests of policies read the access key."""
    sign = RequestSigner.sign

    def name_credentials(signer: Any, operation: str, request: AWSRequest, *more: Any) -> None:
        if more or signer._signature_version != "v4":  # presigned, or of S3
            sign(signer, operation, request, *more)
        elif signer._credentials is None:
            raise NoCredentialsError
        else:
            scope = f"20260101/{signer._region_name}/{signer._signing_name}/aws4_request"
            key = f"Credential={signer._credentials.access_key}/{scope}"
            request.headers["Authorization"] = f"AWS4-HMAC-SHA256 {key}, SignedHeaders=host"

    patch.setattr(RequestSigner, "sign", name_credentials)


def _resolve_addresses_once(patch: pytest.MonkeyPatch) -> None:
    """Botocore resolves the address of each call by the rules of the service."""
    construct, known = EndpointRulesetResolver.construct_endpoint, dict[Hashable, Any]()

    def construct_once(resolver: Any, operation_model: Any, *call: Any, **rest: Any) -> Any:
        service, builtins = operation_model.service_model.service_name, resolver._builtins
        name = service, operation_model.name, builtins["AWS::Region"], builtins["SDK::Endpoint"]
        if name not in known or service == "s3":  # an address of S3 names the bucket
            known[name] = construct(resolver, operation_model, *call, **rest)
        return known[name]

    patch.setattr(EndpointRulesetResolver, "construct_endpoint", construct_once)


def _copy_less(patch: pytest.MonkeyPatch) -> None:
    """Moto copies the whole table for each action of a transaction, and changes items in place.

    Here a copy takes the place of an item first, so that copies of a table share their items.
    """
    update = DynamoDBBackend.update_item

    def update_item(backend: DynamoDBBackend, table_name: str, key: Any, **rest: Any) -> Any:
        table = backend.get_table(table_name)
        *partition, place = (DynamoType(key[name]) for name in table.table_key_attrs if name in key)
        items: Any = table.items.get(partition[0], {}) if partition else table.items
        if old := items.get(place):
            items[place] = copy.deepcopy(old)
        new = update(backend, table_name, key, **rest)
        if new.size() > _MAX_SIZE:
            backend.delete_item(table_name, key)
            items.update({place: old} if old else {})
            raise ItemSizeToUpdateTooLarge
        return new

    patch.setattr(DynamoDBBackend, "update_item", update_item)
    patch.setattr(Table, "__deepcopy__", lambda table, _: copy_of_table(table), raising=False)


def _check_sizes_once(patch: pytest.MonkeyPatch) -> None:
    """Moto adds up the sizes of all attributes of an item whenever it sets one."""
    fill = Item.__init__

    def fill_and_check(item: Item, *arguments: Any, **named: Any) -> None:
        fill(item, *arguments, **named)
        if item.size() > _MAX_SIZE:
            raise ItemSizeTooLarge

    patch.setattr(Item, "__init__", fill_and_check)
    patch.setattr(LimitedSizeDict, "__setitem__", dict.__setitem__)


def _look_only_where_a_query_asks(patch: pytest.MonkeyPatch) -> None:
    """Moto sorts all items of a table; it still decides on those with the value of the hash key."""
    query = Table.query

    def query_some(table: Table, *rest: Any, **named: Any) -> Any:
        ((name, wanted), *_), narrow = named["hash_key_conditions"], copy.copy(table)
        items: Any = table.items.values()
        if table.range_key_attr:
            every = (one for some in items for one in some.values() if name in one.attrs)
            found = [one for one in every if one.attrs[name].value == wanted.value]
            narrow.all_items = lambda: found  # type: ignore[method-assign]
        return query(narrow, *rest, **named)

    patch.setattr(Table, "query", query_some)


def _take_whole_attributes(patch: pytest.MonkeyPatch) -> None:
    """Moto converts the whole item to JSON and back for each attribute of a projection."""
    project = Item.project

    def take(item: Item, paths: list[list[str]]) -> Item:
        if any(len(path) > 1 or "[" in path[0] for path in paths):
            return project(item, paths)
        new = Item(item.hash_key, item.range_key, {})
        dict.update(new.attrs, {one: item.attrs[one] for (one,) in paths if one in item.attrs})
        return new

    patch.setattr(Item, "project", take)


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
        new = _new_attributes(tree.text, **call)
        return _Update(call["item"], new) if new else UpdateExpressionValidator(tree, **call)

    def executor(tree: Any, *call: Any) -> Any:
        return tree if isinstance(tree, _Update) else UpdateExpressionExecutor(tree, *call)

    patch.setattr(UpdateExpressionParser, "make", parse)
    patch.setattr("moto.dynamodb.models.UpdateExpressionValidator", validator)
    patch.setattr("moto.dynamodb.models.UpdateExpressionExecutor", executor)


class _Update(NamedTuple):
    """The new attributes of an item; None removes one. Takes the place of moto's tree."""

    item: Item
    attributes: dict[str, DynamoType | None]

    def validate(self) -> "_Update":
        return self

    def normalize(self) -> None:
        pass

    def execute(self) -> None:
        dict.update(self.item.attrs, self.attributes)
        for name in [name for name, value in self.attributes.items() if value is None]:
            del self.item.attrs[name]


def _new_attributes(
    text: str, item: Item, table: Table, **call: Mapping[str, Any] | None
) -> dict[str, DynamoType | None] | None:
    """Return the new attributes; None for an update that moto has to process, or to refuse."""
    names = call["expression_attribute_names"] or {}
    values = call["expression_attribute_values"] or {}
    types = {one["AttributeName"]: one["AttributeType"] for one in table.attr}
    new: dict[str, DynamoType | None] = {}
    for kind, named, placeholder in _changes(text):
        name = names.get(named, "") if named.startswith("#") else named
        value = DynamoType(values[placeholder]) if placeholder in values else None
        if kind == "ADD" and value:
            present = item.attrs.get(name, DynamoType({"N": "0"}))
            value = present + value if value.is_number() and present.is_number() else None
        fits = kind == "REMOVE" if value is None else types.get(name, value.type) == value.type
        is_empty_key = name in types and value is not None and not value.value
        if not fits or is_empty_key or not name or name in new or name in table.table_key_attrs:
            return None
        new[name] = value
    return new


@lru_cache(4_096)
def _changes(text: str) -> Sequence[tuple[str, str, str]]:
    """Return clause, attribute and value of each action; none if an action does anything else."""
    start, *parts = re.split(r"\b(SET|ADD|REMOVE) ", text)
    clauses = list(zip(parts[::2], parts[1::2], strict=True))
    actions = [(kind, one.strip()) for kind, listed in clauses for one in listed.split(",")]
    found = [(kind, m[1], m[2]) for kind, one in actions if (m := _ACTION.fullmatch(one))]
    words = ReservedKeywords.get_reserved_keywords()
    is_once = not start and len(dict(clauses)) == len(clauses)
    is_plain = len(found) == len(actions) and not any(name.upper() in words for _, name, _ in found)
    return found if is_once and is_plain else ()
