"""Types and priorities of documents, by key, number or display name."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.db.facets import fold

type DocumentKind = Literal["entry", "exit"]

TYPES: Mapping[DocumentKind, Mapping[str, Sequence[str]]] = {
    "entry": {
        "purchase_order": ("Purchase order", "Orden de compra"),
        "goods_receipt": ("Goods receipt", "Entrada de mercancía"),
        "delivery_good": ("Delivery", "Entrega"),
    },
    "exit": {
        "sale_order": ("Sales order", "Orden de venta"),
        "delivery_note": ("Delivery note", "Nota de entrega"),
        "return_to_provider": ("Return to provider", "Devolución a proveedor"),
    },
}
"""Key of each type and its display names. Matching ignores case and accents."""

PRIORITIES: Mapping[str, int] = {
    "alta": 1, "high": 1, "1": 1,
    "normal": 2, "2": 2,
    "baja": 3, "low": 3, "3": 3,
}  # fmt: skip
"""Numbers of priorities by name. Documents with a lower number are picked first."""

_PREFIXES: Mapping[DocumentKind, str] = {"entry": "EN", "exit": "EX"}

_TYPE_KEYS: Mapping[DocumentKind, Mapping[str, str]] = {
    kind: {fold(name): key for key, names in types.items() for name in (key, *names)}
    for kind, types in TYPES.items()
}


def doc_num(kind: DocumentKind, number: int) -> str:
    """Return the document number that users see."""
    return f"{_PREFIXES[kind]}-{number}"


def type_of(kind: DocumentKind, name: str) -> str | None:
    """Return the key of the type with this key or display name, or None."""
    return _TYPE_KEYS[kind].get(fold(name.strip()))


def _type_key(kind: DocumentKind, value: object) -> str:
    key = type_of(kind, value) if isinstance(value, str) else None
    if key is None:
        raise PydanticCustomError(
            "document_type", "must be one of {types}", {"types": ", ".join(TYPES[kind])}
        )
    return key


def _priority(value: object) -> int:
    named = PRIORITIES.get(fold(value.strip())) if isinstance(value, str) else value
    for number in PRIORITIES.values():
        if named == number and named is not True:
            return number
    raise PydanticCustomError("priority", "must be one of Alta, Normal, Baja")


def _shown(kind: DocumentKind, example: str) -> WithJsonSchema:
    description = f"The key. In a request, a display name such as `{example}` is accepted as well."
    return WithJsonSchema({"type": "string", "enum": list(TYPES[kind]), "description": description})


type EntryType = Annotated[
    str, BeforeValidator(partial(_type_key, "entry")), _shown("entry", "Orden de compra")
]
"""Type of an entry document: accepts the key or a display name; the value is the key."""
type ExitType = Annotated[
    str, BeforeValidator(partial(_type_key, "exit")), _shown("exit", "Orden de venta")
]
"""Type of an exit document: accepts the key or a display name; the value is the key."""
type Priority = Annotated[
    int,
    BeforeValidator(_priority),
    WithJsonSchema(
        {
            "type": "string",
            "enum": ["Alta", "Normal", "Baja"],
            "description": "In any case; 1, 2 and 3, or `high` and `low`, are accepted as well.",
        }
    ),
]
"""Priority of an exit document: accepts a name; the value is its number."""
type PriorityNumber = Annotated[
    int,
    WithJsonSchema(
        {"type": "integer", "enum": [1, 2, 3], "x-enum-varnames": ["HIGH", "NORMAL", "LOW"]}
    ),
]
"""Priority of a stored exit document; a lower number is picked first."""
