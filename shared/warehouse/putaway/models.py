"""Models of putaway: parameters and responses."""

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import Number, Parameters, Stored
from shared.kernel.list_parameters import Text

MAX_SUGGESTIONS = 5
"""Most positions of a response."""


def _quantity(value: object) -> Decimal:
    text = str(value)
    if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text, re.ASCII) or not Decimal(text):
        message = "must be a number greater than 0 with up to 9 digits and 6 decimals"
        raise PydanticCustomError("quantity", message)
    return Decimal(text)


class PutawayParameters(Parameters):
    """Query parameters of the suggestions: the goods to put away."""

    warehouse: Text
    item_code: Text
    qty: (
        Annotated[
            Decimal,
            BeforeValidator(_quantity),
            WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 999_999_999}),
        ]
        | None
    ) = Field(default=None, description="Quantity to put away; default 1.")
    batch: Text | None = None


type PutawayReason = Literal["pick_face", "same_goods", "empty"]


class PutawaySuggestion(Stored):
    """A position where goods can be put.

    `room` is null if nothing limits it.
    """

    bin_code: str
    type: str | None
    pick_sequence: int | None
    reason: PutawayReason
    qty: Number
    room: Number | None
