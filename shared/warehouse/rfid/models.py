"""Models of RFID validations: request bodies, stored records and responses."""

from typing import Annotated, Literal, TypedDict, get_args

from pydantic import Field, StringConstraints

from shared.kernel.fields import (
    Identifier,
    Input,
    Line,
    Number,
    Stored,
    TextRule,
    Timestamp,
    exactly_one_of,
)
from shared.kernel.list_parameters import PeriodParameters, Text

type RfidSubjectKind = Literal["packing_order", "handling_unit", "picking", "receipt", "return"]
"""What a validation compares the tags with."""
type RfidResult = Literal["passed", "failed"]

SUBJECT_KINDS: tuple[RfidSubjectKind, ...] = get_args(RfidSubjectKind.__value__)

MAX_TAGS = 10_000
"""Maximum number of EPCs of a validation."""
MAX_EPC = 128
"""Maximum number of characters of an EPC; the longest URN has 99."""


def _is_no_epc(text: str) -> bool:
    return not (text.isascii() and text.isprintable())


type EpcText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_EPC),
    TextRule(_is_no_epc, "must have printable ASCII characters only"),
]
"""An EPC as a reader sends it: hexadecimal digits or a URN."""


def validation_code(number: int) -> str:
    """Return the code of a validation that people see."""
    return f"RV-{number}"


# Requests


class RfidValidationDraft(Input):
    """The tags that a reader has read of one piece of work."""

    model_config = exactly_one_of(*(f"{kind}_id" for kind in SUBJECT_KINDS))

    packing_order_id: Identifier | None = None
    handling_unit_id: Identifier | None = None
    picking_id: Identifier | None = None
    receipt_id: Identifier | None = None
    return_id: Identifier | None = None
    reader: Line | None = None
    epcs: Annotated[list[EpcText], Field(min_length=1, max_length=MAX_TAGS)]


# Stored records


class StoredValidation(Stored):
    """A validation as stored, without its lists."""

    id: int
    result: RfidResult
    subject_kind: RfidSubjectKind
    subject_id: int
    reader: str | None = None
    read: int
    unique: int
    expected: Number
    matched: Number
    created_at: Timestamp


class TagGoods(Stored):
    """Units of a product of which tags are missing or unexpected."""

    item_code: str
    qty: Number
    serials: list[str] = Field(default_factory=list)


class TagDifferences(Stored):
    """The lists of a failed validation. They are stored apart: only its detail shows them."""

    missing: list[TagGoods] = Field(default_factory=list)
    unexpected: list[TagGoods] = Field(default_factory=list)
    unknown: list[str] = Field(default_factory=list)
    unreadable: list[str] = Field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the tags are those of the expected goods."""
        return not (self.missing or self.unexpected or self.unknown or self.unreadable)


# Responses


class RfidSubject(TypedDict):
    """What the tags were compared with."""

    object: RfidSubjectKind
    id: int


class RfidValidation(Stored):
    """A validation in a list, without its lists of differences."""

    object: Literal["rfid_validation"] = "rfid_validation"
    id: int
    code: str
    status: Literal["completed"] = "completed"
    result: RfidResult
    subject: RfidSubject
    reader: str | None
    read: int
    unique: int
    expected: Number
    matched: Number
    created_at: Timestamp


class RfidValidationDetail(RfidValidation):
    """A validation with the differences between the tags and the expected goods."""

    missing: list[TagGoods]
    unexpected: list[TagGoods]
    unknown: list[str]
    unreadable: list[str]


class RfidValidationParameters(PeriodParameters):
    """Parameters of the list of validations."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    subject: (
        Annotated[
            Text, StringConstraints(pattern=rf"^({'|'.join(SUBJECT_KINDS)}):[1-9][0-9]{{0,11}}$")
        ]
        | None
    ) = Field(default=None, description="Kind and id, such as `packing_order:12`.")
    result: RfidResult | None = None
