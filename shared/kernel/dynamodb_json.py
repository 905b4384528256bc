"""DynamoDB's requests and responses as JSON, without botocore's walk through its service model.

What this service passes to botocore and reads from it has the form of DynamoDB's JSON already; only
binary values are Base64 there. botocore looks up the shape of every value, which took half of the
processor time of a request. Two of its hooks replace that for the calls that read and write items:

- `SERIALIZERS`, the class that writes the body of a request, for each protocol;
- the event `before-parse`, which may parse the body of a response in place of botocore.

Everything else is botocore's: addresses, headers, signatures, attempts, events, the parser of
errors. `tests/unit/test_dynamodb_json.py` compares both ways, and fails when botocore leaves out a
hook.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from botocore.serialize import SERIALIZERS, JSONSerializer

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks
    from botocore.model import OperationModel

ITEM_OPERATIONS = frozenset(
    {
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactWriteItems",
        "UpdateItem",
    }
)
"""Neither their requests nor their responses have times, which botocore converts."""


def use_dynamodb_json(events: "BaseEventHooks") -> None:
    """Let clients that are created with these events read and write items without the model.

    The serializer is that of all clients of this process; it leaves other operations to botocore.
    """
    serializers: dict[str, Any] = SERIALIZERS  # classes, which the stubs take for objects
    serializers["json"] = _Serializer
    for operation in ITEM_OPERATIONS:
        events.register(f"before-parse.dynamodb.{operation}", _parse)


class _Serializer(JSONSerializer):
    def serialize_to_request(
        self, parameters: Mapping[str, Any], operation_model: "OperationModel"
    ) -> dict[str, Any]:
        """Return the request; botocore makes it with an empty body."""
        if not _is_of_items(operation_model):
            return super().serialize_to_request(parameters, operation_model)
        request = super().serialize_to_request({}, operation_model)
        request["body"] = json.dumps(parameters, default=_to_base64).encode()
        return request


def _is_of_items(model: "OperationModel") -> bool:
    return model.name in ITEM_OPERATIONS and model.service_model.service_name == "dynamodb"


def _to_base64(value: bytes) -> str:
    """Return a binary value as JSON has it; anything else that JSON lacks raises TypeError."""
    return b64encode(value).decode()


def _parse(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any
) -> None:
    """Parse the body of a successful response, and leave an empty object to botocore.

    A body that is no JSON is left to botocore, too.
    """
    if response_dict["status_code"] >= HTTPStatus.MULTIPLE_CHOICES:
        return
    try:
        parsed = json.loads(response_dict["body"], object_hook=_with_bytes)
    except ValueError:
        return
    customized_response_dict.update(
        (name, value) for name, value in parsed.items() if value is not None
    )
    response_dict["body"] = b"{}"


def _with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """Decode an attribute value of type B or BS.

    An item may have attributes of these names, but then it has maps under them.
    """
    if "B" in value and isinstance(text := value["B"], str):
        return {"B": b64decode(text)}
    if "BS" in value and isinstance(texts := value["BS"], list):
        return {"BS": [b64decode(text) for text in texts]}
    return value
